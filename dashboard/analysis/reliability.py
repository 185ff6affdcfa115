"""How often jobs succeed: counts, shares with their intervals, periods, the order."""

from collections.abc import Iterable
from dataclasses import dataclass, fields
from datetime import date, timedelta
from typing import Literal

from dashboard.analysis.evals import wilson

Period = Literal["day", "week", "month"]
WORST = "worst"
ORDERS = {
    WORST: "worst first",
    "failed": "most failed jobs first",
    "jobs": "most jobs first",
    "name": "by name",
}
# Spans in days up to which a chart has a point per day, per week; then per month.
MOST_DAYS, MOST_WEEKS_DAYS = 45, 400


@dataclass(frozen=True, slots=True)
class JobCounts:
    """How many jobs ended how; ``after_retry`` of those that succeeded."""

    succeeded: int = 0
    failed: int = 0
    cancelled: int = 0
    skipped: int = 0
    unfinished: int = 0
    after_retry: int = 0

    @property
    def n(self) -> int:
        """Return how many jobs the rate is of."""
        return self.succeeded + self.failed

    @property
    def rate(self) -> float | None:
        """Return the share that succeeded, None where none ended by itself."""
        return self.succeeded / self.n if self.n else None

    @property
    def interval(self) -> tuple[float, float] | None:
        """Return the 95 % Wilson interval of the rate, None without one."""
        return None if self.rate is None else wilson(self.rate, self.n)


@dataclass(frozen=True, slots=True)
class JobGroup:
    """The jobs of one GPU, cluster or config key; ``name`` is empty where unknown.

    ``hardware`` gives the colour. ``failing_runs`` counts runs with a failed job,
    ``newest_failing`` names the newest of them.
    """

    name: str
    hardware: str
    counts: JobCounts
    runs: int
    failing_runs: int
    newest_failing: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class StatGroup:
    """What runs counted themselves under a label: successes of all that ended."""

    name: str
    hardware: str
    succeeded: int
    total: int
    runs: int

    @property
    def rate(self) -> float | None:
        """Return the share that succeeded, None where no job was counted."""
        return self.succeeded / self.total if self.total else None

    @property
    def interval(self) -> tuple[float, float] | None:
        """Return the 95 % Wilson interval of the rate, None without one."""
        return None if self.rate is None else wilson(self.rate, self.total)


@dataclass(frozen=True, slots=True)
class TrendPoint:
    """The jobs of one group in the period that begins at a day; None is all jobs."""

    group: str | None
    begin: date
    counts: JobCounts


def in_order(groups: Iterable[JobGroup], order: str = WORST) -> list[JobGroup]:
    """Return groups in one of the ``ORDERS``; of equal ones worse, more, then by name.

    Worst is the lowest rate. Groups without a job that succeeded or failed are last in
    it: nothing is known of them.
    """
    worst = sorted(groups, key=lambda g: (*_worst(g.counts.rate, g.counts.n), g.name))
    match order:
        case "failed":
            return sorted(worst, key=lambda group: -group.counts.failed)
        case "jobs":
            return sorted(worst, key=lambda group: -group.counts.n)
        case "name":
            return sorted(worst, key=lambda group: group.name)
    return worst


def worst_stats_first(stats: Iterable[StatGroup]) -> list[StatGroup]:
    """Return what runs counted, the lowest rate first."""
    return sorted(stats, key=lambda one: (*_worst(one.rate, one.total), one.name))


def summed(counts: Iterable[JobCounts]) -> JobCounts:
    """Return several counts as one."""
    told = list(counts)
    names = [field.name for field in fields(JobCounts)]
    return JobCounts(
        **{name: sum(getattr(one, name) for one in told) for name in names}
    )


def begins(since: date, until: date, period: Period) -> list[date]:
    """Return the first days of all periods from one day to another, both included."""
    found = [begin_of(since, period)]
    while (following := _next(found[-1], period)) <= until:
        found.append(following)
    return found


def begin_of(day: date, period: Period) -> date:
    """Return the first day of a day's period; a week begins on Monday."""
    if period == "week":
        return day - timedelta(days=day.weekday())
    return day.replace(day=1) if period == "month" else day


def _next(begin: date, period: Period) -> date:
    if period == "month":
        return (begin + timedelta(days=31)).replace(day=1)
    return begin + timedelta(days=7 if period == "week" else 1)


def _worst(rate: float | None, n: int) -> tuple[bool, float, int]:
    return rate is None, 0.0 if rate is None else rate, -n


def period_of(since: date, until: date) -> Period:
    """Return how long the periods of a chart are over these days."""
    days = (until - since).days
    if days <= MOST_DAYS:
        return "day"
    return "week" if days <= MOST_WEEKS_DAYS else "month"
