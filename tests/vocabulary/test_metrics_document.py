"""docs/metrics.md says of every metric what the registry says, and names no other."""

from itertools import groupby
from pathlib import Path

from dashboard.forms.official_metrics import OFFICIAL
from dashboard.vocabulary.metrics import METRICS, Metric

DOCUMENT = Path(__file__).parents[2] / "docs" / "metrics.md"
STATISTICS = ("mean", "median", "p75", "p90", "p95", "p99", "p99.9", "std")
BETTER = {"higher": "higher", "lower": "lower", "none": "-"}


def quantity(metric: Metric) -> str:
    """Return the name with ``*`` for its statistic: ``*_ttft`` of ``p99_ttft``."""
    statistic, _, rest = metric.name.partition("_")
    return f"*_{rest}" if statistic in STATISTICS else metric.name


def rows() -> list[str]:
    found = []
    for name, group in groupby(METRICS.values(), key=quantity):
        same = list(group)
        one = same[0]
        label = one.label.removeprefix("Mean ")
        label = label[:1].upper() + label[1:]
        unit = one.unit or "fraction"
        better = BETTER[one.direction]
        cells = (label, f"`{name}`", unit, better, one.formula)
        found.append(f"| {' | '.join(cells)} |")
    return found


def section(title: str) -> list[str]:
    text = DOCUMENT.read_text().partition(f"## {title}\n")[2].partition("\n## ")[0]
    return [line for line in text.splitlines() if line.startswith("| ")][2:]


def test_every_metric_stands_there_with_unit_direction_and_formula():
    assert section("Every metric") == rows()


def test_every_official_name_stands_there_with_its_metric():
    expected = [f"| `y_{name}` | `{metric}` |" for name, metric in OFFICIAL.items()]
    assert section("Names of the official chart") == expected


def test_the_statistics_of_a_quantity_are_those_that_it_names():
    text = DOCUMENT.read_text()
    named = ", ".join(f"`{name}`" for name in STATISTICS)
    assert named in text
    of = {name for name in METRICS if name.partition("_")[0] in STATISTICS}
    without_std = {q for q in map(quantity, METRICS.values()) if "std" not in q}
    assert "std_intvty" not in of
    assert "*_intvty" in without_std
