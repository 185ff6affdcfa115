"""What each config key gives at a target: one value per metric, by the step rule."""

from collections.abc import Hashable, Iterable, Mapping
from typing import Any, NamedTuple

import pandas as pd

from dashboard.analysis.best_at import INTERACTIVITIES
from dashboard.analysis.ranking import best_at, farthest

Point = Mapping[Hashable, Any]


class Reading(NamedTuple):
    """A metric of a key at the target: its value, and the point that has it.

    Both are None above the highest measured x, and where the metric is missing; then
    ``reaches`` is the best x that was measured with the metric, None where none was.
    """

    value: float | None
    point: Point | None
    reaches: float | None


def read_at(
    points: pd.DataFrame, x: str, names: Iterable[str], at: float
) -> dict[str, dict[str, Reading]]:
    """Return for each of ``names`` the reading of each config key at x ``at``.

    Keys without a value are part of it. Below the lowest measured x it is the best of
    all: a looser target can always be met. Nothing lies between two points.
    """
    keys = list(dict.fromkeys(points["config_key"]))
    return {name: _read(points, keys, x, name, at) for name in names}


def _read(
    points: pd.DataFrame, keys: Iterable[str], x: str, name: str, at: float
) -> dict[str, Reading]:
    found = _by_key(best_at(points, "config_key", x, name, at))
    ends = _by_key(farthest(points, "config_key", x, name))
    readings = {}
    for key in keys:
        point = found.get(key)
        value = None if point is None else float(point[name])
        end = ends.get(key)
        readings[key] = Reading(value, point, None if end is None else float(end[x]))
    return readings


def _by_key(rows: pd.DataFrame) -> dict[str, Point]:
    return {row["config_key"]: row for row in rows.to_dict("records")}


def usual_target(points: pd.DataFrame, x: str, y: str) -> float | None:
    """Return a round target that at least half of the keys reach; None without any."""
    ends = farthest(points, "config_key", x, y)[x]
    if ends.empty:
        return None
    reached = [at for at in INTERACTIVITIES if (ends >= at).mean() * 2 >= 1]
    return float(max(reached, default=min(INTERACTIVITIES)))
