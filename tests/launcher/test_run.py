"""`make run`: starts, says so, keeps the data, and leaves nothing behind."""

import os
import signal
import socket
import urllib.request
from pathlib import Path

import pytest

from launcher import broker, postgres
from launcher.paths import broker_socket, key_prefix
from launcher.services import postgres_for
from tests.launcher.conftest import processes_of, wait_until

pytestmark = pytest.mark.skipif(
    not Path("/proc").is_dir(), reason="counts processes in /proc"
)


def test_start_stop_and_second_start_keep_the_data(launch, data, free_port):
    first = launch()
    line = first.wait_for("answers at")
    address = f"http://127.0.0.1:{free_port}/inference"
    assert address in line
    assert urllib.request.urlopen(address).status == 200
    wait_until(lambda: len(processes_of(data)) >= 8)  # worker and scheduler as well
    assert first.stop(signal.SIGINT) == 0
    assert processes_of(data) == set()

    second = launch()
    second.wait_for("answers at")
    assert any("Kept the data of 0 runs" in line for line in second.lines)
    assert second.stop(signal.SIGTERM) == 0
    assert processes_of(data) == set()


def test_killed_launcher_leaves_no_process_behind(launch, data):
    launcher = launch()
    launcher.wait_for("answers at")

    launcher.stop(signal.SIGKILL)

    wait_until(lambda: processes_of(data) == set())


def test_second_launcher_is_refused_and_a_dead_child_ends_the_first(launch, data):
    first = launch()
    first.wait_for("answers at")

    second = launch()
    second.process.wait(timeout=120)
    assert second.process.returncode == 1
    assert "already runs" in second.wait_for("frontierboard:")

    pid = int((postgres.cluster(data) / "postmaster.pid").read_text().split()[0])
    os.kill(pid, signal.SIGQUIT)
    line = first.wait_for("frontierboard:")
    assert "Postgres ended" in line
    assert first.process.wait(timeout=120) == 1
    assert processes_of(data) == set()


def test_taken_port_is_named_and_nothing_is_left(launch, data, free_port):
    with socket.socket() as squatter:
        squatter.bind(("127.0.0.1", free_port))
        squatter.listen()
        launcher = launch()
        assert launcher.process.wait(timeout=120) == 1

    lines = launcher.process.stdout.read().splitlines()
    assert len(lines) == 1
    assert lines[0].startswith(f"frontierboard: Port {free_port} cannot be used (")
    assert not postgres.is_running(data)


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        (
            "DATABASE_URL",
            "postgres://nobody@127.0.0.1:1/none",
            "The database: connection failed",
        ),
        ("REDIS_URL", "redis://127.0.0.1:1/0", "Redis: Error 111 connecting"),
        ("FRONTIERBOARD_PORT", "eighty", "FRONTIERBOARD_PORT must be 1 to 65535"),
        ("FRONTIERBOARD_DEMO", "perhaps", "FRONTIERBOARD_DEMO must be 0 or 1"),
        ("FRONTIERBOARD_DATA", "/dev/null/data", "/dev/null/data cannot be written"),
    ],
)
def test_what_cannot_work_is_one_line(launch, data, name, value, sentence):
    launcher = launch(**{name: value})
    launcher.process.wait(timeout=120)

    lines = launcher.process.stdout.read().splitlines()
    assert launcher.process.returncode == 1
    assert [line for line in lines if "Installing" not in line] == lines[-1:]
    assert sentence in lines[-1]
    assert processes_of(data) == set()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write into any folder")
def test_read_only_data_folder_is_one_line(launch, data):
    data.mkdir(mode=0o500)

    launcher = launch()

    assert "cannot be written: Permission denied." in launcher.wait_for("frontierboard")
    assert launcher.process.wait(timeout=120) == 1


def test_half_a_cluster_of_a_stopped_launcher_is_no_obstacle(data):
    """In a container the next launcher has the same process id."""
    for pid in (1, os.getpid()):
        left = data / f"postgres-new-{pid}" / "base"
        left.mkdir(parents=True)

    with postgres_for(data):
        assert postgres.is_running(data)

    assert not list(data.glob("postgres-new-*"))


def test_broker_keeps_queued_jobs_over_a_restart(data):
    child = broker.start_broker(data)
    assert broker._ask(broker_socket(data), "RPUSH", "celery", "job") == ":1"
    child.stop()
    assert not broker.is_running(data)

    again = broker.start_broker(data)

    assert broker._ask(broker_socket(data), "LLEN", "celery") == ":1"
    again.stop()


def test_jobs_of_a_killed_worker_become_visible_at_once(data):
    child = broker.start_broker(data)
    path = broker_socket(data)
    broker._ask(path, "ZADD", f"{key_prefix()}unacked_index", "9999999999", "tag")

    broker.release_held_jobs(data)

    score = broker._ask(path, "ZSCORE", f"{key_prefix()}unacked_index", "tag")
    child.stop()
    assert score == "1"
