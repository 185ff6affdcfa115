"""A data folder of its own, and processes that the test can count."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from launcher.paths import socket_folder

CHECKOUT = Path(__file__).resolve().parents[2]


@pytest.fixture
def data(tmp_path):
    """A data folder that does not exist yet; its sockets are removed afterwards."""
    folder = tmp_path / "data"
    yield folder
    for pid in processes_of(folder):
        os.kill(pid, signal.SIGKILL)
    shutil.rmtree(socket_folder(folder), ignore_errors=True)


@pytest.fixture
def bare_environment(data):
    """The environment of a person who set nothing but the data folder."""
    taken = ("DATABASE_URL", "REDIS_URL", "FRONTIERBOARD_KEY_PREFIX", "SECRET_KEY")
    rest = {name: value for name, value in os.environ.items() if name not in taken}
    return {**rest, "FRONTIERBOARD_DATA": str(data), "FRONTIERBOARD_DEMO": "0"}


@pytest.fixture
def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Launcher:
    """`python -m launcher run` as a process whose lines can be waited for."""

    def __init__(self, environment, port):
        self.process = subprocess.Popen(
            [sys.executable, "-m", "launcher", "run"],
            cwd=CHECKOUT,
            env={"FRONTIERBOARD_PORT": str(port), **environment},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self.lines = []

    def wait_for(self, words):
        """Read lines up to the one with these words, and return that."""
        assert self.process.stdout
        for line in self.process.stdout:
            self.lines.append(line.strip())
            if words in line:
                return self.lines[-1]
        pytest.fail(f"never said {words!r}: {self.lines}")

    def stop(self, number):
        """Send a signal, wait for the end, and return the exit code."""
        self.process.send_signal(number)
        self.lines += self.process.communicate(timeout=90)[0].splitlines()
        return self.process.returncode


@pytest.fixture
def launch(bare_environment, free_port):
    """Start launchers; whatever is left at the end of the test is killed."""
    started = []

    def start(**environment):
        started.append(Launcher({**bare_environment, **environment}, free_port))
        return started[-1]

    yield start
    for launcher in started:
        launcher.process.kill()
        launcher.process.communicate()


def processes_of(folder):
    """The ids of the processes that were given this data folder."""
    needle = str(folder).encode()
    return {
        int(path.name)
        for path in Path("/proc").iterdir()
        if path.name.isdecimal() and needle in _words(path)
    }


def _words(path):
    try:
        return (path / "cmdline").read_bytes() + (path / "environ").read_bytes()
    except (OSError, PermissionError):
        return b""


def wait_until(condition, seconds=60.0):
    """Wait for something another process does."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.05)
