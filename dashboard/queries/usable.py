"""Why a run has no point to show, in one sentence for every page that says it."""

import re
from collections.abc import Iterable
from datetime import datetime
from typing import NamedTuple

from dashboard.models import Run

FAILED_ROW = "failed_run"
_SEVERAL_POINTS = re.compile(r"\bc\d+(?:x\d+)+")


class Expired(NamedTuple):
    """How many artifacts GitHub deleted; ``unfetched`` ones held records not stored.

    ``at`` is the last day, None where GitHub does not tell it.
    """

    total: int = 0
    unfetched: int = 0
    at: datetime | None = None

    @property
    def sentence(self) -> str:
        """Say what was deleted before it could be stored, empty where nothing was."""
        if not self.unfetched:
            return ""
        artifacts = "artifact" if self.unfetched == 1 else "artifacts"
        on = f" on {self.at:%Y-%m-%d}" if self.at else ""
        return (
            f"{self.unfetched} {artifacts} with its results expired on GitHub{on} "
            "before they were fetched"
        )


def nothing_usable(
    run: Run, failed_rows: int, job_names: Iterable[str], expired: Expired
) -> str:
    """Say what a run without a usable point left instead.

    ``failed_rows`` counts its rows with zero successful requests. What its plan counts
    is jobs, unless a job's name stands for several points; where results expired
    nobody knows which jobs left some.
    """
    parts = [expired.sentence] if expired.unfetched else []
    if failed_rows:
        rows = "row" if failed_rows == 1 else "rows"
        parts.append(f"{failed_rows} {rows} with zero successful requests")
    if run.planned_count and not expired.unfetched:
        several = any(_SEVERAL_POINTS.search(name) for name in job_names)
        word = "jobs" if run.jobs_known and not several else "planned points"
        without = max(run.planned_count - failed_rows, 0)
        parts.append(f"{without} of {run.planned_count} {word} without a row")
    reason = ", ".join(parts) or "the run left no throughput row"
    return f"No usable throughput point: {reason}"
