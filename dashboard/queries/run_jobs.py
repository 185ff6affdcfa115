"""Jobs that did not succeed: what became of them, and whether another attempt did."""

from collections.abc import Iterable
from dataclasses import dataclass

from dashboard.models import Job

# A job that has not ended has no conclusion yet.
NOT_FAILED = {"", "success", "skipped", "neutral"}


@dataclass(frozen=True, slots=True)
class FailedJob:
    """A job whose newest run did not succeed. ``succeeded_in`` is another attempt."""

    job: Job
    succeeded_in: int | None

    @property
    def is_cancelled(self) -> bool:
        """Tell whether somebody ended the job before it could fail."""
        return self.job.conclusion == "cancelled"


def failed_jobs(jobs: Iterable[Job], attempt: int | None) -> list[FailedJob]:
    """Return jobs whose newest run failed or was cancelled, of a run or an attempt.

    ``jobs`` are those of all attempts, the newest of a name last. In order of what
    became of them, failed ones first, then of their names.
    """
    newest: dict[str, Job] = {}
    succeeded: dict[str, int] = {}
    for job in jobs:
        if attempt in (None, job.attempt):
            newest[job.name] = job
        if job.conclusion == "success":
            succeeded[job.name] = job.attempt
    found = [
        FailedJob(job, succeeded.get(job.name))
        for job in newest.values()
        if job.conclusion not in NOT_FAILED
    ]
    return sorted(found, key=lambda failed: (failed.is_cancelled, failed.job.name))
