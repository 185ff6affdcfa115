"""Whether database, broker and workers answer: within seconds, or why not.

Each part is asked in a thread of its own, so that nobody waits longer than said, be it
a network that swallows every byte. Reasons name no addresses and no passwords.
"""

import threading
from collections.abc import Callable
from functools import cache
from typing import TypeVar

from django.db import DatabaseError, connection
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder
from redis import RedisError

from dashboard import telemetry

SECONDS = 3.0
# What the server itself ends; a session that nobody waits for is gone soon.
STATEMENT_MS = 2000
# So many questions may hang at once; the next ones are told so without asking.
_PLACES = threading.BoundedSemaphore(8)

Result = TypeVar("Result")


class NoAnswerError(Exception):
    """A part did not answer; the message says how."""


def answer_within(seconds: float, ask: Callable[[], Result]) -> Result:
    """Return what ``ask`` returns; raises NoAnswerError, also where it takes longer.

    It runs in another thread, with a database session of its own.
    """
    places = _PLACES
    if not places.acquire(timeout=seconds):
        raise NoAnswerError("earlier questions are still waiting")
    found: list[Result] = []
    faults: list[str] = []

    def work() -> None:
        try:
            found.append(_asked(ask))
        except (DatabaseError, RedisError) as error:
            faults.append(f"no answer ({type(error).__name__})")
        finally:
            places.release()

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    thread.join(seconds)
    if faults:
        raise NoAnswerError(faults[0])
    if not found:
        raise NoAnswerError(f"no answer within {seconds:g} s")
    return found[0]


def _asked(ask: Callable[[], Result]) -> Result:
    try:
        return ask()
    finally:
        connection.close()


def ask_impatiently() -> None:
    """Let the server end what takes this session longer than STATEMENT_MS."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT set_config('statement_timeout', %s, false)", [str(STATEMENT_MS)]
        )


def database_fault() -> str:
    """Return why the database cannot be used; empty: it can."""
    return _fault(ask_impatiently)


def migrations_fault() -> str:
    """Return which migrations are missing."""
    return _fault(_missing_migrations)


def broker_fault() -> str:
    """Return why the broker cannot be used."""
    return _fault(telemetry.queue_depths)


def worker_fault() -> str:
    """Return why no worker would do what is asked for."""
    return _fault(_silence)


FAULTS: dict[str, Callable[[], str]] = {
    "database": database_fault,
    "migrations": migrations_fault,
    "broker": broker_fault,
    "worker": worker_fault,
}


def _fault(ask: Callable[[], object]) -> str:
    try:
        said = answer_within(SECONDS, ask)
    except NoAnswerError as error:
        return str(error)
    return said if isinstance(said, str) else ""


def _missing_migrations() -> str:
    ask_impatiently()
    missing = _known_migrations() - set(
        MigrationRecorder(connection).applied_migrations()
    )
    return f"{len(missing)} migrations are not applied" if missing else ""


@cache
def _known_migrations() -> frozenset[tuple[str, str]]:
    """Return the migrations of this software: read from disk once."""
    return frozenset(MigrationLoader(None).graph.nodes)


def _silence() -> str:
    ages = telemetry.ages_of_workers()
    if not ages:
        return "no worker was heard of"
    if ages[0] > telemetry.HEARD_S:
        return f"no worker was heard of for {ages[0]:.0f} s"
    return ""
