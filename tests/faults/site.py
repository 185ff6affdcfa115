"""A whole Frontierboard of its own: database, broker, workers, web, each to be killed.

Tests of faults cannot use the PostgreSQL and the Redis of the test run, which others
need. Nothing of the product knows of these tests: they hold locks in PostgreSQL, wait
until a worker's session waits for one, and break something there.
"""

import hashlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from http import HTTPStatus
from pathlib import Path

import psycopg
from psycopg import sql

from dashboard.celery import app
from launcher import broker, commands, postgres
from launcher.configuration import Configuration
from launcher.paths import (
    CHECKOUT,
    DATABASE,
    broker_socket,
    database_url,
    redis_url,
    socket_folder,
)
from launcher.processes import Child
from tests.faults.checksum import Contents, contents_of

PATIENCE = 240.0  # seconds; the machine may be busy with other things
PREPARED = "prepared"  # the name of the migrated database that all tests begin with
# What the machine's power would need is left out; every commit is written all the same.
QUICK = ("fsync=off", "full_page_writes=off")
ENDED = ("done", "partly", "failed")
HOLD = 0x7E57  # the advisory lock at which a worker stands still
_HOLD_AT_STEP = f"""
    CREATE FUNCTION wait_for_test() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        PERFORM pg_advisory_xact_lock({HOLD});
        RETURN NULL;
    END $$;
    CREATE TRIGGER wait_for_test AFTER UPDATE ON dashboard_ingestrequest
    FOR EACH ROW WHEN (NEW.step = {{}} AND NEW.progress_done >= {{}})
    EXECUTE FUNCTION wait_for_test()
"""
HOLDER = "frontierboard-test-holder"
# Workers wait for each other as well; one killed then does not stand where it should.
_BLOCKED = f"""
    SELECT count(*) FROM pg_stat_activity AS waiting
    JOIN pg_stat_activity AS holder
        ON holder.pid = ANY (pg_blocking_pids(waiting.pid))
    WHERE holder.application_name = '{HOLDER}'
"""


@dataclass(frozen=True)
class Asked:
    """A request's row as it stands."""

    state: str
    step: str
    error: str
    tries: int


@dataclass
class Site:
    """Processes on one data folder; ``postgres_data`` may lie on a disk of its own."""

    data: Path
    postgres_data: Path | None = None
    options: tuple[str, ...] = QUICK
    postgres: Child | None = None
    broker: Child | None = None
    workers: list[Child] = field(default_factory=list)
    webs: dict[int, Child] = field(default_factory=dict)
    round: int = 0
    given_url: str = ""

    @property
    def url(self) -> str:
        return self.given_url or database_url(self.postgres_data or self.data)

    @property
    def admin_url(self) -> str:
        return self.url.replace(f"/{DATABASE}?", "/postgres?")

    @property
    def env(self) -> dict[str, str]:
        """The environment of its processes."""
        inherited = dict(os.environ)
        inherited.pop("PYTHONDONTWRITEBYTECODE", None)
        return {
            **inherited,
            "DATABASE_URL": self.url,
            "REDIS_URL": redis_url(self.data),
            "FRONTIERBOARD_DATA": str(self.data),
            "DJANGO_SETTINGS_MODULE": "dashboard.settings",
        }

    @property
    def raw(self) -> Path:
        return self.data / "raw"

    def start_postgres(self) -> None:
        folder = self.postgres_data or self.data
        self.postgres = postgres.start_postgres(folder, options=self.options)

    def start_broker(self) -> None:
        self.broker = broker.start_broker(self.data)

    def have_workers(self, count: int = 1) -> None:
        """Start workers until as many live; they all log into one file."""
        self.workers = [w for w in self.workers if w.process.poll() is None]
        while len(self.workers) < count:
            self.workers.append(commands.start_worker(self.data, self.env))

    def have_webs(self, count: int = 1) -> list[int]:
        """Start web servers until as many live, each of two processes; tell ports."""
        self.webs = {p: c for p, c in self.webs.items() if c.process.poll() is None}
        while len(self.webs) < count:
            self.start_web()
        for port in self.webs:
            self.wait_for(partial(_is_up, port), "no web server answers")
        return list(self.webs)[:count]

    def start_web(self) -> int:
        """Start gunicorn on a free port and return that."""
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = int(probe.getsockname()[1])
        configuration = Configuration(self.data, port, demo=False)
        self.webs[port] = commands.start_web(configuration, self.env)
        return port

    def manage(self, *words: str) -> str:
        """Run a command of manage.py and return what it printed."""
        done = subprocess.run(
            [sys.executable, CHECKOUT / "manage.py", *words],
            env=self.env,
            cwd=CHECKOUT,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr[-2000:]
        return done.stdout

    def prepare(self) -> None:
        """Migrate a database that all tests begin with."""
        self.manage("migrate", "--verbosity=0")
        with psycopg.connect(self.admin_url, autocommit=True) as connection:
            connection.execute(_copied(DATABASE, PREPARED))

    def reset(self) -> None:
        """Begin anew: services run, nothing is stored, nothing is queued.

        Workers and web servers that live stay: they take long to start.
        """
        if self.broker is None or self.broker.process.poll() is not None:
            self.start_broker()
        if self.postgres is None or self.postgres.process.poll() is not None:
            self.start_postgres()
        self.empty_broker()
        with psycopg.connect(self.admin_url, autocommit=True) as connection:
            drop = sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)")
            connection.execute(drop.format(sql.Identifier(DATABASE)))
            connection.execute(_copied(PREPARED, DATABASE))
        self.round += 1
        # A task that a worker holds back from the last test shall find no request.
        start = sql.SQL("ALTER SEQUENCE dashboard_ingestrequest_id_seq RESTART {}")
        with psycopg.connect(self.url) as connection:
            connection.execute(start.format(sql.Literal(self.round * 1000)))
        for folder in (self.raw, self.data / "uploads"):
            shutil.rmtree(folder, ignore_errors=True)

    def stop_processes(self) -> None:
        for child in [*self.webs.values(), *self.workers]:
            if child.process.poll() is None:
                kill(child)

    def stop(self) -> None:
        self.stop_processes()
        for service in (self.broker, self.postgres):
            if service is not None:
                service.stop()
        for folder in {self.data, self.postgres_data or self.data}:
            shutil.rmtree(socket_folder(folder), ignore_errors=True)

    def empty_broker(self) -> None:
        """Forget every queue, every task at work and the cache."""
        broker._ask(broker_socket(self.data), "FLUSHDB")

    def contents(self) -> Contents:
        return contents_of(self.url)

    def assert_raw_bytes_are_whole(self) -> None:
        files = [path for path in self.raw.rglob("*") if path.is_file()]
        assert files
        for path in files:
            assert hashlib.sha256(path.read_bytes()).hexdigest() == path.name

    def rows(self, query: str, *values: object) -> list[tuple[object, ...]]:
        """Ask the database; what is written is committed."""
        with psycopg.connect(self.url, autocommit=True) as connection:
            cursor = connection.execute(query, values)
            return list(cursor.fetchall()) if cursor.description else []

    def send(self, task: str, *arguments: object) -> None:
        """Send a task as web and beat do."""
        url = f"redis+socket://{broker_socket(self.data)}?virtual_host=0"
        with app.connection_for_write(url) as connection:
            app.send_task(task, list(arguments), connection=connection)

    def ask_for(self, path: Path, *, copies: int = 1) -> int:
        """Store a request for a bundle on disk and send its task."""
        request = self.request_stored(path)
        for _ in range(copies):
            self.send("ingest.tasks.ingest_path", str(path), request)
        return request

    def take_in(self, *paths: Path) -> None:
        """Let a worker ingest bundles, one after the other."""
        self.have_workers()
        for path in paths:
            ended = self.wait_until_ended(self.ask_for(path))
            assert (ended.state, ended.error) == ("done", ""), path

    def request_stored(self, path: Path) -> int:
        """Store a request for a bundle on disk, whose task is never sent."""
        [(pk,)] = self.rows(
            "INSERT INTO dashboard_ingestrequest (kind, target, repository, state,"
            " requested_by, step, progress_done, progress_total, error, counts, tries)"
            " VALUES ('path', %s, '', 'queued', '', '', 0, 0, '', '{}', 0)"
            " RETURNING id",
            str(path),
        )
        return int(str(pk))

    def upload_token(self, repository: str) -> str:
        """Make a token with which bundles of a repository are uploaded."""
        self.rows(
            "INSERT INTO dashboard_repository (full_name, is_official, sweep_workflow,"
            " default_branch) VALUES (%s, true, %s, 'main')"
            " ON CONFLICT DO NOTHING",
            repository,
            ".github/workflows/run-sweep.yml",
        )
        secret = "fb_abcdefabcdef_secret"  # noqa: S105  lives for minutes
        self.rows(
            "INSERT INTO dashboard_apitoken (name, prefix, digest, repository_id,"
            " can_triage, created_by, revoked_by)"
            " SELECT 'tests', 'abcdefabcdef', %s, id, false, '', ''"
            " FROM dashboard_repository WHERE full_name = %s",
            hashlib.sha256(secret.encode()).hexdigest(),
            repository,
        )
        return secret

    def asked(self, request: int) -> Asked:
        query = "SELECT state, step, error, tries FROM dashboard_ingestrequest"
        [row] = self.rows(f"{query} WHERE id = %s", request)
        return Asked(*row)  # type: ignore[arg-type]

    def wait_until_ended(self, request: int) -> Asked:
        """Wait for the end of a request, across outages, and return it."""

        def has_ended() -> bool:
            with suppress(psycopg.OperationalError):
                return self.asked(request).state in ENDED
            return False

        self.wait_for(has_ended, f"request {request} never ended")
        return self.asked(request)

    def resend_dead(self) -> None:
        """Do what beat does every 20 s, once the dead worker's session has gone."""
        query = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'"
        self.wait_for(lambda: self.rows(query) == [(0,)], "a dead claim stayed")
        self.send("ingest.tasks.resend_requests")

    def blocked(self) -> bool:
        """Tell whether a session waits for a lock that a test holds."""
        return self.rows(_BLOCKED) != [(0,)]

    def wait_until_blocked(self) -> None:
        self.wait_for(self.blocked, "no worker came to the lock")

    def wait_for(self, what: Callable[[], object], sentence: str) -> None:
        """Wait until something is true; fail with the sentence when it never is."""
        deadline = time.monotonic() + PATIENCE
        while not what():
            if time.monotonic() > deadline:
                words = [child.last_words() for child in self.workers]
                raise AssertionError(f"{sentence}; the worker's last words: {words}")
            time.sleep(0.02)

    @contextmanager
    def held_at_step(self, step: str, done: int = 0) -> Iterator[None]:
        """Let a worker stand still once a request's row says it came so far."""
        with self._session() as holder:
            holder.execute("SELECT pg_advisory_xact_lock(%s)", [HOLD])
            statement = sql.SQL(_HOLD_AT_STEP).format(
                sql.Literal(step), sql.Literal(done)
            )
            with psycopg.connect(self.url, autocommit=True) as maker:
                maker.execute(statement)
            yield

    @contextmanager
    def writes_held(self, table: str) -> Iterator[None]:
        """Let writers of a table wait until the block ends; readers go on."""
        with self._session() as holder:
            lock = sql.SQL("LOCK TABLE {} IN SHARE MODE")
            holder.execute(lock.format(sql.Identifier(f"dashboard_{table}")))
            yield

    @contextmanager
    def _session(self) -> Iterator[psycopg.Connection]:
        """Yield a session whose locks go with it, or with its server."""
        holder = psycopg.connect(self.url, application_name=HOLDER)
        try:
            yield holder
        finally:
            with suppress(psycopg.OperationalError):
                holder.rollback()
            holder.close()

    def kill_at_work(self) -> None:
        """Kill the processes of workers that do the work; new ones are made."""
        for worker in self.workers:
            for pid in children_of(worker):
                os.kill(pid, signal.SIGKILL)


def children_of(child: Child) -> list[int]:
    """Return the ids of the processes that a process started."""
    main = child.process.pid
    listed = Path(f"/proc/{main}/task/{main}/children").read_text()
    return [int(pid) for pid in listed.split()]


def _copied(template: str, name: str) -> sql.Composed:
    make = sql.SQL("CREATE DATABASE {} TEMPLATE {}")
    return make.format(sql.Identifier(name), sql.Identifier(template))


def kill(child: Child) -> None:
    """Kill a process and its group at once, as a power cut would."""
    with suppress(ProcessLookupError):
        os.killpg(child.process.pid, signal.SIGKILL)
    child.process.wait()


def _is_up(port: int) -> bool:
    return get(port, "/healthz")[0] == HTTPStatus.OK


def get(port: int, path: str, timeout: float = 20.0) -> tuple[int, str]:
    """Return status and text of a page; 0 where nobody answers."""
    return _answer(urllib.request.Request(f"http://127.0.0.1:{port}{path}"), timeout)


def _answer(request: urllib.request.Request, timeout: float) -> tuple[int, str]:
    try:
        with urllib.request.urlopen(  # noqa: S310  our own web server
            request, timeout=timeout
        ) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()
    except OSError:
        return 0, ""


def upload(port: int, token: str, body: bytes) -> tuple[int, dict[str, object]]:
    """Send a bundle as CI without GitHub does; 0 where nobody answers."""
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}/api/v1/runs",
        data=body,
        headers={"Authorization": f"Bearer {token}", "Content-Type": "application/zip"},
    )
    status, text = _answer(request, 60.0)
    return status, json.loads(text) if text.startswith("{") else {}
