"""Why a run has no point to show, in one sentence for every page that says it."""

import re
from collections.abc import Iterable

from dashboard.models import Run

FAILED_ROW = "failed_run"
_SEVERAL_POINTS = re.compile(r"\bc\d+(?:x\d+)+")


def nothing_usable(run: Run, failed_rows: int, job_names: Iterable[str]) -> str:
    """Say what a run without a usable point left instead.

    ``failed_rows`` counts its rows with zero successful requests. What its plan counts
    is jobs, unless a job's name stands for several points.
    """
    parts = []
    if failed_rows:
        rows = "row" if failed_rows == 1 else "rows"
        parts.append(f"{failed_rows} {rows} with zero successful requests")
    if run.planned_count:
        several = any(_SEVERAL_POINTS.search(name) for name in job_names)
        word = "jobs" if run.jobs_known and not several else "planned points"
        without = max(run.planned_count - failed_rows, 0)
        parts.append(f"{without} of {run.planned_count} {word} without a row")
    reason = ", ".join(parts) or "the run left no throughput row"
    return f"No usable throughput point: {reason}"
