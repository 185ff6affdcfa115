"""One regression: its numbers, what may be behind it, who moved with it, its triage."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property
from typing import Any, NamedTuple

import pandas as pd

from dashboard.analysis.change_points import SWEEPS_NEEDED
from dashboard.analysis.segments import Change
from dashboard.analysis.siblings import (
    CommonMovement,
    Movement,
    Siblings,
    common_movements,
    siblings,
)
from dashboard.analysis.sides import Side
from dashboard.analysis.step_curves import folded_points, paired_with
from dashboard.analysis.told_verdicts import ToldVerdict, flag_tone
from dashboard.models import Regression, Sweep, TriageEvent
from dashboard.queries.comparisons import DefinitionDiff
from dashboard.queries.regressions import SHOWN, movements
from dashboard.queries.segment_levels import level_length
from dashboard.queries.sides import (
    all_points,
    folded_before,
    labels_of,
    points_of_side,
    sides,
)
from dashboard.queries.suspects import Suspect, definition_diff, suspects
from dashboard.vocabulary.metrics import default_axes
from dashboard.vocabulary.scenarios import AGENTIC

_RELATED = (
    *("run__repository", "config_key", "owner", "sweep__checkpoint"),
    *("baseline__run", "baseline__checkpoint", "recovered_by", "first_bad"),
)


@dataclass(frozen=True)
class SidePoints:
    """A side of the comparison and its points, a row per place.

    Columns ``place_id``, ``deployment`` (its label), ``concurrency``, the axes,
    ``is_out``, ``standing`` and ``is_paired``.
    """

    side: Side
    points: pd.DataFrame


class HistoryLine(NamedTuple):
    """An event, or None for the recovery, and when it was recorded."""

    at: datetime
    event: TriageEvent | None


@dataclass(frozen=True)
class RegressionReport:
    """A regression with all that its page tells; each part is read once."""

    regression: Regression

    @property
    def axes(self) -> tuple[str, str]:
        """Return the metrics that its scenario is judged by."""
        return default_axes(agentic=self.regression.scenario == AGENTIC)

    @property
    def since(self) -> datetime:
        """Return under which date its run counts."""
        run = self.regression.run
        return run.published_at or run.created_at

    @property
    def verdict(self) -> Mapping[str, Any]:
        """Return the comparison as it was stored; empty where there was none."""
        found: Mapping[str, Any] = self.regression.numbers.get("verdict") or {}
        return found

    @property
    def points(self) -> list[dict[str, Any]]:
        """Return the compared points, each with ``flag`` in words and its ``tone``."""
        return [_with_tone(point) for point in self.verdict.get("points") or ()]

    @property
    def told(self) -> ToldVerdict:
        """Return the comparison as pages tell it."""
        return ToldVerdict(self.verdict)

    @property
    def places(self) -> list[list[Any]]:
        """Return [deployment label, [concurrencies]] of what got worse."""
        found: list[list[Any]] = self.regression.numbers.get("places") or []
        return found

    @property
    def differences(self) -> list[Change]:
        """Return breaks and markers between baseline and candidate."""
        return list(self.verdict.get("differences") or [])

    @cached_property
    def no_level(self) -> str:
        """Say why it is not told where the level fell; only performance has a level."""
        if self.both is None:
            return "a sweep is not stored any more"
        head = self.both[1].side
        if head.segment is None:
            return "the sweep is held, outside the history"
        if (count := level_length(head)) < SWEEPS_NEEDED:
            sweeps = f"{count} sweep{'' if count == 1 else 's'} then"
            return f"a level needs {SWEEPS_NEEDED} sweeps, the segment had {sweeps}"
        return "no fall of the level over several sweeps is shown"

    @cached_property
    def suspects(self) -> list[Suspect]:
        """What changed the key after the baseline, with its pull request."""
        found = suspects([self.regression], also=["description"])
        return found[self.regression.pk]

    @cached_property
    def definition(self) -> DefinitionDiff | None:
        """How the key's config differs, None where it is not known for both."""
        if self.both is None:
            return None
        base, head = self.both
        return definition_diff(self.regression, base.side, head.side)

    @cached_property
    def _movements(self) -> list[Movement]:
        return movements([self.regression.run_id]).get(self.regression.run_id, [])

    @cached_property
    def own_movement(self) -> Movement | None:
        """How the sweep itself moved, like for like."""
        place = (self.regression.config_key.key, self.regression.scenario)
        return next((one for one in self._movements if one.place == place), None)

    @cached_property
    def siblings(self) -> Siblings:
        """The other sweeps of the run, by whether they moved by the same factor."""
        if self.own_movement is None:
            return Siblings((), (), tuple(self._movements))
        return siblings(self.own_movement, self._movements)

    @cached_property
    def common(self) -> list[CommonMovement]:
        """What all keys of the run, a framework or a hardware share, this one too."""
        own = self.own_movement
        return [c for c in common_movements(self._movements) if own in c.movements]

    @cached_property
    def events(self) -> list[TriageEvent]:
        """What people decided and said, oldest first."""
        return list(self.regression.events.all())

    @property
    def history(self) -> list[HistoryLine]:
        """What was found, decided and said, in the order in which it was recorded."""
        row = self.regression
        lines = [HistoryLine(event.at, event) for event in self.events]
        if row.recovered_by is not None:
            # A later sweep may be stored first: nothing is over before it was found.
            at = max(row.stored_at, row.recovered_by.stored_at)
            lines.append(HistoryLine(at, None))
        return sorted(lines, key=lambda line: line.at)

    @cached_property
    def both(self) -> tuple[SidePoints, SidePoints] | None:
        """Base and head with their points; None where one of the sweeps is gone."""
        row = self.regression
        if row.sweep_id is None or row.baseline_id is None:
            return None
        found = sides(Sweep.objects.filter(pk__in=[row.baseline_id, row.sweep_id]))
        by_id = {side.sweep_id: side for side in found}
        base, head = (by_id[pk] for pk in (row.baseline_id, row.sweep_id))
        (folded,) = folded_before([(base, head.at)])
        base = replace(base, folded=folded.sweep_ids, repeats=folded.repeats)
        points = all_points([base, head])
        labels = labels_of(points)
        old, new = (
            folded_points(points_of_side(points, side), *self.axes)
            for side in (base, head)
        )
        return (
            SidePoints(base, _named(paired_with(old, new), labels)),
            SidePoints(head, _named(paired_with(new, old), labels)),
        )


def _with_tone(point: Mapping[str, Any]) -> dict[str, Any]:
    is_flagged = bool(point.get("flagged"))
    # What an older version stored says no more than that it is flagged.
    flag = point.get("flag", "flagged" if is_flagged else "")
    return {**point, "flag": flag, "tone": flag_tone(flag, is_flagged=is_flagged)}


def _named(points: pd.DataFrame, labels: Mapping[int, str]) -> pd.DataFrame:
    deployments = points["deployment"].map(labels)
    ids = deployments.astype(str) + " c" + points["concurrency"].astype(str)
    return points.assign(deployment=deployments, place_id=ids)


def regression_report(pk: int) -> RegressionReport | None:
    """Return a regression by its id, None where it is not stored or its run hidden."""
    found = Regression.objects.filter(SHOWN, pk=pk).select_related(*_RELATED).first()
    return None if found is None else RegressionReport(found)
