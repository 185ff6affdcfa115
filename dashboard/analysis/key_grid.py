"""Every place that a key was measured at: what it gives today, or who dropped it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from dashboard.analysis.curves import Curve
from dashboard.analysis.history import History, HistorySweep, place_values
from dashboard.vocabulary.deployments import label_order

Place = tuple[str, int]
ADDED, DROPPED = "added", "dropped"


@dataclass(frozen=True, slots=True)
class GridCell:
    """One deployment and concurrency.

    ``change`` is relative to the sweep before of the same segment, None where that
    did not measure it. ``by`` is the sweep that added or dropped the place after the
    history began, ``event`` which of both.
    """

    deployment: str
    concurrency: int
    value: float | None
    change: float | None
    last: HistorySweep
    is_current: bool
    event: str = ""
    by: HistorySweep | None = None


@dataclass(frozen=True, slots=True)
class GridRow:
    """The cells of one deployment; None where it was never measured."""

    deployment: str
    cells: list[GridCell | None]


@dataclass(frozen=True, slots=True)
class KeyGrid:
    """Deployments as rows, concurrencies as columns."""

    concurrencies: list[int]
    rows: list[GridRow]

    @property
    def cells(self) -> list[GridCell]:
        """Return every place that was ever measured, row by row."""
        return [cell for row in self.rows for cell in row.cells if cell is not None]


def key_grid(history: History, points: pd.DataFrame, metric: str) -> KeyGrid:
    """Lay out every place of the history with its value of ``metric`` today.

    ``points`` has sweep_id, deployment (its label), concurrency, ``is_out`` and the
    metric. Held sweeps add and drop nothing.
    """
    steps = history.counted
    grids = _grids(history)
    now = _values(points, history.current, metric)
    before = _values(points, _before(history), metric)
    places = sorted({place for grid in grids for place in grid}, key=_order)
    found = {place: _cell(place, steps, grids, now, before) for place in places}
    concurrencies = sorted({concurrency for _, concurrency in places})
    deployments = list(dict.fromkeys(deployment for deployment, _ in places))
    return KeyGrid(
        concurrencies,
        [
            GridRow(deployment, [found.get((deployment, c)) for c in concurrencies])
            for deployment in deployments
        ],
    )


def _order(place: Place) -> tuple[list[tuple[int, str]], int]:
    deployment, concurrency = place
    return label_order(deployment), concurrency


def _grids(history: History) -> list[frozenset[Place]]:
    """Return the places of each counted sweep, with those of what it adds to."""
    own = {sweep.sweep_id: sweep.places for sweep in history.sweeps}
    nothing: frozenset[Place] = frozenset()
    return [nothing.union(*(own[m] for m in s.members)) for s in history.counted]


def _before(history: History) -> Curve | None:
    """Return the curve before the current one, of the same segment."""
    current = history.current
    same = (g.curve for g in history.ghosts)
    return next(
        (c for c in same if current and c.sweep.segment == current.sweep.segment), None
    )


def _values(
    points: pd.DataFrame, curve: Curve | None, metric: str
) -> Mapping[Place, float]:
    if curve is None:
        return {}
    return place_values(points, (s.sweep_id for s in curve.sweeps), metric)


def _cell(
    place: Place,
    steps: Sequence[HistorySweep],
    grids: Sequence[frozenset[Place]],
    now: Mapping[Place, float],
    before: Mapping[Place, float],
) -> GridCell:
    there = [n for n, grid in enumerate(grids) if place in grid]
    last = there[-1]
    is_current = last == len(steps) - 1
    value, old = now.get(place), before.get(place)
    change = value / old - 1 if value is not None and old else None
    event, by = _event(there, steps)
    measured = next(s for s in reversed(steps) if place in s.places)
    return GridCell(*place, value, change, measured, is_current, event, by)


def _event(
    there: Sequence[int], steps: Sequence[HistorySweep]
) -> tuple[str, HistorySweep | None]:
    """Say who dropped a place, or who brought it back or in after the beginning."""
    last = there[-1]
    if last < len(steps) - 1:
        return DROPPED, steps[last + 1]
    first = last
    while first - 1 in there:
        first -= 1
    return (ADDED, steps[first]) if first > 0 else ("", None)
