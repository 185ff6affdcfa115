"""Benchmark jobs and the runs' own statistics, counted for the page of reliability."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from typing import Any, Literal, NamedTuple

from django.contrib.postgres.aggregates import ArrayAgg
from django.db.models import Count, Exists, F, Max, Min, OuterRef, Q, Sum, Window
from django.db.models.functions import (
    RowNumber,
    TruncDay,
    TruncMonth,
    TruncWeek,
)
from django.db.models.query import QuerySet

from dashboard.analysis.job_outcomes import OUTCOMES
from dashboard.analysis.reliability import (
    WORST,
    JobCounts,
    JobGroup,
    Period,
    StatGroup,
    TrendPoint,
    in_order,
    worst_stats_first,
)
from dashboard.models import BenchmarkJob, Job, Run, RunStat

Dimension = Literal["hardware", "cluster", "key"]
Kind = Literal["", "throughput", "eval"]
FIELDS: dict[Dimension, str] = {
    "hardware": "hardware",
    "cluster": "cluster",
    "key": "config_key",
}
NEWEST_FAILING = 3
MOST_NAMED_JOBS = 3
_TRUNCATED = {"day": TruncDay, "week": TruncWeek, "month": TruncMonth}
_COUNTS: dict[str, Any] = {
    **{name: Count("pk", filter=Q(outcome=name)) for name in OUTCOMES},
    "after_retry": Count("pk", filter=Q(is_after_retry=True)),
}


@dataclass(frozen=True, slots=True)
class ReliabilityFilters:
    """Which jobs count: of runs made from ``since`` to ``until`` (UTC, inclusive).

    ``group`` narrows to one value of the dimension; None is all of them.
    """

    by: Dimension = "hardware"
    since: date | None = None
    until: date | None = None
    is_official: bool = True
    kind: Kind = ""
    group: str | None = None

    @property
    def field(self) -> str:
        """Return the column that the jobs are grouped by."""
        return FIELDS[self.by]


class Span(NamedTuple):
    """The first and the last day on which runs with jobs were made, and how many."""

    first: date | None
    last: date | None
    runs: int


class FailingRun(NamedTuple):
    """A run with failed or cancelled jobs, and the names of some of the failed ones."""

    run: Run
    counts: JobCounts
    named: Sequence[str]


def job_groups(filters: ReliabilityFilters, order: str = WORST) -> list[JobGroup]:
    """Return the jobs by the dimension asked for, in one of the ``ORDERS``."""
    jobs = _jobs(filters)
    rows = list(
        jobs.values(filters.field)
        .annotate(
            _hardware=Min("hardware"),
            runs=Count("run", distinct=True),
            failing_runs=Count("run", distinct=True, filter=Q(outcome="failed")),
            **_COUNTS,
        )
        .order_by(filters.field)
    )
    newest = _newest_failing(jobs, filters.field) if rows else {}
    found = (
        JobGroup(
            row[filters.field],
            row["_hardware"],
            _counts(row),
            row["runs"],
            row["failing_runs"],
            newest.get(row[filters.field], ()),
        )
        for row in rows
    )
    return in_order(found, order)


def span(filters: ReliabilityFilters) -> Span:
    """Return from when to when there are jobs under these filters."""
    found = _jobs(filters).aggregate(
        first=Min("run__created_at"),
        last=Max("run__created_at"),
        runs=Count("run", distinct=True),
    )
    first, last = found["first"], found["last"]
    return Span(first and _day(first), last and _day(last), found["runs"])


def trend(filters: ReliabilityFilters, period: Period) -> list[TrendPoint]:
    """Return the jobs by group and period, oldest period first; periods with jobs only.

    Weeks begin on Monday.
    """
    rows = (
        _jobs(filters)
        .annotate(begin=_TRUNCATED[period]("run__created_at", tzinfo=UTC))
        .values(filters.field, "begin")
        .annotate(**_COUNTS)
        .order_by("begin", filters.field)
    )
    return [
        TrendPoint(row[filters.field], _day(row["begin"]), _counts(row)) for row in rows
    ]


def run_stats(filters: ReliabilityFilters) -> list[StatGroup]:
    """Return what runs counted themselves, worst first; labels without jobs left out.

    A run's own statistics know no config key and no kind of job: none for these.
    """
    if filters.by == "key" or filters.kind:
        return []
    field = "hardware" if filters.by == "hardware" else "raw_key"
    stats = RunStat.objects.filter(_of_runs(filters), total__gt=0)
    if filters.group is not None:
        stats = stats.filter(**{field: filters.group})
    rows = (
        stats.values(field)
        .annotate(
            _hardware=Min("hardware"),
            succeeded=Sum("successes"),
            jobs=Sum("total"),
            runs=Count("run", distinct=True),
        )
        .order_by(field)
    )
    return worst_stats_first(
        StatGroup(
            row[field], row["_hardware"], row["succeeded"], row["jobs"], row["runs"]
        )
        for row in rows
    )


def failing_runs(
    filters: ReliabilityFilters, most: int | None = None
) -> list[FailingRun]:
    """Return runs with failed or cancelled jobs, newest first, at most so many."""
    is_failed = Q(outcome="failed")
    rows = (
        _jobs(filters)
        .values("run")
        .annotate(
            named=ArrayAgg("name", filter=is_failed, order_by="name", default=[]),
            at=Min("run__created_at"),
            **_COUNTS,
        )
        .filter(Q(failed__gt=0) | Q(cancelled__gt=0))
        .order_by("-at", "-run")
    )
    found = list(rows[:most] if most is not None else rows)
    runs = Run.objects.select_related("repository").in_bulk(
        [row["run"] for row in found]
    )
    return [
        FailingRun(runs[row["run"]], _counts(row), row["named"][:MOST_NAMED_JOBS])
        for row in found
    ]


def uncounted_runs() -> int:
    """Return how many runs with benchmark jobs an older version stored uncounted."""
    counted = BenchmarkJob.objects.filter(run=OuterRef("pk"))
    named = Job.objects.filter(run=OuterRef("pk"), name__contains="|")
    stored = Run.objects.filter(jobs_known=True)
    return stored.filter(~Exists(counted), Exists(named)).count()


def _jobs(filters: ReliabilityFilters) -> QuerySet[BenchmarkJob]:
    jobs = BenchmarkJob.objects.filter(_of_runs(filters))
    if filters.kind:
        jobs = jobs.filter(is_eval=filters.kind == "eval")
    if filters.group is not None:
        jobs = jobs.filter(**{filters.field: filters.group})
    return jobs


def _of_runs(filters: ReliabilityFilters) -> Q:
    kinds = Run.Publication
    official = kinds.OFFICIAL if filters.is_official else kinds.UNOFFICIAL
    asked = Q(run__publication=official)
    if filters.since is not None:
        begin = datetime.combine(filters.since, time.min, tzinfo=UTC)
        asked &= Q(run__created_at__gte=begin)
    if filters.until is not None:
        # The day after the last one of the calendar is none.
        end = datetime.combine(filters.until, time.max, tzinfo=UTC)
        asked &= Q(run__created_at__lte=end)
    return asked


def _newest_failing(
    jobs: QuerySet[BenchmarkJob], field: str
) -> dict[str, tuple[int, ...]]:
    """Return the newest runs with a failed job by group."""
    pairs = (
        jobs.filter(outcome="failed")
        .values(field, "run__github_run_id", "run__created_at")
        .distinct()
    )
    newest_first = [F("run__created_at").desc(), F("run__github_run_id").desc()]
    numbered = pairs.annotate(
        place=Window(RowNumber(), partition_by=[F(field)], order_by=newest_first)
    )
    found: dict[str, tuple[int, ...]] = {}
    for row in numbered.order_by("place"):
        known = found.get(row[field], ())
        if len(known) < NEWEST_FAILING and row["run__github_run_id"] not in known:
            found[row[field]] = (*known, row["run__github_run_id"])
    return found


def _counts(row: Mapping[str, Any]) -> JobCounts:
    return JobCounts(**{name: row[name] for name in (*OUTCOMES, "after_retry")})


def _day(at: datetime) -> date:
    return at.astimezone(UTC).date()
