"""How often benchmark jobs succeed as JSON: by group, over time, and as runs count."""

from datetime import date
from typing import Annotated, Any

from django.http import HttpRequest
from django.utils import timezone
from ninja import Query, Router, Schema
from pydantic import ConfigDict, Field

from dashboard.analysis.job_outcomes import RULE
from dashboard.analysis.reliability import JobCounts, JobGroup, StatGroup, TrendPoint
from dashboard.api.errors import ErrorBody, RequestFault
from dashboard.api.reading import NOT_CHANGED, of_data
from dashboard.forms.reliability import LONGEST_GROUP, ReliabilityForm
from dashboard.queries.reliability import ReliabilityFilters
from dashboard.queries.reliability_report import ReliabilityReport

router = Router(tags=["reliability"])


class JobSuccessQuery(Schema):
    """The filters of the page; days are those on which runs were made, in UTC."""

    by: str = Field("", description="hardware (unless given), cluster or key")
    runs: str = Field("", description="official (unless given) or unofficial")
    jobs: str = Field("", description="throughput or eval; empty is both")
    order: str = Field("", description="worst (unless given), failed, jobs or name")
    group: str = Field(
        "", max_length=LONGEST_GROUP, description="one GPU, cluster or config key"
    )
    since: str = Field("", alias="from", description="first day, UTC")
    until: str = Field("", alias="to", description="last day, UTC")


class CountsBody(Schema):
    """Jobs by how they ended; ``rate`` is a fraction of ``n``, succeeded and failed.

    ``low`` and ``high`` are its 95 % Wilson interval. All three are null where no job
    succeeded or failed. ``after_retry`` of the succeeded did so in a later attempt.
    """

    succeeded: int
    failed: int
    n: int
    rate: float | None
    low: float | None
    high: float | None
    cancelled: int
    skipped: int
    unfinished: int
    after_retry: int


class JobGroupBody(CountsBody):
    """The jobs of one GPU, cluster or config key; ``group`` is null where unknown."""

    group: str | None
    runs: int
    runs_with_failures: int
    newest_failing: list[int] = Field(description="ids of runs, at most three")


class TrendBody(CountsBody):
    """The jobs of runs made in the period that begins with a day (UTC)."""

    group: str | None
    is_all_jobs: bool
    begins: date


class RunStatsBody(Schema):
    """What runs counted themselves: every attempt, cancelled jobs in the total."""

    group: str | None
    succeeded: int
    total: int
    rate: float | None
    low: float | None
    high: float | None
    runs: int


class JobSuccessBody(Schema):
    """``first`` and ``last`` are the days with jobs, null without any."""

    model_config = ConfigDict(populate_by_name=True)

    by: str
    publication: str
    rule: str
    first: date | None
    last: date | None
    runs: int
    period: str = Field(description="day, week from Monday, or month")
    total: CountsBody
    groups: list[JobGroupBody]
    trend: list[TrendBody]
    run_stats: list[RunStatsBody]


@router.get("", response={200: JobSuccessBody, **NOT_CHANGED, 400: ErrorBody})
@of_data
def job_success(
    request: HttpRequest,
    asked: Annotated[JobSuccessQuery, Query()],  # noqa: ARG001  # for the document
) -> dict[str, Any]:
    """Return how often benchmark jobs succeed; a retried job counts once."""
    form = ReliabilityForm(request.GET, timezone.now().date())
    if not form.is_valid():
        name, message, allowed = form.faults[0]
        raise RequestFault(name, message, allowed=allowed or None)
    shown = ReliabilityReport(ReliabilityFilters(**form.asked), form.order_name)
    filters = shown.filters
    return {
        "by": filters.by,
        "publication": "official" if filters.is_official else "unofficial",
        "rule": RULE,
        "first": shown.span.first,
        "last": shown.span.last,
        "runs": shown.span.runs,
        "period": shown.period,
        "total": _counts(shown.total),
        "groups": list(map(_group, shown.groups)),
        "trend": list(map(_trend, shown.trend)),
        "run_stats": list(map(_stat, shown.stats)),
    }


def _group(group: JobGroup) -> dict[str, Any]:
    return {
        "group": group.name or None,
        "runs": group.runs,
        "runs_with_failures": group.failing_runs,
        "newest_failing": list(group.newest_failing),
        **_counts(group.counts),
    }


def _trend(point: TrendPoint) -> dict[str, Any]:
    return {
        "group": point.group or None,
        "is_all_jobs": point.group is None,
        "begins": point.begin,
        **_counts(point.counts),
    }


def _stat(stat: StatGroup) -> dict[str, Any]:
    low, high = stat.interval or (None, None)
    return {
        "group": stat.name or None,
        "succeeded": stat.succeeded,
        "total": stat.total,
        "rate": stat.rate,
        "low": low,
        "high": high,
        "runs": stat.runs,
    }


def _counts(counts: JobCounts) -> dict[str, Any]:
    low, high = counts.interval or (None, None)
    return {
        "succeeded": counts.succeeded,
        "failed": counts.failed,
        "n": counts.n,
        "rate": counts.rate,
        "low": low,
        "high": high,
        "cancelled": counts.cancelled,
        "skipped": counts.skipped,
        "unfinished": counts.unfinished,
        "after_retry": counts.after_retry,
    }
