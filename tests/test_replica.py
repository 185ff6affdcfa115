"""A second database of the same server as the replica: who reads from it, and when.

Its rows are told apart by a title, as a replica that lags holds older ones.
"""

from urllib.parse import urlsplit, urlunsplit

import psycopg
import pytest
from django.conf import settings as django_settings
from django.contrib.auth.models import User
from django.db import connection, connections
from psycopg import sql

from dashboard.caching import current_generation
from dashboard.models import Generation, IngestRequest, Run
from dashboard.replica import PRIMARY, REPLICA, _reads_replica
from tests import factories
from tests.worker.crew import test_database_url

NEW, OLD = "as the primary has it", "as the replica has it"
RUN_ID = 77


def _server() -> psycopg.Connection:
    """Connect to the server's own database: none can be copied while in use."""
    parts = urlsplit(test_database_url())
    return psycopg.connect(
        urlunsplit(parts._replace(path="/postgres")), autocommit=True
    )


def _copied(name: str) -> None:
    """Make a database with the rows of the test's own."""
    source = connection.settings_dict["NAME"]
    connection.close()
    with _server() as server:
        # Whoever is still leaving would be in the way.
        leave = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
        server.execute(f"{leave} WHERE datname = %s", [source])
        copy = sql.SQL("CREATE DATABASE {} TEMPLATE {}")
        server.execute(copy.format(sql.Identifier(name), sql.Identifier(source)))


def _dropped(name: str) -> None:
    with _server() as server:
        drop = sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)")
        server.execute(drop.format(sql.Identifier(name)))


@pytest.fixture
def replica(transactional_db, settings, monkeypatch):
    """A replica that is one change behind: another title, a generation less."""
    factories.RunFactory(github_run_id=RUN_ID, title=OLD)
    Generation.bump()
    name = f"{connection.settings_dict['NAME']}_replica"
    _dropped(name)
    _copied(name)
    Run.objects.update(title=NEW)
    Generation.bump()
    alias = {**connections.settings[PRIMARY], "NAME": name, "CONN_MAX_AGE": None}
    # Connected before it has its name: tests may use the databases they declare, and
    # this one was not there yet.
    second = type(connections[PRIMARY])(alias, REPLICA)
    second.ensure_connection()
    monkeypatch.setitem(connections.settings, REPLICA, alias)
    connections[REPLICA] = second
    assert REPLICA in django_settings.DATABASES
    settings.DATABASE_ROUTERS = ["dashboard.replica.ReplicaRouter"]
    yield name
    second.close()
    del connections[REPLICA]
    _dropped(name)


def title(client, path=f"/api/v1/runs/{RUN_ID}", **headers):
    return client.get(path, headers=headers).json()["title"]


def test_readers_without_a_name_read_from_the_replica(client, replica):
    assert title(client) == OLD
    page = client.get(f"/runs/{RUN_ID}").content.decode()
    assert OLD in page
    assert NEW not in page


def test_whoever_is_logged_in_reads_what_was_just_written(client, replica):
    client.force_login(User.objects.create_user("kim"))
    page = client.get(f"/runs/{RUN_ID}").content.decode()
    assert NEW in page
    assert OLD not in page


def test_whoever_brings_a_token_reads_from_the_primary(client, replica):
    assert title(client, authorization="Bearer x") == NEW


def test_requests_for_work_are_always_read_from_the_primary(client, replica):
    request = IngestRequest.objects.create(kind="path", target="x")
    assert client.get(f"/requests/{request.pk}").status_code == 200


def test_link_of_a_run_reads_from_the_primary(client, replica):
    page = client.get(f"/runs/{RUN_ID}?unofficialRun=5").content.decode()
    assert NEW in page


def test_request_that_wrote_reads_what_it_wrote(replica):
    token = _reads_replica.set(True)
    try:
        assert Run.objects.get(github_run_id=RUN_ID).title == OLD
        run = Run.objects.get(github_run_id=RUN_ID)
        run.pr_number = 5
        run.save(update_fields=["pr_number"])
        again = Run.objects.get(github_run_id=RUN_ID)
        assert (again.title, again.pr_number) == (NEW, 5)
    finally:
        _reads_replica.reset(token)


def test_outside_of_requests_everything_is_the_primarys(replica):
    assert Run.objects.get(github_run_id=RUN_ID).title == NEW


def test_generation_is_that_of_the_data_that_are_read(client, replica):
    """What is kept under a generation must never be older than it."""
    assert current_generation() == 2
    token = _reads_replica.set(True)
    try:
        assert current_generation() == 1
    finally:
        _reads_replica.reset(token)
    before = client.get(f"/api/v1/runs/{RUN_ID}")
    # Replication catches up.
    Run.objects.using(REPLICA).update(title=NEW)
    Generation.objects.using(REPLICA).update(number=2)
    after = client.get(f"/api/v1/runs/{RUN_ID}")
    assert (before.json()["title"], after.json()["title"]) == (OLD, NEW)
    assert before.headers.get("ETag") != after.headers.get("ETag", "none")


def test_replica_is_never_migrated_by_the_site(replica):
    from dashboard.replica import ReplicaRouter  # noqa: PLC0415

    router = ReplicaRouter()
    assert router.allow_migrate(PRIMARY, "dashboard") is True
    assert router.allow_migrate(REPLICA, "dashboard") is False
