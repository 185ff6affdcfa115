"""What workers tell of themselves, kept in Redis: signs of life, durations, budget.

Workers serve no pages, so nobody could ask them; here every web process finds the same
figures. Losing them loses no data, and what cannot be told is left untold.
"""

import bisect
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import structlog
from django.conf import settings
from redis import Redis, RedisError

from launcher.paths import key_prefix

SECONDS = 1.0  # that Redis may be silent
BOUNDS_S = (0.1, 0.5, 1.0, 5.0, 15.0, 60.0, 180.0, 600.0)
STEP, REQUEST = "step", "request"
# A worker tells of itself every few seconds; one that is silent for longer is gone.
HEARD_S = 30.0
FORGOTTEN_S = 24 * 3600
LONGEST_LABEL = 40
BUDGET = ("limit", "remaining", "reset")

log = structlog.get_logger(__name__)


@dataclass(slots=True)
class Durations:
    """How often something took how long; ``counts`` by BOUNDS_S, then the longer."""

    counts: list[int] = field(default_factory=lambda: [0] * (len(BOUNDS_S) + 1))
    total_s: float = 0.0


def note_sign_of_life(worker: str) -> None:
    """Note that a worker lives, by the clock of Redis: those of machines differ."""
    with _told("sign of life"):
        now = _now()
        key = _key("workers")
        _client().zadd(key, {worker: now})
        _client().zremrangebyscore(key, 0, now - FORGOTTEN_S)


def note_schedule() -> None:
    """Note that a task of beat's arrived: beat, broker and a worker are at work."""
    with _told("schedule"):
        _client().set(_key("schedule"), _now())


def note_duration(kind: str, label: str, seconds: float) -> None:
    """Add one duration of a step or a request, in seconds."""
    name = label[:LONGEST_LABEL]
    bound = bisect.bisect_left(BOUNDS_S, seconds)
    with _told("duration"), _client().pipeline() as pipe:
        pipe.hincrby(_key(kind), f"{name}|{bound}", 1)
        pipe.hincrbyfloat(_key(kind), f"{name}|sum", seconds)
        pipe.execute()


def note_budget(headers: Mapping[str, str]) -> None:
    """Note what GitHub says of its primary limit in the headers of an answer."""
    if headers.get("x-ratelimit-resource", "core") != "core":
        return
    told = {name: headers.get(f"x-ratelimit-{name}", "") for name in BUDGET}
    if all(value.isdecimal() for value in told.values()):
        with _told("budget"):
            _client().hset(_key("github"), mapping=told)


def ages_of_workers() -> list[float]:
    """Return for how many seconds each worker of the last day was silent.

    Raises RedisError, as do all that read.
    """
    found = _client().zrange(_key("workers"), 0, -1, withscores=True)
    now = _now()
    return sorted(max(now - float(score), 0.0) for _, score in found)


def age_of_schedule() -> float | None:
    """Return when beat's newest task arrived, in seconds before now."""
    at = _client().get(_key("schedule"))
    return None if at is None else max(_now() - float(at), 0.0)


def durations(kind: str) -> dict[str, Durations]:
    """Return durations by label."""
    found: dict[str, Durations] = {}
    for name, value in _client().hgetall(_key(kind)).items():
        label, _, part = name.rpartition("|")
        seen = found.setdefault(label, Durations())
        if part == "sum":
            seen.total_s = float(value)
        else:
            seen.counts[int(part)] = int(value)
    return found


def budget() -> dict[str, int]:
    """Return limit, remaining and reset (seconds since 1970); empty: not known."""
    found = _client().hgetall(_key("github"))
    return {name: int(value) for name, value in found.items() if name in BUDGET}


def queue_depths() -> dict[str, int]:
    """Return how many tasks wait, and how many workers hold."""
    with _client().pipeline() as pipe:
        pipe.llen(f"{key_prefix()}celery")
        pipe.hlen(f"{key_prefix()}unacked")
        waiting, held = pipe.execute()
    return {"waiting": waiting, "held": held}


@contextmanager
def _told(what: str) -> Iterator[None]:
    """Let work go on where its figures cannot be kept."""
    try:
        yield
    except RedisError as error:
        log.warning("not told", what=what, why=type(error).__name__)


def _now() -> float:
    seconds, micro = _client().time()
    return float(seconds) + float(micro) / 1e6


def _key(name: str) -> str:
    return f"{key_prefix()}telemetry:{name}"


@cache
def _client() -> Any:  # its types are those of answers in bytes
    return Redis.from_url(
        settings.REDIS_URL,
        socket_timeout=SECONDS,
        socket_connect_timeout=SECONDS,
        decode_responses=True,
    )
