"""The tables of the page of reliability as files; rates are fractions."""

from collections.abc import Iterator

from dashboard.analysis.job_outcomes import RULE
from dashboard.analysis.reliability import JobCounts, JobGroup, StatGroup
from dashboard.queries import reliability as queries
from dashboard.views.reliability_parts import ReliabilityShown
from dashboard.views.tables import Table

COUNTS = (
    *("succeeded", "failed", "n", "rate", "rate_low", "rate_high"),
    *("cancelled", "skipped", "unfinished", "after_retry"),
)
BRIEF = ("succeeded", "failed", "n", "rate", "rate_low", "rate_high", "cancelled")
FILTERS = ("publication", "jobs", "from", "to")


def groups_table(shown: ReliabilityShown) -> Table:
    """Return the groups in the order of the page."""
    name = shown.filters.field
    columns = (name, *COUNTS, "runs", "runs_with_failures", "newest_failing", *FILTERS)
    rows = [(*_group(group), *_filters(shown)) for group in shown.groups]
    brief = (name, *BRIEF, "after_retry")
    return Table(_file(shown, "jobs"), columns, rows, _about(shown), brief=brief)


def trend_table(shown: ReliabilityShown) -> Table:
    """Return the jobs by period and group; the group is blank where it is all jobs."""
    name = shown.filters.field
    columns = ("period", "from_day", "is_all_jobs", name, *COUNTS, *FILTERS[:2])
    rows = [
        (
            *(shown.period, point.begin, point.group is None, point.group),
            *(*_counts(point.counts), *_filters(shown)[:2]),
        )
        for point in shown.trend
    ]
    brief = ("from_day", name, *BRIEF)
    return Table(_file(shown, "trend"), columns, rows, _about(shown), brief=brief)


def stats_table(shown: ReliabilityShown) -> Table:
    """Return what runs counted: every attempt, cancelled jobs in the total."""
    name = "hardware" if shown.filters.by == "hardware" else "cluster"
    counts = (name, "succeeded", "total", "rate", "rate_low", "rate_high", "runs")
    rows = [(*_stat(stat), *_filters(shown)) for stat in shown.stats]
    about = {**_about(shown), "rule": "as run_stats.json of each run counts"}
    columns = (*counts, *FILTERS)
    return Table(_file(shown, "run-stats"), columns, rows, about, brief=counts)


def runs_table(shown: ReliabilityShown) -> Table:
    """Return all runs with failed or cancelled jobs, newest first."""
    columns = (
        *("run_id", "repository", "attempt", "publication", "created_at", "url"),
        *(*COUNTS, "failed_jobs"),
    )
    brief = ("run_id", "created_at", "succeeded", "failed", "cancelled", "failed_jobs")
    return Table(
        _file(shown, "failing-runs"), columns, _runs(shown), _about(shown), brief=brief
    )


def _runs(shown: ReliabilityShown) -> Iterator[tuple[object, ...]]:
    for found in queries.failing_runs(shown.filters):
        run = found.run
        yield (
            *(run.github_run_id, run.repository.full_name, run.attempt),
            *(run.publication, run.created_at, run.url),
            *(*_counts(found.counts), list(found.named)),
        )


def _group(group: JobGroup) -> tuple[object, ...]:
    return (
        *(group.name or None, *_counts(group.counts)),
        *(group.runs, group.failing_runs, list(group.newest_failing)),
    )


def _stat(stat: StatGroup) -> tuple[object, ...]:
    interval = stat.interval or (None, None)
    return (
        *(stat.name or None, stat.succeeded, stat.total, stat.rate, *interval),
        stat.runs,
    )


def _counts(counts: JobCounts) -> tuple[object, ...]:
    return (
        *(counts.succeeded, counts.failed, counts.n, counts.rate),
        *(counts.interval or (None, None)),
        *(counts.cancelled, counts.skipped, counts.unfinished, counts.after_retry),
    )


def _filters(shown: ReliabilityShown) -> tuple[object, ...]:
    filters = shown.filters
    first, last = shown.days or (None, None)
    publication = "official" if filters.is_official else "unofficial"
    days = (filters.since or first, filters.until or last)
    return publication, filters.kind or "all", *days


def _about(shown: ReliabilityShown) -> dict[str, object]:
    told = dict(zip(FILTERS, _filters(shown), strict=True))
    return {"title": shown.title, **told, "runs": shown.span.runs, "rule": RULE}


def _file(shown: ReliabilityShown, table: str) -> str:
    filters = shown.filters
    return "-".join(filter(None, ("reliability", filters.by, filters.group, table)))
