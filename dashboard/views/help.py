"""The help page: every word, metric, flag and reason, each with its own anchor."""

from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import NamedTuple

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from dashboard.forms.unofficial import MOST_RUNS
from dashboard.vocabulary.flags import FLAGS
from dashboard.vocabulary.metrics import METRICS, Metric
from dashboard.vocabulary.skips import SKIP_REASONS
from dashboard.vocabulary.words import CHAPTERS

FIRST_FAMILIES = ("Interactivity", "Throughput", "Latency", "Power and energy")
STATISTICS = {"mean", "median", "p75", "p90", "p95", "p99", "p99.9", "std"}
DIRECTIONS = {
    "higher": "higher is better",
    "lower": "lower is better",
    "none": "neither",
}


class MetricRow(NamedTuple):
    """One quantity, in all statistics in which it is stored."""

    label: str
    metrics: list[Metric]

    @property
    def first(self) -> Metric:
        """Return the metric whose unit, direction and formula all of them share."""
        return self.metrics[0]

    @property
    def direction(self) -> str:
        """Return which way is better, in words."""
        return DIRECTIONS[self.first.direction]


@require_safe
def help_page(request: HttpRequest) -> HttpResponse:
    context = {
        "chapters": CHAPTERS,
        "families": _families(),
        "flags": FLAGS.values(),
        "skips": SKIP_REASONS.values(),
        "most_runs": MOST_RUNS,
    }
    return render(request, "help.html", context)


def _families() -> dict[str, list[MetricRow]]:
    families: dict[str, list[MetricRow]] = {name: [] for name in FIRST_FAMILIES}
    for row in _rows(METRICS.values()):
        families.setdefault(row.first.family, []).append(row)
    return families


def _rows(metrics: Iterable[Metric]) -> Iterator[MetricRow]:
    for _, group in groupby(metrics, key=_quantity):
        same = list(group)
        label = same[0].label
        if len(same) > 1:
            label = label.removeprefix("Mean ")
            label = label[:1].upper() + label[1:]
        yield MetricRow(label, same)


def _quantity(metric: Metric) -> str:
    """Return the name without its statistic: ``ttft`` of ``p99.9_ttft``."""
    statistic, _, rest = metric.name.partition("_")
    return rest if statistic in STATISTICS else metric.name
