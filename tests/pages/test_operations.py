"""What operators ask: alive, and ready with each reason why not."""

import re
import socket
import threading
import time
from urllib.parse import urlsplit, urlunsplit

import pytest
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder

from dashboard import probing, telemetry

# Far below what the hanging ones would take: a minute, or for ever.
PATIENCE_S = 15

# Each part is asked in a session of its own, which sees only what is committed.
pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def worker():
    """A worker that was heard of just now."""
    telemetry.note_sign_of_life("worker@here")


def reasons(client, **query):
    answer = client.get("/readyz", query)
    assert answer.json()["ready"] is (answer.status_code == 200)
    assert answer.status_code in {200, 503}
    return answer.json()["reasons"]


def test_healthz_answers_without_a_query(client, django_assert_num_queries):
    with django_assert_num_queries(0):
        assert client.get("/healthz").content == b"ok"


def test_readyz_answers_when_everything_is_there(client, worker):
    answer = client.get("/readyz")
    part = {"ready": True, "reason": ""}
    assert answer.status_code == 200
    assert answer.json() == {
        "ready": True,
        "parts": dict.fromkeys(("database", "migrations", "broker", "worker"), part),
        "reasons": {},
    }


def test_readyz_counts_migrations_that_are_missing(client, worker):
    migrations = MigrationRecorder.Migration.objects.filter(app="dashboard")
    rows = list(migrations.values())
    migrations.delete()
    try:
        told = reasons(client)
    finally:
        MigrationRecorder.Migration.objects.bulk_create(
            MigrationRecorder.Migration(**row) for row in rows
        )
    assert told == {"migrations": f"{len(rows)} migrations are not applied"}


def test_readyz_says_that_the_broker_is_away_and_not_where_it_is(
    client, settings, monkeypatch
):
    settings.REDIS_URL = "redis://:secret@127.0.0.1:9/0"
    telemetry._client.cache_clear()
    try:
        told = reasons(client)
    finally:
        telemetry._client.cache_clear()
    away = "no answer (ConnectionError)"
    assert told == {"broker": away, "worker": away}


def test_readyz_tells_of_a_worker_that_fell_silent(client, redis_client):
    assert reasons(client) == {"worker": "no worker was heard of"}
    now, _ = redis_client.time()
    redis_client.zadd(telemetry._key("workers"), {"worker@gone": now - 45})
    assert re.fullmatch(
        r"no worker was heard of for (4[5-9]|[5-9]\d) s", reasons(client)["worker"]
    )
    telemetry.note_sign_of_life("worker@other")
    assert reasons(client) == {}


def test_pages_alone_need_no_worker(client):
    assert reasons(client, parts="database,migrations") == {}
    answer = client.get("/readyz", {"parts": "database,moon"})
    assert answer.status_code == 400
    assert "database, migrations, broker, worker" in answer.json()["detail"]


@pytest.fixture
def silent_port():
    """A port that takes connections and never says a word."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


@pytest.fixture
def hung_database(silent_port, monkeypatch):
    """A database whose network swallows every byte."""
    hung = {"HOST": "127.0.0.1", "PORT": str(silent_port)}
    options = connection.settings_dict["OPTIONS"] | {"connect_timeout": 60}
    for name, value in (hung | {"OPTIONS": options}).items():
        monkeypatch.setitem(connection.settings_dict, name, value)


def test_readyz_answers_in_time_though_the_database_hangs(
    client, worker, hung_database, monkeypatch
):
    monkeypatch.setattr(probing, "SECONDS", 0.5)
    started = time.monotonic()
    told = reasons(client)
    assert time.monotonic() - started < PATIENCE_S
    hangs = "no answer within 0.5 s"
    assert told == {"database": hangs, "migrations": hangs}


def test_hanging_questions_do_not_pile_up(hung_database, monkeypatch):
    monkeypatch.setattr(probing, "_PLACES", threading.BoundedSemaphore(2))
    for _ in range(2):
        with pytest.raises(probing.NoAnswerError, match=r"within 0\.1 s"):
            probing.answer_within(0.1, probing.ask_impatiently)
    threads = threading.active_count()
    with pytest.raises(probing.NoAnswerError, match="still waiting"):
        probing.answer_within(0.1, probing.ask_impatiently)
    assert threading.active_count() == threads


def test_readyz_answers_in_time_though_the_broker_hangs(client, settings, silent_port):
    parts = urlsplit(settings.REDIS_URL)
    settings.REDIS_URL = urlunsplit(
        parts._replace(scheme="redis", netloc=f"127.0.0.1:{silent_port}")
    )
    telemetry._client.cache_clear()
    try:
        started = time.monotonic()
        told = reasons(client)
        assert time.monotonic() - started < PATIENCE_S
    finally:
        telemetry._client.cache_clear()
    # Which of the two deadlines is first depends on how busy the machine is.
    assert told["broker"] in ("no answer (TimeoutError)", "no answer within 3 s")


@pytest.mark.parametrize("path", ["/healthz", "/readyz"])
def test_probes_know_the_process_by_its_address_only(client, worker, path):
    assert client.get(path, headers={"host": "10.0.0.7:8000"}).status_code == 200
    assert client.get("/help", headers={"host": "10.0.0.7:8000"}).status_code == 400
