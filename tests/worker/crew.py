"""The product's own worker as a process to be started and killed, and its jobs."""

import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import ClassVar
from urllib.parse import urlsplit, urlunsplit

import psycopg
from django.db import connection
from psycopg import sql
from redis import Redis

from dashboard.celery import app
from dashboard.models import IngestRequest
from ingest.requests import resend_dead
from launcher import commands
from launcher.paths import key_prefix
from launcher.processes import Child

PATIENCE = 240.0  # seconds; the machine may be busy with other things
BEAT_S = 30.0  # between two looks for requests whose worker died
HOLDER = "frontierboard-test-holder"


def test_database_url() -> str:
    """Return DATABASE_URL with the name of the database that the tests use."""
    parts = urlsplit(os.environ["DATABASE_URL"])
    return urlunsplit(parts._replace(path=f"/{connection.settings_dict['NAME']}"))


test_database_url.__test__ = False  # type: ignore[attr-defined]


class Crew:
    """One worker at a time, on the test database and a raw store of its own."""

    at_work: ClassVar[list["Crew"]] = []

    def __init__(self, data: Path) -> None:
        self.at_work.append(self)
        self.data = data
        inherited = dict(os.environ)
        inherited.pop("PYTHONDONTWRITEBYTECODE", None)
        self.env = {
            **inherited,
            "DATABASE_URL": test_database_url(),
            "FRONTIERBOARD_DATA": str(data),
        }
        self.worker: Child | None = None

    @property
    def raw(self) -> Path:
        return self.data / "raw"

    def start(self) -> None:
        """Start a worker unless one runs."""
        if self.worker is None or self.worker.process.poll() is not None:
            self.worker = commands.start_worker(self.data, self.env)

    def kill(self) -> None:
        """Kill the worker and its pool at once, as a power cut would."""
        assert self.worker is not None
        os.killpg(self.worker.process.pid, signal.SIGKILL)
        self.worker.process.wait()

    def kill_pool(self) -> None:
        """Kill the processes that do the work, as the kernel does out of memory."""
        assert self.worker is not None
        main = self.worker.process.pid
        children = Path(f"/proc/{main}/task/{main}/children").read_text()
        for pid in children.split():
            os.kill(int(pid), signal.SIGKILL)

    def stop(self) -> None:
        self.at_work.remove(self)
        if self.worker is not None:
            self.worker.stop()

    def check_worker(self) -> None:
        """Fail with the worker's last words where it ended and was not killed."""
        if self.worker is not None:
            ended = self.worker.process.poll() not in (None, -signal.SIGKILL)
            assert not ended, self.worker.last_words()


def ask_for(path: Path, *, copies: int = 1, tries: int = 0) -> IngestRequest:
    """Store a request and send its task; ``copies`` as a broker may deliver it."""
    request = IngestRequest.objects.create(
        kind=IngestRequest.Kind.PATH, target=str(path), tries=tries
    )
    # A connection of its own: one that is kept remembers queues that tests emptied.
    with app.connection_for_write() as broker:
        for _ in range(copies):
            app.send_task(
                "ingest.tasks.ingest_path", [str(path), request.pk], connection=broker
            )
    return request


def pass_visibility_timeout(client: Redis) -> None:
    """Make jobs that nobody acknowledged as old as if the timeout had passed."""
    index = f"{key_prefix()}unacked_index"
    tags = client.zrange(index, 0, -1)
    assert tags, "no job was held"
    long_ago: dict[bytes, float] = dict.fromkeys(tags, 1)  # type: ignore[arg-type]
    client.zadd(index, long_ago)


def wait_for(what: Callable[[], object], sentence: str) -> None:
    """Wait until something is true; fail with the sentence when it never is."""
    deadline = time.monotonic() + PATIENCE
    while not what():
        for crew in Crew.at_work:
            crew.check_worker()
        assert time.monotonic() < deadline, sentence
        time.sleep(0.02)


def wait_until_ended(request: IngestRequest) -> IngestRequest:
    """Wait for the end of a request and return it.

    A broker may lose the task of a worker that was killed; beat has it sent again then.
    No beat runs beside the tests, so they do as it does, seldom.
    """
    running = (IngestRequest.State.QUEUED, IngestRequest.State.RUNNING)
    next_look = time.monotonic() + BEAT_S

    def has_ended() -> bool:
        nonlocal next_look
        request.refresh_from_db()
        if time.monotonic() > next_look:
            next_look += BEAT_S
            resend_dead()
        return request.state not in running

    wait_for(has_ended, f"request never ended: {request}")
    return request


def blocked_sessions() -> int:
    """Count sessions that wait for a lock which a test holds.

    Others wait as well, if for a moment: a worker that tells of the run before waits
    while tables are emptied, and one killed then has not begun what the test asks.
    """
    query = """
        SELECT count(*) FROM pg_stat_activity AS waiting
        JOIN pg_stat_activity AS holder
            ON holder.pid = ANY (pg_blocking_pids(waiting.pid))
        WHERE waiting.datname = current_database() AND holder.application_name = %s
    """
    with connection.cursor() as cursor:
        cursor.execute(query, [HOLDER])
        return int(cursor.fetchone()[0])


def holder_session(*, autocommit: bool = False) -> psycopg.Connection:
    """Return a session whose locks count as the test's."""
    return psycopg.connect(
        test_database_url(), autocommit=autocommit, application_name=HOLDER
    )


def give_back_to(crew: Crew) -> None:
    """Let beat's task find the dead worker's request, and a new worker take it."""
    wait_for(resend_dead, "the dead worker's claim never went away")
    crew.start()


def wait_until_blocked(request: IngestRequest | None = None) -> None:
    """Wait until a worker's session waits for a lock of the test's.

    A ``request`` that is given has begun by then.
    """
    wait_for(blocked_sessions, "the worker never came to the lock")
    if request is not None:
        begun = IngestRequest.objects.filter(pk=request.pk, started_at__isnull=False)
        wait_for(begun.exists, f"request never begun: {request}")


def wait_until_idle() -> None:
    """Wait until no session of another process does anything or holds a lock."""
    query = (
        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
        " AND state <> 'idle' AND pid <> pg_backend_pid()"
    )

    def is_alone() -> bool:
        with connection.cursor() as cursor:
            cursor.execute(query)
            return bool(cursor.fetchone()[0] == 0)

    wait_for(is_alone, "a session of a dead worker never went away")


def wait_until_all_is_done(client: Redis) -> None:
    """Wait until no task waits or is at work: what follows from a run is one too.

    It may come to the lock that the next test holds, and that test would kill a
    worker that has not begun what it asks.
    """
    names = [f"{key_prefix()}{name}" for name in ("celery", "unacked")]

    def is_done() -> bool:
        if client.exists(*names):
            return False
        time.sleep(0.2)  # one that a worker takes is under neither for a moment
        return not client.exists(*names)

    wait_for(is_done, "a task never ended")
    wait_until_idle()


@contextmanager
def writes_held(*tables: str) -> Iterator[psycopg.Connection]:
    """Let writers of tables wait until the block ends; readers go on."""
    with holder_session() as holder:
        for table in tables:
            lock = sql.SQL("LOCK TABLE {} IN SHARE MODE")
            holder.execute(lock.format(sql.Identifier(f"dashboard_{table}")))
        yield holder
        holder.rollback()


@contextmanager
def reads_held(table: str) -> Iterator[None]:
    """Let everybody who wants the table wait until the block ends."""
    with holder_session() as holder:
        lock = sql.SQL("LOCK TABLE {} IN ACCESS EXCLUSIVE MODE")
        holder.execute(lock.format(sql.Identifier(f"dashboard_{table}")))
        yield
        holder.rollback()


@contextmanager
def advisory_lock_held(number: int) -> Iterator[None]:
    """Hold an advisory lock, as another worker's session would."""
    with holder_session(autocommit=True) as holder:
        holder.execute("SELECT pg_advisory_lock(%s)", [number])
        yield


@contextmanager
def progress_held(step: str, done: int) -> Iterator[None]:
    """Let a request wait once its row says that a step has come so far.

    A trigger on the row waits for a lock of the test's, so the worker stands still
    between two artifacts without knowing of it.
    """
    number = 0x7E57
    with holder_session(autocommit=True) as holder:
        holder.execute("SELECT pg_advisory_lock(%s)", [number])
        holder.execute(
            f"""CREATE FUNCTION wait_for_test() RETURNS trigger LANGUAGE plpgsql AS $$
            BEGIN
                PERFORM pg_advisory_lock({number});
                PERFORM pg_advisory_unlock({number});
                RETURN NULL;
            END $$"""
        )
        holder.execute(
            sql.SQL(
                "CREATE TRIGGER wait_for_test AFTER UPDATE ON dashboard_ingestrequest"
                " FOR EACH ROW WHEN (NEW.step = {} AND NEW.progress_done = {})"
                " EXECUTE FUNCTION wait_for_test()"
            ).format(sql.Literal(step), sql.Literal(done))
        )
        try:
            yield
        finally:
            holder.execute("SELECT pg_advisory_unlock(%s)", [number])
            holder.execute("DROP FUNCTION wait_for_test() CASCADE")
