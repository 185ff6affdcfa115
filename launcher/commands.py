"""The application's processes: their command lines, environment and endings."""

import fcntl
import hashlib
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from launcher.configuration import HOST, Configuration
from launcher.errors import LaunchError
from launcher.install import STAMP as PACKAGES_STAMP
from launcher.paths import CHECKOUT, database_url, redis_url
from launcher.processes import Child, Ending, keep, start

STATIC_STAMP = CHECKOUT / "staticfiles" / ".collected"
# A worker first ends its job (SIGTERM), then gives it back (SIGQUIT).
_WORKER_ENDING = Ending(((signal.SIGTERM, 5.0), (signal.SIGQUIT, 5.0)))


def environment(configuration: Configuration) -> dict[str, str]:
    """Return the children's environment; given addresses win over embedded ones.

    Bytecode is written even where PYTHONDONTWRITEBYTECODE is set: without it each
    start compiles all of pandas and Django again and takes 15 seconds.
    """
    data = configuration.data
    inherited = {name: value for name, value in os.environ.items() if value}
    inherited.pop("PYTHONDONTWRITEBYTECODE", None)
    return {
        "DATABASE_URL": database_url(data),
        "REDIS_URL": redis_url(data),
        **inherited,
        "FRONTIERBOARD_DATA": str(data),
        "FRONTIERBOARD_STATIC_MANIFEST": "1",
        "DJANGO_SETTINGS_MODULE": "dashboard.settings",
        "PYTHONUNBUFFERED": "1",
    }


def start_manage(command: str, data: Path, env: Mapping[str, str]) -> Child:
    """Start a manage.py command in the background."""
    words: list[str | Path] = [sys.executable, CHECKOUT / "manage.py", command]
    return start(command, words, log=data / "log" / f"{command}.log", env=env)


def prepare_database(env: Mapping[str, str]) -> int:
    """Migrate the database; return how many runs it holds."""
    done = subprocess.run(  # noqa: S603  our own command
        [sys.executable, str(CHECKOUT / "manage.py"), "prepare"],
        env=dict(env),
        capture_output=True,
        text=True,
        check=False,
    )
    lines = (done.stderr if done.returncode else done.stdout).strip().splitlines()
    if done.returncode:
        raise LaunchError(lines[-1] if lines else "The database cannot be prepared.")
    return int(lines[-1])


@contextmanager
def static_files(data: Path, env: Mapping[str, str]) -> Iterator[Child | None]:
    """Yield what collects the static files, None when they are there; wait at the end.

    Launchers of other data folders share the files: one at a time looks and collects.
    Raises LaunchError when the collection fails.
    """
    sources = os.open(CHECKOUT / "static", os.O_RDONLY)
    try:
        fcntl.flock(sources, fcntl.LOCK_EX)
        if STATIC_STAMP.exists() and STATIC_STAMP.read_text() == _static_digest():
            yield None
        else:
            yield from _collect(data, env)
    finally:
        os.close(sources)


def _collect(data: Path, env: Mapping[str, str]) -> Iterator[Child]:
    words: list[str | Path] = [CHECKOUT / "manage.py", "collectstatic"]
    words += ["--noinput", "--clear"]
    log = data / "log" / "collectstatic.log"
    children: list[Child] = []
    try:
        child = keep(
            children,
            lambda: start(
                "Collecting static files", [sys.executable, *words], log=log, env=env
            ),
        )
        yield child
        if child.process.wait():
            raise LaunchError(f"{child.name} failed: {child.last_words()}")
        STATIC_STAMP.write_text(_static_digest())
    finally:
        for child in children:
            child.stop()


def start_web(configuration: Configuration, env: Mapping[str, str]) -> Child:
    """Start gunicorn; gunicorn.conf.py says with how many processes."""
    words: list[str | Path] = [
        *("-m", "gunicorn", "dashboard.wsgi", "--bind", f"{HOST}:{configuration.port}"),
        *("--config", CHECKOUT / "gunicorn.conf.py", "--chdir", CHECKOUT),
    ]
    log = configuration.data / "log" / "web.log"
    return start("The web server", [sys.executable, *words], log=log, env=env)


def start_worker(data: Path, env: Mapping[str, str]) -> Child:
    """Start the Celery worker that ingests.

    It imports the pipeline before it forks, so that no task waits for that. Checks
    would import every page as well, a third of its start; those of the web server do.
    """
    words: list[str | Path] = [
        *("-m", "celery", "--workdir", CHECKOUT, "-A", "dashboard", "worker"),
        *("--concurrency", "2", "--loglevel", "info"),
        *("--without-gossip", "--without-mingle"),
    ]
    return start(
        "The worker",
        [sys.executable, *words],
        log=data / "log" / "worker.log",
        env={**env, "CELERY_SKIP_CHECKS": "1"},
        ending=_WORKER_ENDING,
    )


def start_beat(data: Path, env: Mapping[str, str]) -> Child:
    """Start Celery beat, which sends what is due."""
    words: list[str | Path] = [
        *("-m", "celery", "--workdir", CHECKOUT, "-A", "dashboard", "beat"),
        *("--loglevel", "info"),
    ]
    log = data / "log" / "beat.log"
    return start("The scheduler", [sys.executable, *words], log=log, env=env)


def _static_digest() -> str:
    """Tell one state of the static sources from another: names, sizes and times."""
    seen = hashlib.sha256()
    sources = sorted((CHECKOUT / "static").rglob("*"))
    for path in [*sources, PACKAGES_STAMP]:
        if path.is_file():
            status = path.stat()
            seen.update(f"{path} {status.st_size} {status.st_mtime_ns}\n".encode())
    return seen.hexdigest()
