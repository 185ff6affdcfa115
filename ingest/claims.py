"""Locks: one worker per run, one writer of derived state at a time."""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection

WRITE_LOCK = 0x46_42_57_52  # any constant; spells FBWR


class AlreadyRunningError(Exception):
    """Another worker is ingesting the same run right now."""


@contextmanager
def claimed(repository: str, run_id: int) -> Iterator[None]:
    """Hold the run for this worker; raises AlreadyRunningError.

    The lock belongs to the database session, so it goes when its worker dies.
    """
    number = _lock_number(f"{repository.casefold()}#{run_id}")
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_lock(%s)", [number])
        if not cursor.fetchone()[0]:
            raise AlreadyRunningError(f"run {run_id} is already being ingested")
        try:
            yield
        finally:
            if connection.connection is not None and not connection.connection.closed:
                cursor.execute("SELECT pg_advisory_unlock(%s)", [number])


def _lock_number(text: str) -> int:
    digest = hashlib.sha256(text.encode()).digest()
    return int.from_bytes(digest[:8], signed=True)


def serialise_writes() -> None:
    """Wait for other writers, until the end of this transaction.

    Whether a sweep is current depends on every other run of its key. Reading and
    parsing go on in parallel; only the short write is one at a time.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [WRITE_LOCK])
