"""A run over the official lines: what of it is drawn here, and what it measured."""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import pandas as pd
from django.db.models import Q
from django.http import QueryDict

from dashboard.analysis.curves import Curve, SweepFacts, curves
from dashboard.analysis.pareto import standings
from dashboard.charts.frontier import Overlay, overlay_key
from dashboard.charts.theme import Look, unofficial_look
from dashboard.forms.selection import Selection
from dashboard.queries import inference as queries
from dashboard.queries.point_evals import with_evals
from dashboard.views.asked_runs import AskedState
from dashboard.views.point_tables import in_table_order
from dashboard.vocabulary.models import model_group
from dashboard.vocabulary.prices import Prices
from dashboard.vocabulary.scenarios import scenario_label


class Place(NamedTuple):
    """A model and scenario that a run measured, and the query that shows it there."""

    model: str
    scenario: str
    points: int
    query: str
    is_here: bool

    @property
    def label(self) -> str:
        """Return model and scenario in words."""
        return f"{self.model} {scenario_label(self.scenario)}"


class OverlayLine(NamedTuple):
    """A line of an unofficial run in the legend."""

    curve: Curve
    key: str
    run_id: int


@dataclass(frozen=True)
class RunOverlay:
    """One run that the link asks for, held against what the page shows.

    ``curves`` are its lines that pass the filters, ``points`` theirs, in a frame of
    their own. ``official`` are its sweeps that are drawn as official lines already.
    """

    state: AskedState
    sweeps: Sequence[SweepFacts]
    official: Sequence[SweepFacts]
    curves: Sequence[Curve]
    points: pd.DataFrame
    chosen: Selection

    @property
    def look(self) -> Look:
        """Return how all lines of the run are drawn."""
        return unofficial_look(self.state.place)

    @property
    def rows(self) -> pd.DataFrame:
        """Return the points that the chart and the table show."""
        if self.chosen.only_frontier:
            return self.points[self.points["standing"].eq("frontier")]
        return self.points

    @property
    def publication(self) -> str:
        """Return what the run counts as, in one word for tables and files."""
        return "official" if self.state.is_official else "unofficial"

    @property
    def words(self) -> str:
        """Return which run it is and how far it came: ``run 5, cancelled, 8 of 16``."""
        stored = self.state.stored
        if stored is None:
            return self.state.asked.label
        plan = "" if stored.planned is None else f" of {stored.planned}"
        came = f"{stored.received}{plan} points"
        kind = f"{self.publication} {self.state.asked.label}"
        return f"{kind}, {stored.word.replace('_', ' ')}, {came}"

    @property
    def drawing(self) -> Overlay:
        """Return the run as the chart draws it."""
        run_id = self.state.asked.run_id
        return Overlay(run_id, self.words, self.rows, self.curves, self.look)

    @property
    def legend(self) -> list[OverlayLine]:
        """Return the lines of the run."""
        run_id = self.state.asked.run_id
        return [
            OverlayLine(curve, overlay_key(curve.config_key, run_id), run_id)
            for curve in self.curves
        ]

    @cached_property
    def places(self) -> list[Place]:
        """Return what the run measured, fullest first."""
        counted: dict[tuple[str, str], int] = {}
        for sweep in self.sweeps:
            place = (model_group(sweep.model), sweep.scenario)
            counted[place] = counted.get(place, 0) + sweep.received
        here = (self.chosen.model, self.chosen.scenario)
        return [
            Place(*place, points, self._query(*place), place == here)
            for place, points in sorted(
                counted.items(), key=lambda item: (-item[1], item[0])
            )
        ]

    def _query(self, model: str, scenario: str) -> str:
        query = QueryDict(self.state.alone, mutable=True)
        query["model"], query["scenario"] = model, scenario
        return query.urlencode(safe="/:,")

    @property
    def elsewhere(self) -> list[Place]:
        """Return what it measured of other models and scenarios."""
        return [place for place in self.places if place.points and not place.is_here]

    @property
    def is_shown(self) -> bool:
        """Tell whether some line of the chart is of this run."""
        return bool(self.curves or self.official)

    @property
    def is_filtered_out(self) -> bool:
        """Tell whether it has points and none of them passes the filters."""
        return not self.is_shown and any(place.points for place in self.places)

    @property
    def held_back(self) -> list[str]:
        """Return the keys measured here of which nothing passes the filters."""
        shown = {curve.config_key for curve in self.curves}
        shown |= {sweep.config_key for sweep in self.official}
        return sorted(
            sweep.config_key
            for sweep in self.sweeps
            if self.chosen.offers(sweep)
            and sweep.received
            and sweep.config_key not in shown
        )

    @property
    def synthetic(self) -> list[SweepFacts]:
        """Return the sweeps drawn whose acceptance length was configured."""
        return [curve.sweep for curve in self.curves if curve.sweep.is_synthetic]

    @property
    def is_held(self) -> bool:
        """Tell whether some official sweep of the run waits for a person."""
        return any(sweep.is_held for sweep in self.sweeps)


def run_overlay(
    state: AskedState,
    sweeps: Sequence[SweepFacts],
    chosen: Selection,
    drawn: AbstractSet[int],
    prices: Prices | None = None,
) -> RunOverlay:
    """Hold a run against a selection; sweeps that are ``drawn`` are not drawn again."""
    # From when on something is official says nothing of a run that is not.
    filters = replace(chosen.filters, since=None)
    here = [s for s in sweeps if chosen.offers(s) and filters.take(s)]
    matching = curves(s for s in here if s.sweep_id not in drawn and s.received)
    attempt = state.asked.attempt
    counting = Q(attempt=attempt, is_excluded=False)
    counted = queries.COUNTING if attempt is None else counting
    points = placed(matching, chosen, counted, prices)
    keys = set(points["config_key"])
    return RunOverlay(
        state=state,
        sweeps=sweeps,
        official=[s for s in here if s.sweep_id in drawn],
        curves=[curve for curve in matching if curve.config_key in keys],
        points=in_table_order(points, matching, chosen.x),
        chosen=chosen,
    )


def placed(
    drawn: Sequence[Curve],
    chosen: Selection,
    counting: Q = queries.COUNTING,
    prices: Prices | None = None,
) -> pd.DataFrame:
    """Return the points of the curves that pass, with their standing in their curve."""
    filters = chosen.filters
    where = queries.places(filters.deployment, filters.offload, filters.spec)
    axes = (chosen.x, chosen.y)
    found = with_evals(queries.points(drawn, axes, where, counting, prices))
    if chosen.gate:
        found = found[found["is_gated_in"].astype(bool)]
    standing = standings(found, "config_key", chosen.x, chosen.y)
    return found.assign(standing=standing)
