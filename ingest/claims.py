"""Locks: one worker per run and per request, one writer of derived state at a time."""

import hashlib
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager

import structlog
from django.db import connection

WRITE_LOCK = 0x46_42_57_52  # any constant; spells FBWR
RAW_LOCK = 0x46_42_52_41  # spells FBRA


# A bigint key is shown in halves; the database is that of the session.
_HELD = """
    SELECT classid::bigint << 32 | objid::bigint
    FROM pg_locks JOIN pg_database ON pg_database.oid = pg_locks.database
    WHERE locktype = 'advisory' AND objsubid = 1 AND granted
      AND datname = current_database()
"""


class AlreadyRunningError(Exception):
    """Another worker is at the same run, or at the same request, right now."""


@contextmanager
def claimed(repository: str, run_id: int) -> Iterator[None]:
    """Hold the run for this worker, whose log lines name it meanwhile.

    Raises AlreadyRunningError.
    """
    number = _lock_number(f"{repository.casefold()}#{run_id}")
    otherwise = f"run {run_id} is already being ingested"
    bound = structlog.contextvars.bound_contextvars(run_id=run_id)
    with _held(number, otherwise), bound:
        yield


def request_claimed(request_id: int) -> AbstractContextManager[None]:
    """Hold a request for this worker; raises AlreadyRunningError."""
    number = request_number(request_id)
    return _held(number, f"request {request_id} is already being carried out")


def comment_claimed(repository: str, pr_number: int) -> AbstractContextManager[None]:
    """Hold a pull request's comment for this worker; raises AlreadyRunningError."""
    number = _lock_number(f"comment {repository.casefold()}#{pr_number}")
    return _held(number, f"the comment on #{pr_number} is already being written")


def claimed_requests(request_ids: Iterable[int]) -> set[int]:
    """Return which requests some worker holds right now."""
    with connection.cursor() as cursor:
        cursor.execute(_HELD)
        held = {number for (number,) in cursor.fetchall()}
    return {pk for pk in request_ids if request_number(pk) in held}


def request_number(request_id: int) -> int:
    """Return the number of a request's lock."""
    return _lock_number(f"request {request_id}")


@contextmanager
def _held(number: int, otherwise: str) -> Iterator[None]:
    """Hold a lock that belongs to the database session: it goes when its worker dies.

    Raises AlreadyRunningError with the given line where another session holds it.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_lock(%s)", [number])
        if not cursor.fetchone()[0]:
            raise AlreadyRunningError(otherwise)
        try:
            yield
        finally:
            if connection.connection is not None and not connection.connection.closed:
                cursor.execute("SELECT pg_advisory_unlock(%s)", [number])


def _lock_number(text: str) -> int:
    digest = hashlib.sha256(text.encode()).digest()
    return int.from_bytes(digest[:8], signed=True)


@contextmanager
def raw_bytes_shared() -> Iterator[None]:
    """Rely on raw bytes that are there, until the run's rows are stored.

    Of bytes that are kept already none are written again, and no row names them yet.
    """
    with _waited_for("pg_advisory_lock_shared", "pg_advisory_unlock_shared"):
        yield


@contextmanager
def raw_bytes_alone() -> Iterator[None]:
    """Wait until nobody relies on raw bytes, and let nobody begin to."""
    with _waited_for("pg_advisory_lock", "pg_advisory_unlock"):
        yield


@contextmanager
def _waited_for(lock: str, unlock: str) -> Iterator[None]:
    """Hold the lock of raw bytes; it belongs to the session, as that of a run."""
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {lock}(%s)", [RAW_LOCK])
        try:
            yield
        finally:
            if connection.connection is not None and not connection.connection.closed:
                cursor.execute(f"SELECT {unlock}(%s)", [RAW_LOCK])


def serialise_writes() -> None:
    """Wait for other writers, until the end of this transaction.

    Whether a sweep is current depends on every other run of its key. Reading and
    parsing go on in parallel; only the short write is one at a time.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [WRITE_LOCK])
