"""What the inference page is made of: its curves, their points, ranking and words."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cached_property
from typing import Any, NamedTuple

import pandas as pd
from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone

from dashboard.analysis.axis_notes import AxisNote, axis_note
from dashboard.analysis.curves import Curve, SweepFacts, curves
from dashboard.analysis.derived import GPU_COLUMNS, HARDWARE_COLUMNS
from dashboard.analysis.eval_gate import RULE
from dashboard.analysis.lineage import Lineage, Opening, lineages
from dashboard.analysis.ranking import best_at, farthest
from dashboard.charts.exports import Words
from dashboard.charts.frontier import (
    Axes,
    Figure,
    curve_look,
    frontier_figure,
)
from dashboard.charts.theme import Look
from dashboard.forms.inference import InferenceForm
from dashboard.forms.selection import Selection
from dashboard.queries import inference as queries
from dashboard.queries.prices import prices_at
from dashboard.views.asked_runs import AskedState
from dashboard.views.overlays import RunOverlay, placed, run_overlay
from dashboard.views.point_tables import in_table_order, with_openings
from dashboard.vocabulary.hardware import hardware_order
from dashboard.vocabulary.metrics import METRICS
from dashboard.vocabulary.models import model_group
from dashboard.vocabulary.prices import Prices
from dashboard.vocabulary.scenarios import scenario_label, scenario_order

OLD = timedelta(days=30)
# So long a line wears a mark after its history broke, and what was before is drawn.
LATELY = timedelta(days=30)
MOST_RUNS = 8
# What the notes at the axes are made of.
NOTED = [*HARDWARE_COLUMNS, *GPU_COLUMNS]


class LegendEntry(NamedTuple):
    """One line of the chart, as the legend shows it.

    ``opening`` is the break with which its segment began, where that was lately.
    """

    lineage: Lineage
    look: Look
    is_hidden: bool
    old_days: int | None
    is_asked: bool = False
    opening: Opening | None = None

    @property
    def curve(self) -> Curve:
        """Return the curve that is drawn."""
        return self.lineage.curve


class Ranked(NamedTuple):
    """A key's best value at the cursor, and the point that has it."""

    place: int
    entry: LegendEntry
    point: Mapping[Any, Any]
    value: float
    x: float
    behind: float
    run_path: str


class Unreached(NamedTuple):
    """A key that no point of reaches the cursor, and how far it gets."""

    entry: LegendEntry
    x: float | None


@dataclass(frozen=True)
class Shown:
    """The curves of a selection and everything that is read of them once."""

    chosen: Selection
    offered: Sequence[SweepFacts]
    now: datetime
    asked: Sequence[AskedState] = ()
    overlaid: Mapping[int, Sequence[SweepFacts]] = field(default_factory=dict)

    @cached_property
    def overlays(self) -> list[RunOverlay]:
        """The runs that the link asks for, each with a frame of its own."""
        # While nothing of the runs is stored, nothing of them is official.
        official = self.curves if any(self.overlaid.values()) else ()
        drawn = {sweep.sweep_id for curve in official for sweep in curve.sweeps}
        found = []
        for state in self.asked:
            sweeps = self.overlaid.get(state.asked.run_id, ())
            overlay = run_overlay(state, sweeps, self.chosen, drawn, self.prices)
            found.append(overlay)
            # A merge and the run that it publishes are the same points.
            if state.asked.attempt is None:
                drawn |= {curve.sweep.sweep_id for curve in overlay.curves}
        return found

    @property
    def is_empty(self) -> bool:
        """Tell whether no line passes, neither official nor of a run asked for."""
        return not self.curves and not any(o.curves for o in self.overlays)

    @property
    def all_curves(self) -> list[Curve]:
        """Every curve that is drawn, for what only asks which metrics they have."""
        above = [curve for overlay in self.overlays for curve in overlay.curves]
        return [*self.curves, *above]

    @cached_property
    def matching(self) -> list[Curve]:
        """The curves whose sweeps pass the filters, in the order of the legend."""
        found = curves(sweep for sweep in self.offered if self.chosen.takes(sweep))
        return sorted(found, key=_legend_order)

    @cached_property
    def prices(self) -> Prices | None:
        """The prices and power of the day shown, None where no axis needs them."""
        chosen = self.chosen
        if not chosen.is_priced:
            return None
        return prices_at(chosen.moment or self.now, chosen.custom)

    @cached_property
    def axis_notes(self) -> dict[str, AxisNote]:
        """What is said at each axis of the points that are drawn."""
        above = [o.points for o in self.overlays if o.curves]
        frames = [frame for frame in (self.points, *above) if not frame.empty]
        if not frames:
            return {"x": AxisNote(), "y": AxisNote()}
        every = pd.concat([frame[NOTED] for frame in frames])
        axes = {"x": self.chosen.x, "y": self.chosen.y}
        return {a: axis_note(every, name, self.prices) for a, name in axes.items()}

    @cached_property
    def points(self) -> pd.DataFrame:
        """The points that pass the filters, with their standing, in legend order."""
        found = placed(self.matching, self.chosen, prices=self.prices)
        return in_table_order(found, self.matching, self.chosen.x)

    @cached_property
    def curves(self) -> list[Curve]:
        """The curves of which a point passes."""
        keys = set(self.points["config_key"])
        return [curve for curve in self.matching if curve.config_key in keys]

    @cached_property
    def rows(self) -> pd.DataFrame:
        """The points that the chart and the table show."""
        if self.chosen.only_frontier:
            return self._told[self._told["standing"].eq("frontier")]
        return self._told

    @cached_property
    def _told(self) -> pd.DataFrame:
        """The points with what their segments began with."""
        return with_openings(self.points, self.openings)

    @cached_property
    def _history(self) -> list[SweepFacts]:
        """The newest sweeps of the keys drawn, and every swap of the model."""
        offered = (s for s in self.offered if model_group(s.model) == self.chosen.model)
        keys = {sweep.config_key for sweep in offered}
        return queries.history(self.curves, self.chosen.moment, keys)

    @cached_property
    def lineages(self) -> Mapping[str, Lineage]:
        """What stands beside each curve: former and held sweeps."""
        here = (s for s in self._history if s.scenario == self.chosen.scenario)
        return lineages(self.curves, here)

    @cached_property
    def openings(self) -> Mapping[str, Opening]:
        """The breaks with which the segments of curves began, by config key."""
        found = {key: beside.opening for key, beside in self.lineages.items()}
        return {key: opening for key, opening in found.items() if opening}

    @property
    def swaps(self) -> list[SweepFacts]:
        """The sweeps of the model at which a checkpoint was swapped, newest first.

        A key's scenarios that were swapped in one run are told once.
        """
        once = {(s.config_key, s.run_id): s for s in self._history if s.swap}
        return sorted(once.values(), key=lambda s: (s.official_at, s.run_id))[::-1]

    def _lately(self, config_key: str) -> Opening | None:
        """Return the break of a key's history if it was lately."""
        opening = self.openings.get(config_key)
        now = self.chosen.moment or self.now
        return opening if opening and now - opening.at <= LATELY else None

    @cached_property
    def legend(self) -> list[LegendEntry]:
        """The lines of the legend."""
        return [self._entry(curve) for curve in self.curves]

    def _entry(self, curve: Curve) -> LegendEntry:
        newest = max(sweep.measured_at for sweep in curve.sweeps)
        age = (self.chosen.moment or self.now) - newest
        asked = {run_id for run_id, _ in self.asked_runs}
        return LegendEntry(
            self.lineages[curve.config_key],
            curve_look(curve),
            curve.config_key in self.chosen.hidden,
            age.days if age > OLD else None,
            not asked.isdisjoint(sweep.run_id for sweep in curve.sweeps),
            self._lately(curve.config_key),
        )

    @cached_property
    def asked_runs(self) -> set[tuple[int, int | None]]:
        """The runs that measured what the link asks for, each with its attempt."""
        return {
            (run_id, asked.attempt)
            for asked in (state.asked for state in self.asked)
            for run_id in (
                asked.run_id,
                *(sweep.run_id for sweep in self.overlaid.get(asked.run_id, ())),
            )
        }

    @cached_property
    def former(self) -> tuple[pd.DataFrame, list[Curve]] | None:
        """The points and curves of the sweeps before these, in a frame of their own.

        Without being asked for: of the keys whose history broke lately.
        """
        if self.chosen.no_ghosts:
            return None
        found = [
            lineage.former_curve
            for key, lineage in self.lineages.items()
            if lineage.former_curve and (self.chosen.has_ghosts or self._lately(key))
        ]
        if not found:
            return None
        return placed(found, self.chosen, prices=self.prices), found

    @cached_property
    def figure(self) -> Figure | str:
        """The chart, or why there is none."""
        chosen = self.chosen
        notes = self.axis_notes
        axes = Axes(
            *(chosen.x, chosen.y, chosen.log_x, chosen.log_y, chosen.zoom),
            notes=(notes["x"].text, notes["y"].text),
        )
        above = [overlay.drawing for overlay in self.overlays if overlay.curves]
        return frontier_figure(
            self.rows, self.curves, axes, self.former, above, self.openings
        )

    @property
    def title(self) -> str:
        """What the chart shows, in one line."""
        of = f"{self.chosen.model} {scenario_label(self.chosen.scenario)}"
        x, y = METRICS[self.chosen.x], METRICS[self.chosen.y]
        return f"{of}: {y.phrase} against {x.phrase}"


def shown_of(form: InferenceForm, asked: Sequence[AskedState] = ()) -> Shown:
    """Return what a valid form asks to show, with the runs that its link names."""
    return Shown(form.selection, form.offered, timezone.now(), asked, form.overlaid)


def _legend_order(curve: Curve) -> tuple[tuple[int, str], str]:
    return hardware_order(curve.sweep.hardware), curve.config_key


def ranking(shown: Shown) -> dict[str, Any]:
    """Return the visible keys by their best value at the cursor."""
    chosen = shown.chosen
    entries = {e.curve.config_key: e for e in shown.legend if not e.is_hidden}
    if chosen.at is None or not entries:
        return {"at": chosen.at, "ranked": [], "unreached": []}
    visible = shown.points[shown.points["config_key"].isin(entries)]
    best = best_at(visible, "config_key", chosen.x, chosen.y, chosen.at)
    ends = farthest(visible, "config_key", chosen.x, chosen.y)
    reach = dict(zip(ends["config_key"], ends[chosen.x], strict=True))
    reached = set(best["config_key"])
    return {
        "at": chosen.at,
        "ranked": _ranked(best, entries, chosen),
        "unreached": [
            Unreached(entry, reach.get(key))
            for key, entry in entries.items()
            if key not in reached
        ],
    }


def _ranked(
    best: pd.DataFrame, entries: Mapping[str, LegendEntry], chosen: Selection
) -> list[Ranked]:
    points = best.to_dict("records")
    return [
        Ranked(
            place,
            entries[point["config_key"]],
            point,
            point[chosen.y],
            point[chosen.x],
            point[chosen.y] / points[0][chosen.y] - 1 if points[0][chosen.y] else 0.0,
            reverse("run", args=[point["run_id"]]),
        )
        for place, point in enumerate(points, start=1)
    ]


def words(request: HttpRequest, shown: Shown) -> Words:
    """Return what the chart says of itself away from its page."""
    runs = sorted({sweep.run_id for curve in shown.curves for sweep in curve.sweeps})
    named = ", ".join(map(str, runs[:MOST_RUNS]))
    more = f" and {len(runs) - MOST_RUNS} more" if len(runs) > MOST_RUNS else ""
    day = f"{shown.chosen.moment or shown.now:%Y-%m-%d}"
    place = reverse("inference")
    query = f"?{request.GET.urlencode()}" if request.GET else ""
    keys, points = len(shown.curves), len(shown.rows)
    counts = (
        f"{keys} config key{'' if keys == 1 else 's'}, "
        f"{points} point{'' if points == 1 else 's'}"
    )
    lines = [
        f"Current official sweeps as of {day} (UTC): {counts}",
        *([f"Eval-gated. {RULE}"] if shown.chosen.gate else []),
        *noted(shown),
        f"Runs {named}{more}",
        *(f"Dashed, marked with x: {o.words}" for o in shown.overlays if o.curves),
        f"Source: Frontierboard, {request.build_absolute_uri(place + query)}",
    ]
    above = [str(o.state.asked.run_id) for o in shown.overlays if o.curves]
    watermark = f"unofficial run {', '.join(above)}" if above else ""
    return Words(shown.title, lines, watermark)


def noted(shown: Shown) -> list[str]:
    """Return what is said of the axes, a line for each that something is said of."""
    found = []
    for axis, note in shown.axis_notes.items():
        metric = METRICS[getattr(shown.chosen, axis)]
        if note.sentences:
            found.append(f"{metric.label}: {'; '.join(note.sentences)}")
    return found


def nothing(form: InferenceForm) -> dict[str, Any]:
    """Say why nothing is drawn, and which filter does it."""
    if not queries.runs_stored():
        return {"is_empty": True}
    if not form.offered and form.moment is None:
        return {"reason": "No official sweep is stored yet, only unofficial runs."}
    return {"reason": _mismatch(form.selection, form.offered)}


def _mismatch(chosen: Selection, offered: Sequence[SweepFacts]) -> str:
    keys = chosen.filters.key
    then = f" as of {chosen.moment:%Y-%m-%d}" if chosen.moment else ""
    current = {sweep.config_key for sweep in offered}
    if keys and current.isdisjoint(keys):
        return f"No current official sweep of {', '.join(keys)} is stored{then}."
    here = [sweep for sweep in offered if chosen.offers(sweep)]
    if not chosen.model:
        return f"No official sweep was current{then}."
    if not here:
        return _elsewhere(chosen, offered, then)
    asked = "; ".join(chosen.filters.named())
    if chosen.gate and any(chosen.takes(sweep) for sweep in here):
        return f"No point passes the gate of evals. {RULE}"
    return f"None of the {len(here)} current sweeps passes the filter: {asked}."


def _elsewhere(chosen: Selection, offered: Sequence[SweepFacts], then: str) -> str:
    """Say that nothing of model and scenario is current, and what of the model is."""
    of = f" of {scenario_label(chosen.scenario)}" if chosen.scenario else ""
    others = [s for s in offered if model_group(s.model) == chosen.model]
    scenarios = sorted({s.scenario for s in others}, key=scenario_order)
    named = ", ".join(map(scenario_label, scenarios))
    count = len(others)
    counted = f"{count} current sweeps are" if count > 1 else "only one is"
    known = f"; its {counted} of {named}" if others else ""
    return f"{chosen.model} has no current official sweep{of}{then}{known}."
