"""What became of a job over all its attempts."""

from collections.abc import Iterable
from typing import NamedTuple

SUCCEEDED, FAILED, CANCELLED = "succeeded", "failed", "cancelled"
UNFINISHED, SKIPPED = "unfinished", "skipped"
# From what decides to what does not.
OUTCOMES = (SUCCEEDED, FAILED, CANCELLED, UNFINISHED, SKIPPED)
_WORDS = {
    "success": SUCCEEDED,
    "cancelled": CANCELLED,
    "skipped": SKIPPED,
    "neutral": SKIPPED,
    # A job that has not ended has no conclusion yet.
    "": UNFINISHED,
}

RULE = (
    "A job counts once, however often it was tried: it succeeded if any attempt did, "
    "else it failed if any attempt failed or ran out of time. The rate is succeeded "
    "of succeeded and failed. Cancelled, skipped and unfinished jobs are shown beside "
    "it and are in neither."
)


class Execution(NamedTuple):
    """A job in one attempt; ``conclusion`` is empty before the end."""

    attempt: int
    conclusion: str


class JobOutcome(NamedTuple):
    """How a job ended over all attempts, and in which of them."""

    outcome: str
    attempt: int
    failed_attempts: int
    is_after_retry: bool


def job_outcome(executions: Iterable[Execution]) -> JobOutcome:
    """Return what became of one job that was executed at least once.

    What any attempt reached counts: a failed job whose retry was cancelled failed.
    A word that is not known is a failure, as ``timed_out`` is.
    """
    attempts: dict[str, list[int]] = {}
    for attempt, conclusion in executions:
        attempts.setdefault(_WORDS.get(conclusion, FAILED), []).append(attempt)
    best = min(attempts, key=OUTCOMES.index)
    failed = attempts.get(FAILED, [])
    troubled = [*failed, *attempts.get(CANCELLED, [])]
    ended = min(attempts[best]) if best == SUCCEEDED else max(attempts[best])
    is_after_retry = best == SUCCEEDED and any(n < ended for n in troubled)
    return JobOutcome(best, ended, len(set(failed)), is_after_retry)
