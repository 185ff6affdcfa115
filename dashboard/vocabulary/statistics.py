"""Names of metrics taken apart: which statistic of which quantity they are."""

from collections.abc import Iterable
from typing import NamedTuple

from dashboard.vocabulary.metrics import METRICS, Metric

# Statistic to how a column is headed, in the order in which they are read.
STATISTICS = {
    "mean": "Mean",
    "median": "Median",
    "p75": "p75",
    "p90": "p90",
    "p95": "p95",
    "p99": "p99",
    "p99.9": "p99.9",
    "std": "Std. dev.",
}
# Quantities that only replayed traces have.
OF_TRACES = frozenset(
    {
        "full_response_itl",
        "full_response_intvty",
        "e2e_norm_intvty",
        "qps",
        "input_tokens",
        "output_tokens_actual",
        "output_tokens_expected",
    }
)
_WORDS = {**STATISTICS, "std": "Standard deviation of"}


class Quantity(NamedTuple):
    """What is measured, with the names of its statistics; unit as in the registry."""

    name: str
    label: str
    unit: str
    family: str
    metrics: dict[str, Metric]


def split(name: str) -> tuple[str, str] | None:
    """Return (statistic, quantity) of a metric's name; None for one of its own."""
    statistic, _, quantity = name.partition("_")
    return (statistic, quantity) if statistic in STATISTICS and quantity else None


def quantities(metrics: Iterable[Metric] = METRICS.values()) -> dict[str, Quantity]:
    """Return the quantities of the registry that have statistics, in its order."""
    found: dict[str, Quantity] = {}
    for metric in metrics:
        parts = split(metric.name)
        if parts is None:
            continue
        statistic, name = parts
        label = metric.label.removeprefix(f"{_WORDS[statistic]} ")
        label = label[:1].upper() + label[1:]
        new = Quantity(name, label, metric.unit, metric.family, {})
        found.setdefault(name, new).metrics[statistic] = metric
    return found


def singles(metrics: Iterable[Metric] = METRICS.values()) -> list[Metric]:
    """Return the metrics that are no statistic of a quantity."""
    return [metric for metric in metrics if split(metric.name) is None]
