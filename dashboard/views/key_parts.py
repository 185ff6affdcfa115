"""What the page of a key is made of: each part read once, and only where asked for."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import pandas as pd

from dashboard.analysis.axis_notes import axis_note
from dashboard.analysis.curves import Curve
from dashboard.analysis.eval_gate import RULE
from dashboard.analysis.history import (
    Ghost,
    History,
    HistorySweep,
    Series,
    Value,
    area_series,
    best_series,
    default_place,
    default_targets,
    history_of,
    place_series,
    under_its_date,
)
from dashboard.analysis.key_grid import KeyGrid, key_grid
from dashboard.analysis.pareto import standings
from dashboard.charts.frontier import Axes, Figure, curve_look
from dashboard.charts.history import HistoryAxis, history_figure, series_look
from dashboard.charts.key_frontier import GhostPoints, ghost_look, key_frontier
from dashboard.charts.theme import Look
from dashboard.forms.keys import AREA, BEST, EVALS, POINT, KeyView
from dashboard.models import ConfigKey
from dashboard.queries import inference as point_queries
from dashboard.queries.key_history import KeyEval, history_points, official_evals
from dashboard.queries.point_evals import with_evals
from dashboard.queries.prices import prices_at
from dashboard.views.point_tables import in_table_order
from dashboard.vocabulary.metrics import METRICS, PRICED, Metric, default_axes
from dashboard.vocabulary.scenarios import AGENTIC, scenario_label


class LegendLine(NamedTuple):
    """A line of the frontier chart: the curve, how it is drawn, what it is called."""

    curve: Curve
    look: Look
    words: str


class HistoryRow(NamedTuple):
    """A sweep of the history and its value of each series; None is blank."""

    sweep: HistorySweep
    values: list[Value | None]


@dataclass(frozen=True)
class KeyShown:
    """A config key, what of it is asked for, and its official sweeps."""

    key: ConfigKey
    view: KeyView
    sweeps: Sequence[HistorySweep]

    @cached_property
    def history(self) -> History:
        """The sweeps of the scenario shown, oldest first."""
        view = self.view
        here = (s for s in self.sweeps if s.facts.scenario == view.scenario)
        return history_of(filter(view.holds, here))

    @property
    def x(self) -> Metric:
        """The interactivity that the scenario is judged by."""
        return METRICS[self._axes[0]]

    @property
    def y(self) -> Metric:
        """The throughput that it is judged by."""
        return METRICS[self._axes[1]]

    @property
    def _axes(self) -> tuple[str, str]:
        return default_axes(agentic=self.view.scenario == AGENTIC)

    @cached_property
    def history_points(self) -> pd.DataFrame:
        """The points of all sweeps, in the columns that the page needs."""
        names = [*self._axes]
        if self.view.show == POINT:
            names.append(self.view.metric)
        return history_points(self.key, self.view.scenario, names)

    @cached_property
    def evals(self) -> list[KeyEval]:
        """The scores of the official runs, newest first."""
        if not self.view.scenario:
            return []
        return official_evals(self.key, self.view.scenario, self.history.sweeps)

    # The frontier

    @cached_property
    def _placed(self) -> pd.DataFrame:
        """The points of the current curve and its ghosts; ``line`` tells them apart."""
        current = self.history.current
        drawn = [*([current] if current else []), *(g.curve for g in self._ghosts)]
        line = {s.sweep_id: n for n, curve in enumerate(drawn) for s in curve.sweeps}
        found = point_queries.points(drawn, self._axes)
        placed = with_evals(found.assign(line=found["sweep_id"].map(line)))
        if self.view.gate:
            placed = placed[placed["is_gated_in"].astype(bool)]
        return placed.assign(standing=standings(placed, "line", *self._axes))

    @property
    def _ghosts(self) -> list[Ghost]:
        return self.history.ghosts

    @cached_property
    def points(self) -> pd.DataFrame:
        """The points of the current curve, with their standing, by interactivity."""
        current = self.history.current
        placed = self._placed
        drawn = [current] if current else []
        return in_table_order(placed[placed["line"].eq(0)], drawn, self.x.name)

    @cached_property
    def frontier(self) -> Figure | str:
        """The frontier chart, or why there is none."""
        current = self.history.current
        if current is None:
            return self._no_sweep()
        placed = self._placed
        if self.view.gate and self.points.empty:
            return f"No point passes the gate of evals. {RULE}"
        ghosts = [
            GhostPoints(ghost, placed[placed["line"].eq(n)])
            for n, ghost in enumerate(self._ghosts, start=1)
        ]
        return key_frontier(self.points, current, Axes(*self._axes), ghosts)

    @cached_property
    def legend(self) -> list[LegendLine]:
        """What the lines of the frontier chart are."""
        current = self.history.current
        if current is None:
            return []
        return [
            LegendLine(current, curve_look(current), "current sweep"),
            *(
                LegendLine(g.curve, ghost_look(g, current), g.words.split(",")[0])
                for g in self._ghosts
            ),
        ]

    # The history

    @cached_property
    def targets(self) -> tuple[float, ...]:
        """The interactivities asked for, else round ones of the current frontier."""
        if self.view.targets or self.history.current is None:
            return self.view.targets
        newest = self.history.counted[-1].sweep_id
        joined = under_its_date(self.history_points, self.history)
        return default_targets(joined[joined["at_sweep"].eq(newest)], *self._axes)

    @property
    def targets_text(self) -> str:
        """The interactivities as they are typed."""
        return ", ".join(f"{at:g}" for at in self.targets)

    @cached_property
    def place(self) -> tuple[str, int] | None:
        """The deployment and concurrency asked for, else the one measured most."""
        asked = (self.view.deployment, self.view.concurrency)
        if asked[0] and asked[1] is not None:
            return asked[0], asked[1]
        fitting = History(
            tuple(replace(s, grid=_narrowed(s, *asked)) for s in self.history.sweeps)
        )
        return default_place(fitting) or default_place(self.history)

    @property
    def place_concurrency(self) -> str:
        """The concurrency of the place, as the form's choice writes it."""
        return str(self.place[1]) if self.place else ""

    @cached_property
    def series(self) -> list[Series]:
        """What the history chart draws and its table lists."""
        if not self.history.sweeps:
            return []
        if self.view.show == BEST:
            return best_series(
                self.history_points, self.history, *self._axes, self.targets
            )
        if self.view.show == AREA:
            return [area_series(self.history_points, self.history, *self._axes)]
        if self.view.show == EVALS:
            return eval_series(self.evals)
        if self.place is None:
            return []
        return [place_series(self.history_points, self.view.metric, *self.place)]

    @property
    def _look(self) -> Look:
        current = self.history.current
        return curve_look(current or Curve(self.history.sweeps[-1].facts))

    @property
    def series_legend(self) -> list[tuple[Look, Series]]:
        """What the lines of the history chart are."""
        return [(series_look(self._look, n), one) for n, one in enumerate(self.series)]

    @cached_property
    def history_chart(self) -> Figure | str:
        """The history chart, or why there is none."""
        if not self.history.sweeps:
            return self._no_sweep()
        axis = HistoryAxis(self.value_title, self._nothing())
        return history_figure(self.series, self.history, self._look, axis)

    @property
    def value_title(self) -> str:
        """The title of the history's values, with their unit."""
        if self.view.show == AREA:
            return f"Hypervolume ({self.x.unit} \u00d7 {self.y.unit})"
        if self.view.show == EVALS:
            return "Score (fraction)"
        if self.view.show == POINT:
            return self._metric_title
        return f"Best {self.y.phrase} ({self.y.unit})"

    @property
    def _metric_title(self) -> str:
        """The metric with its unit, and whose prices and which GPUs count."""
        name = self.view.metric
        prices = prices_at(None) if name in PRICED else None
        said = axis_note(self.history_points, name, prices)
        return "; ".join([METRICS[name].title, *said.sentences])

    @property
    def heading(self) -> str:
        """What the history chart shows, in a few words."""
        if self.view.show == AREA:
            return f"area under {self.y.phrase} over {self.x.phrase}"
        if self.view.show == EVALS:
            return "eval scores with their 95 % interval"
        if self.view.show == POINT:
            place = f" at {self.place[0]} c{self.place[1]}" if self.place else ""
            return f"{METRICS[self.view.metric].phrase}{place}"
        at = f"{self.targets_text} {self.x.unit}" if self.targets else "a target"
        return f"best {self.y.phrase} at {at} or more"

    def _nothing(self) -> str:
        if self.view.show == EVALS:
            return "No official run with a sweep of this key left an eval score."
        if self.view.show == POINT:
            place = f"{self.place[0]} c{self.place[1]}" if self.place else "any place"
            return f"No sweep measured {METRICS[self.view.metric].phrase} at {place}."
        if self.view.show == BEST and self.targets:
            at = f"{self.targets_text} {self.x.unit}"
            return f"No sweep reaches a {self.x.phrase} of {at}."
        return f"No sweep has a point with both {self.x.phrase} and {self.y.phrase}."

    def _no_sweep(self) -> str:
        held = [s for s in self.history.sweeps if s.is_held]
        if held:
            return "Every official sweep of this key is held."
        of = f" of {scenario_label(self.view.scenario)}" if self.view.scenario else ""
        return f"No official sweep{of} of this key is stored yet."

    @cached_property
    def rows(self) -> list[HistoryRow]:
        """The rows of the history's table, newest first."""
        return [
            HistoryRow(sweep, [one.values.get(sweep.sweep_id) for one in self.series])
            for sweep in reversed(self.history.sweeps)
        ]

    @property
    def has_bounds(self) -> bool:
        """Tell whether some value has an interval."""
        return any(v.low is not None for s in self.series for v in s.values.values())

    @cached_property
    def grid(self) -> KeyGrid:
        """Every place that was ever measured."""
        return key_grid(self.history, self.history_points, self.y.name)


def eval_series(scores: Sequence[KeyEval]) -> list[Series]:
    """Return a series per task and place: what the task is judged by, and its floor."""
    by_place: dict[str, list[KeyEval]] = {}
    for scored in scores:
        if scored.sweep_id is not None and scored.reached is not None:
            by_place.setdefault(scored.place, []).append(scored)
    return [
        Series(
            _eval_name(place, found),
            _eval_name(place, found),
            {s.sweep_id: s.reached for s in found},  # type: ignore[misc]  # both are there
            found[0].floor,
        )
        for place, found in sorted(by_place.items())
    ]


def _eval_name(place: str, found: Sequence[KeyEval]) -> str:
    """Return what a series is called; one with unsteady repeats is said to be so."""
    return f"{place}, unstable" if any(s.is_unstable for s in found) else place


def _narrowed(
    sweep: HistorySweep, deployment: str, concurrency: int | None
) -> dict[str, frozenset[int]]:
    return {
        label: frozenset(c for c in found if concurrency in {None, c})
        for label, found in sweep.grid.items()
        if deployment in {"", label}
    }
