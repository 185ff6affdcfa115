"""`make run`: everything started, one line with the address, everything stopped."""

import fcntl
import http.client
import os
import signal
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import FrameType

from launcher import broker, commands, frontend
from launcher.configuration import (
    HOST,
    Configuration,
    check_port,
    read_configuration,
)
from launcher.console import say
from launcher.env_file import load_env_file
from launcher.errors import LaunchError
from launcher.paths import CHECKOUT
from launcher.processes import STOP_SIGNALS, Child, keep
from launcher.services import broker_for, lock_file, postgres_for

START_SECONDS = 60.0
_SERVER_ERROR = 500


def run() -> int:
    """Run until a signal or the end of a process; return the exit code."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _interrupt)
    try:
        with ExitStack() as stack:
            load_env_file()
            _serve(stack)
    except LaunchError as error:
        say(f"frontierboard: {error}")
        return 1
    except KeyboardInterrupt:
        say("Stopped.")
    return 0


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def _serve(stack: ExitStack) -> None:
    """Start everything in order; returns only by an exception.

    1. One launcher per data folder, on a port that is free.
    2. Postgres and the broker, unless addresses were given.
    3. Static files, web and the database, side by side as far as they can be.
    4. The demo, into an empty database, and the address once a page answers.
    5. The worker and the scheduler: the page does not wait for them. Then watch.
    """
    configuration = read_configuration()
    stack.enter_context(_sole_launcher(configuration.data))
    check_port(configuration.port)
    frontend.install()
    services = _start_services(stack, configuration.data)
    env = commands.environment(configuration)
    children = stack.enter_context(_stopped_at_the_end())
    runs = _prepare(children, configuration, env)
    demo = _start_demo(children, configuration, env, runs)
    _wait_for_page(configuration, [*services, *children], demo)
    _announce(configuration, runs, demo=demo)
    keep(children, lambda: commands.start_worker(configuration.data, env))
    keep(children, lambda: commands.start_beat(configuration.data, env))
    _watch([*services, *children], demo, configuration.data)


@contextmanager
def _sole_launcher(data: Path) -> Iterator[None]:
    with lock_file(data, "run") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            pid = os.pread(lock, 32, 0).decode() or "unknown"
            raise LaunchError(
                f"Frontierboard already runs on {data} (process {pid})."
            ) from None
        os.ftruncate(lock, 0)
        os.pwrite(lock, str(os.getpid()).encode(), 0)
        yield


def _start_services(stack: ExitStack, data: Path) -> list[Child]:
    started: list[Child | None] = []
    if not os.environ.get("DATABASE_URL"):
        started.append(stack.enter_context(postgres_for(data, patient=False)))
    if not os.environ.get("REDIS_URL"):
        started.append(stack.enter_context(broker_for(data, patient=False)))
        broker.release_held_jobs(data)
    return [child for child in started if child is not None]


def _prepare(
    children: list[Child], configuration: Configuration, env: Mapping[str, str]
) -> int:
    """Migrate while the files are collected or, when they are there, the web starts.

    The web server reads the list of collected files once, so it cannot start before.
    Returns the number of runs.
    """

    def start_web() -> Child:
        return commands.start_web(configuration, env)

    with commands.static_files(configuration.data, env) as collecting:
        if not collecting:
            keep(children, start_web)
        runs = commands.prepare_database(env)
    if collecting:
        keep(children, start_web)
    return runs


@contextmanager
def _stopped_at_the_end() -> Iterator[list[Child]]:
    """Yield a list; its children are stopped together, without being interrupted."""
    children: list[Child] = []
    try:
        yield children
    finally:
        for number in STOP_SIGNALS:
            signal.signal(number, signal.SIG_IGN)
        for child in children:
            child.ask_to_stop()
        for child in children:
            child.finish()


def _start_demo(
    children: list[Child],
    configuration: Configuration,
    env: Mapping[str, str],
    runs: int,
) -> Child | None:
    """Load the demo into an empty database, or go on with one that was cut off."""
    unfinished = _demo_mark(configuration.data)
    if not configuration.demo or (runs and not unfinished.exists()):
        return None
    unfinished.touch()
    return keep(
        children, lambda: commands.start_manage("load_demo", configuration.data, env)
    )


def _demo_mark(data: Path) -> Path:
    return data / "demo-unfinished"


def _wait_for_page(
    configuration: Configuration, children: list[Child], demo: Child | None
) -> None:
    deadline = time.monotonic() + START_SECONDS
    while (status := _status(configuration.port, "/inference")) is None:
        _check_alive(children, demo)
        if time.monotonic() > deadline:
            raise LaunchError(f"No page after {START_SECONDS:.0f} seconds.")
        time.sleep(0.05)
    if status >= _SERVER_ERROR:
        log = configuration.data / "log" / "web.log"
        raise LaunchError(f"The page answers with an error {status}: see {log}.")


def _status(port: int, path: str) -> int | None:
    """Return the status of a page, or None while nobody answers."""
    connection = http.client.HTTPConnection(HOST, port, timeout=START_SECONDS)
    try:
        connection.request("GET", path)
        return connection.getresponse().status
    except OSError:
        return None
    finally:
        connection.close()


def _announce(configuration: Configuration, runs: int, *, demo: Child | None) -> None:
    if demo is not None:
        say("An empty database: loading demo data, which takes a moment.")
    else:
        say(f"Kept the data of {runs} runs in {configuration.data}.")
    python = CHECKOUT / ".venv" / "bin" / "python"
    say(f"First account: {python} manage.py createsuperuser")
    say(f"Frontierboard answers at {configuration.address}/inference (Ctrl-C stops it)")


def _watch(children: list[Child], demo: Child | None, data: Path) -> None:
    """Say when the demo is loaded; return never, raise when a child dies."""
    while True:
        _check_alive(children, demo)
        if demo is not None and demo.process.poll() == 0:
            _demo_mark(data).unlink()
            say("The demo data is loaded.")
            children.remove(demo)
            demo = None
        time.sleep(0.2)


def _check_alive(children: list[Child], demo: Child | None) -> None:
    """Raise LaunchError about a dead child; only the demo may end, and only well."""
    for child in children:
        code = child.process.poll()
        if code is None or (child is demo and code == 0):
            continue
        raise LaunchError(
            f"{child.name} ended ({code}): {child.last_words()} (see {child.log})"
        )
