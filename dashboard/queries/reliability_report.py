"""The jobs under the filters of the page of reliability, each part read once."""

from dataclasses import dataclass
from datetime import date
from functools import cached_property

from dashboard.analysis.reliability import (
    JobCounts,
    JobGroup,
    Period,
    StatGroup,
    TrendPoint,
    begins,
    period_of,
    summed,
)
from dashboard.queries import reliability as queries
from dashboard.queries.reliability import ReliabilityFilters, Span


@dataclass(frozen=True)
class ReliabilityReport:
    """Groups, sums, periods and statistics of the jobs that the filters leave."""

    filters: ReliabilityFilters
    order: str

    @cached_property
    def groups(self) -> list[JobGroup]:
        """The jobs by group, in order."""
        return queries.job_groups(self.filters, self.order)

    @cached_property
    def total(self) -> JobCounts:
        """All jobs together."""
        return summed(group.counts for group in self.groups)

    @cached_property
    def stats(self) -> list[StatGroup]:
        """What the runs counted themselves."""
        return queries.run_stats(self.filters)

    @cached_property
    def span(self) -> Span:
        """From when to when there are jobs, and of how many runs."""
        return queries.span(self.filters)

    @property
    def days(self) -> tuple[date, date] | None:
        """The first and the last day with jobs, None without any."""
        first, last = self.span.first, self.span.last
        return None if first is None or last is None else (first, last)

    @property
    def period(self) -> Period:
        """How long the periods of the trend are."""
        return period_of(*self.days) if self.days else "day"

    @cached_property
    def begins(self) -> list[date]:
        """The first days of the periods, those without jobs too."""
        return begins(*self.days, self.period) if self.days else []

    @cached_property
    def trend(self) -> list[TrendPoint]:
        """The jobs by period and group, all jobs of a period before its groups."""
        by_begin: dict[date, list[TrendPoint]] = {}
        for point in queries.trend(self.filters, self.period):
            by_begin.setdefault(point.begin, []).append(point)
        return [
            point
            for begin, points in by_begin.items()
            for point in (
                TrendPoint(None, begin, summed(p.counts for p in points)),
                *points,
            )
        ]
