"""manage.py by hand: it finds the data folder's Postgres, or brings it along."""

import subprocess
import sys

import pytest

from launcher import postgres
from launcher.by_hand import needs_database
from launcher.disguise import choose_disguise
from launcher.errors import LaunchError
from launcher.services import broker_for, postgres_for
from tests.launcher.conftest import CHECKOUT, processes_of


def manage(environment, *arguments):
    return subprocess.run(
        [sys.executable, "manage.py", *arguments],
        cwd=CHECKOUT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


def test_command_starts_postgres_for_its_own_length(bare_environment, data):
    done = manage(bare_environment, "showmigrations", "--plan")

    assert done.returncode == 0, done.stderr
    assert "[ ]  dashboard.0001" in done.stdout
    assert (postgres.cluster(data) / "PG_VERSION").exists()
    assert processes_of(data) == set()


def test_command_uses_what_runs_and_leaves_it_running(bare_environment, data):
    with postgres_for(data) as started, broker_for(data):
        assert started is not None
        done = manage(bare_environment, "prepare")

        assert (done.returncode, done.stdout) == (0, "0\n"), done.stderr
        assert postgres.is_running(data)
        with postgres_for(data) as again:
            assert again is None
    assert not postgres.is_running(data)


def test_command_without_database_starts_none(bare_environment, data):
    assert manage(bare_environment, "version").returncode == 0
    assert not postgres.cluster(data).exists()


@pytest.mark.parametrize(
    ("arguments", "needed"),
    [
        ((), False),
        (("--help",), False),
        (("migrate", "--help"), False),
        (("collectstatic", "--noinput"), False),
        (("migrate",), True),
        (("ingest_path", "check"), True),
    ],
)
def test_commands_that_need_no_database(arguments, needed):
    assert needs_database(["manage.py", *arguments]) is needed


def test_files_of_another_version_are_refused(data):
    postgres.cluster(data).mkdir(parents=True)
    (postgres.cluster(data) / "PG_VERSION").write_text("9\n")

    with pytest.raises(LaunchError, match="database files are of PostgreSQL 9, and"):
        postgres.start_postgres(data)


def test_stale_lock_file_of_a_killed_postgres_is_no_obstacle(data):
    with postgres_for(data) as child:
        assert child is not None
        child.process.kill()
        child.process.wait()
    assert (postgres.cluster(data) / "postmaster.pid").exists()
    assert not postgres.is_running(data)

    with postgres_for(data) as again:
        assert again is not None


def test_root_without_user_namespaces_becomes_nobody(tmp_path_factory, monkeypatch):
    disguise = choose_disguise()
    if disguise.owner is None and disguise.enter.__name__ == "_stay":
        pytest.skip("only root needs a disguise")
    monkeypatch.setattr("launcher.disguise.user_namespaces_work", lambda: False)

    assert choose_disguise().owner == 65534
    with pytest.raises(LaunchError, match="other users cannot reach"):
        postgres.start_postgres(tmp_path_factory.mktemp("closed"))
