"""What the page of reliability shows of the jobs under its filters."""

from dataclasses import dataclass
from functools import cached_property

from dashboard.charts.frontier import Figure
from dashboard.charts.reliability import RateLine, reliability_figure
from dashboard.forms.reliability import DIMENSIONS
from dashboard.queries import reliability as queries
from dashboard.queries.reliability import FailingRun
from dashboard.queries.reliability_report import ReliabilityReport
from dashboard.vocabulary.hardware import hardware_label

# More lines are no picture any more; the file of the trend holds all groups.
MOST_LINES = 6
MOST_RUNS = 25
ALL_JOBS = "all jobs"
UNKNOWN = "unknown"


@dataclass(frozen=True)
class ReliabilityShown(ReliabilityReport):
    """What a valid form asks to show: the jobs, their chart and their words."""

    @cached_property
    def lines(self) -> list[RateLine]:
        """The lines of the chart: all jobs, and the first groups of the table."""
        drawn = [group for group in self.groups if group.counts.n][:MOST_LINES]
        named: list[tuple[str | None, str, str]] = []
        if len(drawn) != 1:
            named.append((None, ALL_JOBS, ""))
        named += [(g.name, self.label(g.name), g.hardware) for g in drawn]
        return [
            RateLine(
                group,
                label,
                hardware,
                {p.begin: p.counts for p in self.trend if p.group == group},
            )
            for group, label, hardware in named
        ]

    @cached_property
    def figure(self) -> Figure | str:
        """The chart, or why there is none."""
        return reliability_figure(self.lines, self.begins)

    @cached_property
    def failing(self) -> list[FailingRun]:
        """The newest runs with failed or cancelled jobs, one more than are shown."""
        return queries.failing_runs(self.filters, MOST_RUNS + 1)

    def label(self, name: str) -> str:
        """Return how a group is called on the page."""
        if not name:
            return UNKNOWN
        return hardware_label(name) if self.filters.by == "hardware" else name

    @property
    def title(self) -> str:
        """What is shown, in one line."""
        kind = {"": "Job", "throughput": "Throughput job", "eval": "Eval job"}
        which = "official" if self.filters.is_official else "unofficial"
        only = self.filters.group
        of = f" on {self.label(only)}" if only else ""
        by = f" by {DIMENSIONS[self.filters.by]}" if not only else ""
        return f"{kind[self.filters.kind]} success{of}{by}, {which} runs"
