"""The list of runs as a file."""

from collections.abc import Iterable, Iterator

from dashboard.models import Run
from dashboard.queries.runs import with_publication
from dashboard.views.tables import Table

COLUMNS = (
    *("run_id", "repository", "attempt", "title", "conclusion", "status"),
    *("publication", "received", "planned", "missing", "evals", "evals_planned"),
    *("skips", "branch", "sha", "event", "pr", "workflow", "created_at"),
    *("official_at", "published_by", "measured_in", "url"),
)
BRIEF = (
    *("run_id", "conclusion", "received", "planned", "missing", "evals", "title"),
    *("publication", "skips", "branch", "created_at"),
)


def runs_table(runs: Iterable[Run]) -> Table:
    """Return listed runs in their order; they are read while the file is sent."""
    return Table("runs", COLUMNS, _rows(runs), brief=BRIEF)


def _rows(runs: Iterable[Run]) -> Iterator[tuple[object, ...]]:
    for run in runs:
        ((_, publication),) = with_publication([run])
        is_official = run.publication == Run.Publication.OFFICIAL
        yield (
            *(run.github_run_id, run.repository.full_name, run.attempt),
            *(run.title, run.conclusion or None, run.status or None, publication),
            *(run.received_count, run.planned_count, run.missing_count),
            *(run.eval_count, run.eval_planned_count, run.skip_count),
            *(run.branch or None, run.sha or None, run.event or None),
            *(run.pr_number, run.workflow_path or None, run.created_at),
            run.official_at if is_official else None,
            run.published_by.github_run_id if run.published_by else None,
            *(run.reuse_source_run_id, run.url or None),
        )
