"""The charts of a regression: before and after, and the history where it is worst."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple
from urllib.parse import urlencode

from django.http import HttpRequest, QueryDict
from django.utils import timezone

from dashboard.analysis.step_curves import paired_stretches, step_curve
from dashboard.analysis.verdicts import Verdict
from dashboard.charts import theme
from dashboard.charts.comparison import DrawnSide, base_look, comparison_figure
from dashboard.charts.exports import Words, export_layout
from dashboard.charts.frontier import Axes, Figure
from dashboard.charts.history import history_export
from dashboard.forms.keys import POINT, KeyForm
from dashboard.models import Regression
from dashboard.queries.key_history import official_history
from dashboard.queries.regression_page import RegressionReport, SidePoints
from dashboard.views.key_parts import KeyShown
from dashboard.vocabulary.metrics import METRICS
from dashboard.vocabulary.scenarios import scenario_label

# Where points decide something, the gap has a colour that judges.
JUDGED = frozenset((Verdict.REGRESSION, Verdict.MIXED, Verdict.IMPROVEMENT))
GONE = "One of the two sweeps is not stored any more."


def before_and_after(report: RegressionReport) -> Figure | str:
    """Return base and head over each other, or why they are not drawn."""
    if report.both is None:
        return GONE
    row = report.regression
    base, head = report.both
    look = theme.look(
        hardware=row.config_key.hardware,
        framework=row.config_key.framework,
        precision=row.config_key.precision,
        is_speculative=bool(head.side.identity.spec_methods - {"none"}),
    )
    old = _drawn("base", base, base_look(look, look), report.axes)
    new = _drawn("head", head, look, report.axes)
    gap = paired_stretches(base.points, head.points, *report.axes)
    is_performance = row.kind == Regression.Kind.PERFORMANCE
    told = report.verdict.get("performance", report.verdict.get("verdict"))
    is_judged = is_performance or told in JUDGED
    return comparison_figure(old, new, gap, Axes(*report.axes), is_judged=is_judged)


def _drawn(
    role: str, side: SidePoints, look: theme.Look, axes: tuple[str, str]
) -> DrawnSide:
    corners = step_curve(side.points, *axes)
    return DrawnSide(role, side.side.name, side.points, corners, look)


class KeyHistory(NamedTuple):
    """The history of a key, and how the key's own page is asked for the same."""

    shown: KeyShown
    query: str


def history_of(report: RegressionReport) -> KeyHistory | None:
    """Return the history of the key at the place that got worse, if it has one.

    The best values of the key where no stored sweep measured that place, and where the
    candidate did not, since its own point is what people look for.
    """
    row = report.regression
    sweeps = official_history(row.config_key)
    for asked in _histories(report):
        query = urlencode(asked)
        form = KeyForm(QueryDict(query), sweeps)
        if form.is_valid():
            return KeyHistory(KeyShown(row.config_key, form.view, sweeps), query)
    return None


def _histories(report: RegressionReport) -> Iterator[Mapping[str, str]]:
    scenario = {"scenario": report.regression.scenario}
    is_measured = report.regression.kind != Regression.Kind.COVERAGE
    if report.places and is_measured:
        label, concurrencies = report.places[0]
        yield scenario | {
            "show": POINT,
            "metric": report.axes[1],
            "deployment": str(label),
            "concurrency": str(concurrencies[-1]),
        }
    yield scenario


def alone(request: HttpRequest, report: RegressionReport) -> Figure:
    """Return the layout of the first chart away from its page."""
    x, y = (METRICS[name] for name in report.axes)
    title = f"{report.regression.config_key.key}: {y.phrase} against {x.phrase}"
    return export_layout(_words(request, report, title), 2, None)


def history_alone(
    request: HttpRequest, report: RegressionReport, shown: KeyShown, figure: Figure
) -> Figure:
    """Return the layout of the history away from its page."""
    title = f"{report.regression.config_key.key}: {shown.heading}"
    words = _words(request, report, title)
    return history_export(figure, words, len(shown.series))


def _words(request: HttpRequest, report: RegressionReport, title: str) -> Words:
    place = request.build_absolute_uri(request.path)
    runs = [side.side.name for side in report.both or ()]
    return Words(
        f"{title}, {scenario_label(report.regression.scenario)}",
        [
            f"As of {timezone.now():%Y-%m-%d} (UTC)",
            "; ".join(runs),
            f"Source: Frontierboard, {place}",
        ],
    )
