"""Which points of two sweeps were measured at one place, and what only one side has."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd

from dashboard.analysis.frames import require_columns
from dashboard.analysis.pareto import Floats


class Place(NamedTuple):
    """Where a point was measured: the id of its deployment, and its concurrency."""

    deployment: int
    concurrency: int


@dataclass(frozen=True, slots=True)
class Measured:
    """The points of one sweep that count, one row of ``values`` per place.

    ``values`` has a column per metric, NaN where missing. ``places`` are sorted;
    ``out`` holds the places where a flag keeps every point off.
    """

    places: tuple[Place, ...]
    values: Floats
    out: frozenset[Place]

    def at(self, places: Iterable[Place]) -> Floats:
        """Return the rows of some of the places."""
        position = {place: index for index, place in enumerate(self.places)}
        chosen = np.array([position[place] for place in places], dtype=np.intp)
        rows: Floats = self.values[chosen]
        return rows


def measured(points: pd.DataFrame, metrics: Sequence[str]) -> Measured:
    """Read the points of one sweep, out of columns and the metrics.

    Several recipes or attempts of one place are folded: the median of each metric.
    The best of them would favour the side that tried more often, and every recipe of
    one side with every one of the other would count a place more than once.
    """
    require_columns(points, ("deployment", "concurrency", "is_out", *metrics))
    is_out = points["is_out"].to_numpy(dtype=np.bool_)
    deployments, concurrencies = (
        points[name].astype(int).tolist() for name in ("deployment", "concurrency")
    )
    places = list(map(Place, deployments, concurrencies))
    values = np.column_stack(
        [points[n].to_numpy(dtype=np.float64, na_value=np.nan) for n in metrics]
    )
    rows: dict[Place, list[int]] = {}
    for index in np.flatnonzero(~is_out).tolist():
        rows.setdefault(places[index], []).append(index)
    found = sorted(rows)
    folded = [_median(values[rows[place]]) for place in found]
    kept = np.array(folded, dtype=np.float64).reshape(len(found), len(metrics))
    return Measured(tuple(found), kept, frozenset(places) - frozenset(found))


def excluded_places(points: pd.DataFrame) -> frozenset[Place]:
    """Return where a person took a point out; none without ``is_excluded``."""
    if "is_excluded" not in points:
        return frozenset()
    out = points[points["is_excluded"].to_numpy(dtype=np.bool_)]
    return frozenset(
        Place(int(deployment), int(concurrency))
        for deployment, concurrency in zip(
            out["deployment"], out["concurrency"], strict=True
        )
    )


def shared(base: Measured, head: Measured) -> tuple[Place, ...]:
    """Return the places that both sides measured, sorted."""
    return tuple(sorted(frozenset(base.places) & frozenset(head.places)))


def pairs(
    base: pd.DataFrame, head: pd.DataFrame, metrics: Sequence[str]
) -> pd.DataFrame:
    """Return one row per place that both sweeps measured, sorted by place.

    Columns deployment, concurrency, then ``<metric>_base`` and ``<metric>_head`` of
    each metric. Both frames need deployment, concurrency, ``is_out`` and the metrics;
    points that are out take no part, several of one place are folded to the median.
    """
    sides = measured(base, metrics), measured(head, metrics)
    places = shared(*sides)
    columns: dict[str, object] = {
        "deployment": [place.deployment for place in places],
        "concurrency": [place.concurrency for place in places],
    }
    values = [side.at(places) for side in sides]
    for column, name in enumerate(metrics):
        for side, rows in zip(("base", "head"), values, strict=True):
            columns[f"{name}_{side}"] = rows[:, column]
    return pd.DataFrame(columns)


def _median(rows: Floats) -> Floats:
    """Return the median of each column, missing values left out."""
    if len(rows) == 1:
        first: Floats = rows[0]
        return first
    columns = [column[~np.isnan(column)] for column in rows.T]
    return np.array([np.median(c) if c.size else np.nan for c in columns])


def placeable(values: Floats) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Return which rows have a finite x above 0 and a finite y."""
    xs, ys = values[:, 0], values[:, 1]
    found: np.ndarray[tuple[int], np.dtype[np.bool_]] = (
        np.isfinite(xs) & (xs > 0) & np.isfinite(ys)
    )
    return found
