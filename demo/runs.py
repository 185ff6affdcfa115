"""What a chapter of the story says about one workflow run."""

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum

from demo.masters import Edit
from demo.power import Power
from demo.recipes import Recipe


class Event(Enum):
    """What started a run."""

    PUSH = "push"
    PULL_REQUEST = "pull_request"
    DISPATCH = "workflow_dispatch"


class Outcome(Enum):
    """What became of a job in one attempt."""

    SUCCESS = "success"
    FAILURE = "failure"
    CANCELLED = "cancelled"
    # The job failed after it had uploaded a row without a successful request.
    NO_REQUESTS = "no requests"
    # The job was not part of this attempt.
    ABSENT = "absent"


def succeeds(_recipe: Recipe, _concurrency: int) -> Outcome:
    """Let every job succeed."""
    return Outcome.SUCCESS


@dataclass(frozen=True, slots=True)
class Attempt:
    """One execution: its conclusion, and the outcome of each throughput job.

    ``outcome`` is asked with the job's recipe and its first concurrency;
    ``after_h`` is the time between the start of the run and that of the attempt.
    """

    conclusion: str = "success"
    outcome: Callable[[Recipe, int], Outcome] = succeeds
    after_h: float = 0.0


@dataclass(frozen=True, slots=True)
class Entry:
    """A changelog entry. ``link`` None stands for the pull request of the run."""

    keys: tuple[str, ...]
    description: tuple[str, ...]
    link: str | None = None
    evals_only: bool = False
    append_only: bool = False


@dataclass(frozen=True, slots=True)
class Run:
    """One workflow run, ``days`` before the story's last day at ``hour`` UTC.

    ``edits`` are committed before the run: to main by a push, else to a branch.
    ``only`` limits the concurrencies (append-only runs measure new ones alone).
    ``reuses`` names the run whose measurements this one publishes. One that
    ``keeps_requests`` uploads every request of its smallest points.
    """

    name: str
    days: int
    hour: float
    title: str
    entries: tuple[Entry, ...]
    event: Event = Event.PUSH
    pull_request: int | None = None
    branch: str = "main"
    edits: tuple[Edit, ...] = ()
    attempts: tuple[Attempt, ...] = (Attempt(),)
    only: frozenset[int] | None = None
    reuses: str | None = None
    power: Callable[[Recipe, int], Power] | None = None
    scores: dict[tuple[str, int], tuple[int, int]] = field(default_factory=dict)
    gpqa: bool = False
    keeps_requests: bool = False
