"""What the calculator is made of: the keys, their readings, bars, rows and words."""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any, NamedTuple

import pandas as pd
from django.http import HttpRequest
from django.urls import reverse

from dashboard.analysis.axis_notes import AxisNote, axis_note
from dashboard.analysis.calculator import Reading, read_at, usual_target
from dashboard.analysis.curves import Curve, curves
from dashboard.analysis.pareto import goodness
from dashboard.charts.calculator import MOST_BARS, Bar, bars_export, bars_figure
from dashboard.charts.exports import Words
from dashboard.charts.frontier import Figure, curve_look
from dashboard.charts.theme import Look
from dashboard.forms.calculator import CalculatorForm
from dashboard.forms.selection import Selection
from dashboard.queries import inference as queries
from dashboard.queries.point_evals import with_evals
from dashboard.queries.prices import prices_at
from dashboard.templatetags.site import sig4
from dashboard.vocabulary.frameworks import framework_label
from dashboard.vocabulary.hardware import hardware_label, hardware_order
from dashboard.vocabulary.metrics import METRICS, Metric
from dashboard.vocabulary.prices import Prices
from dashboard.vocabulary.scenarios import scenario_label

MOST_RUNS = 8
COLUMNS = (
    *("config_key", "hardware", "framework", "precision", "model", "scenario"),
    *("metric", "unit", "value", "x_metric", "at", "x_measured", "why_blank"),
    *("deployment", "concurrency", "gpus", "prefill_gpus", "decode_gpus"),
    *("terms", "run_id", "run_url", "attempt", "measured_at", "checkpoint", "image"),
)
BRIEF = ("config_key", "metric", "unit", "value", "x_measured", "deployment")
BRIEF_SOURCES = ("concurrency", "run_id", "measured_at", "checkpoint")


class Cell(NamedTuple):
    """A reading in the table; ``why`` says why it is blank, ``terms`` what it is of.

    ``is_other`` tells a point that is not the one of the row's first metric.
    """

    reading: Reading
    why: str
    terms: str
    is_other: bool


class KeyRow(NamedTuple):
    """One config key: a cell per metric, and the point that most of them are of."""

    curve: Curve
    look: Look
    cells: list[Cell]
    x_name: str

    @property
    def point(self) -> Mapping[Hashable, Any] | None:
        """Return the point of the first metric that has a value."""
        points = (cell.reading.point for cell in self.cells)
        return next((point for point in points if point is not None), None)

    @property
    def x(self) -> float | None:
        """Return the x of that point."""
        return None if self.point is None else float(self.point[self.x_name])

    @property
    def run_path(self) -> str:
        """Return the page of the run that measured that point."""
        return reverse("run", args=[self.point["run_id"]]) if self.point else ""


class Chart(NamedTuple):
    """One metric's chart, its words, and how many keys are blank or not drawn."""

    metric: Metric
    figure: Figure
    alone: Figure
    sentences: list[str]
    blank: int
    left_out: int

    @property
    def figure_id(self) -> str:
        """Return the name of the figure in the page."""
        return f"{self.metric.name}-figure"

    @property
    def alone_id(self) -> str:
        """Return the name of the layout that the figure has away from the page."""
        return f"{self.metric.name}-alone"


@dataclass(frozen=True)
class Calculated:
    """The keys of a valid form at its target; each part is read once."""

    form: CalculatorForm
    now: datetime

    @cached_property
    def chosen(self) -> Selection:
        """The model, scenario, x and filters."""
        return self.form.selection

    @cached_property
    def prices(self) -> Prices:
        """The prices and power of the day shown."""
        return prices_at(self.chosen.moment or self.now, self.chosen.custom)

    @cached_property
    def curves(self) -> list[Curve]:
        """The curves that pass the filters, in the order of legends."""
        found = curves(s for s in self.form.offered if self.chosen.takes(s))
        return sorted(
            found, key=lambda c: (hardware_order(c.sweep.hardware), c.config_key)
        )

    @cached_property
    def points(self) -> pd.DataFrame:
        """The points of the curves that pass, with every metric that is read."""
        filters = self.chosen.filters
        where = queries.places(filters.deployment, filters.offload, filters.spec)
        names = (self.chosen.x, *self.form.metrics)
        found = queries.points(self.curves, names, where, prices=self.prices)
        if not self.chosen.gate:
            return found
        judged = with_evals(found)
        return judged[judged["is_gated_in"].astype(bool)]

    @cached_property
    def metrics(self) -> list[Metric]:
        """What is read; what no point has is left out, throughput and cost never."""
        names = self.form.metrics
        has = [self.points[name].notna().any() for name in names]
        return [METRICS[n] for n, is_known in zip(names, has, strict=True) if is_known]

    @cached_property
    def at(self) -> float | None:
        """The target: what is asked for, else one that half of the keys reach."""
        if self.chosen.at is not None:
            return self.chosen.at
        return usual_target(self.points, self.chosen.x, self.form.metrics[0])

    @cached_property
    def readings(self) -> dict[str, dict[str, Reading]]:
        """The reading of each metric and key."""
        if self.at is None:
            return {}
        return read_at(
            self.points, self.chosen.x, [m.name for m in self.metrics], self.at
        )

    @cached_property
    def rows(self) -> list[KeyRow]:
        """A row per key: those with the best first metric on top, blank ones last."""
        if not self.readings or not self.metrics:
            return []
        keys = set(self.points["config_key"])
        found = [
            KeyRow(curve, curve_look(curve), self._cells(curve), self.chosen.x)
            for curve in self.curves
            if curve.config_key in keys
        ]
        return sorted(found, key=lambda row: _order(row.cells[0].reading, self.metrics))

    def _cells(self, curve: Curve) -> list[Cell]:
        key = curve.config_key
        first = self.readings[self.metrics[0].name][key].point
        cells = []
        for metric in self.metrics:
            reading = self.readings[metric.name][key]
            terms = self._terms(metric.name, key, reading)
            is_other = bool(
                first
                and reading.point
                and first["point_id"] != reading.point["point_id"]
            )
            why = "" if reading.point else self._why(reading, terms)
            cells.append(Cell(reading, why, terms if reading.point else "", is_other))
        return cells

    def _terms(self, name: str, key: str, reading: Reading) -> str:
        column = f"{name}_terms"
        if column not in self.points:
            return ""
        if reading.point is not None:
            return str(reading.point[column])
        # Without any value the terms say why.
        return str(self.points.loc[self.points["config_key"].eq(key), column].iloc[0])

    def _why(self, reading: Reading, terms: str) -> str:
        if reading.reaches is None:
            return terms or "not measured"
        unit = METRICS[self.chosen.x].unit
        return f"ends at {sig4(reading.reaches)} {unit}"

    def notes(self, metric: Metric) -> AxisNote:
        """Return what is said at the axis of a metric."""
        return axis_note(self.points, metric.name, self.prices)

    @property
    def title(self) -> str:
        """What is shown, in one line."""
        of = f"{self.chosen.model} {scenario_label(self.chosen.scenario)}"
        return f"{of} at {self.target}"

    @property
    def target(self) -> str:
        """The target in words: ``50 tok/s/user of median interactivity or more``."""
        x = METRICS[self.chosen.x]
        return f"{self.at or 0:g} {x.unit} of {x.phrase} or more"

    def table(self) -> Iterator[list[object]]:
        """Yield the rows of files, one per key and metric, in ``COLUMNS``."""
        for row in self.rows:
            for metric, cell in zip(self.metrics, row.cells, strict=True):
                yield [*self._of_key(row.curve), *self._of_cell(metric, cell)]

    def _of_key(self, curve: Curve) -> list[object]:
        sweep = curve.sweep
        names = (sweep.config_key, sweep.hardware, sweep.framework, sweep.precision)
        return [*names, self.chosen.model, self.chosen.scenario]

    def _of_cell(self, metric: Metric, cell: Cell) -> list[object]:
        point = cell.reading.point or {}
        x = self.chosen.x
        return [
            *(metric.name, metric.unit, cell.reading.value, x, self.at),
            *(point.get(x), cell.why),
            *map(point.get, ("deployment", "concurrency", "gpus")),
            *map(point.get, ("prefill_gpus", "decode_gpus")),
            cell.terms,
            *map(point.get, ("run_id", "run_url", "attempt", "measured_at")),
            *map(point.get, ("checkpoint", "image")),
        ]


def _order(reading: Reading, metrics: Sequence[Metric]) -> tuple[bool, float]:
    if reading.value is None:
        return True, 0.0
    return False, -float(goodness(metrics[0].name, [reading.value])[0])


def charts(request: HttpRequest, shown: Calculated) -> list[Chart]:
    """Return a chart per metric of which some key has a value at the target."""
    found = []
    for place, metric in enumerate(shown.metrics):
        bars = _bars(shown, place, metric)
        if not bars:
            continue
        note = shown.notes(metric)
        figure = bars_figure(bars, metric, note.text)
        words = _words(request, shown, metric, note)
        found.append(
            Chart(
                metric,
                figure,
                bars_export(figure, words),
                note.sentences,
                len(shown.rows) - len(bars),
                max(len(bars) - MOST_BARS, 0),
            )
        )
    return found


def _bars(shown: Calculated, place: int, metric: Metric) -> list[Bar]:
    """Return the bars of a metric, best first."""
    bars = [
        bar
        for row in shown.rows
        if (bar := _bar(shown, row, row.cells[place], metric)) is not None
    ]
    better = goodness(metric.name, [bar.value for bar in bars])
    order = sorted(range(len(bars)), key=lambda n: -better[n])
    return [bars[n] for n in order]


def _bar(shown: Calculated, row: KeyRow, cell: Cell, metric: Metric) -> Bar | None:
    point, value = cell.reading.point, cell.reading.value
    if point is None or value is None:
        return None
    x = METRICS[shown.chosen.x]
    lines = [
        f"{sig4(value)} {metric.unit}",
        f"measured at {sig4(point[x.name])} {x.unit}",
        f"{point['deployment']}, c{point['concurrency']}",
        f"run {point['run_id']}, {point['measured_at']:%Y-%m-%d}",
        *filter(None, (str(point["checkpoint"]), cell.terms)),
    ]
    key = row.curve.config_key
    return Bar(key, _short(row.curve), value, sig4(value), row.look, lines)


def _short(curve: Curve) -> str:
    sweep = curve.sweep
    methods = (method for method in sweep.spec_methods if method != "none")
    names = (hardware_label(sweep.hardware), framework_label(sweep.framework))
    return " ".join(filter(None, (*names, sweep.precision, *methods)))


def _words(
    request: HttpRequest, shown: Calculated, metric: Metric, note: AxisNote
) -> Words:
    """Return what a chart says of itself away from its page."""
    runs = sorted({row.point["run_id"] for row in shown.rows if row.point})
    named = ", ".join(map(str, runs[:MOST_RUNS]))
    more = f" and {len(runs) - MOST_RUNS} more" if len(runs) > MOST_RUNS else ""
    day = shown.chosen.moment or shown.now
    address = request.build_absolute_uri(request.get_full_path())
    lines = [
        f"Best measured at {shown.target}, as of {day:%Y-%m-%d} (UTC)",
        *note.sentences,
        f"Runs {named}{more}",
        f"Source: Frontierboard, {address}",
    ]
    return Words(f"{shown.title}: {metric.phrase}", lines)
