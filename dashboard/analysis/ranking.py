"""The best value that is reachable at a target: the step rule; knows no picture."""

import numpy as np
import pandas as pd

from dashboard.analysis.frames import require_columns
from dashboard.analysis.pareto import goodness, placeable


def value_at(points: pd.DataFrame, x: str, y: str, at: float) -> float | None:
    """Return the best ``y`` among the points that are at least as good as ``at``.

    What is better is each metric's own direction. None where no point reaches ``at``;
    past the easiest measured point the best of all, since a looser target is met by
    whatever meets a tighter one. Points kept off by a flag, without ``y`` or without
    an ``x`` above 0 take no part.
    """
    best = best_at(points.assign(_all=0), "_all", x, y, at)
    return None if best.empty else float(best[y].iloc[0])


def best_at(points: pd.DataFrame, by: str, x: str, y: str, at: float) -> pd.DataFrame:
    """Return for each value of column ``by`` the row that ``value_at`` would name.

    Best ``y`` first; of equal ones that with the better ``x``. Groups that cannot
    reach ``at`` are left out.
    """
    require_columns(points, (by, x, y, "is_out"))
    reaching = _counting(points, x, y)
    reaching = reaching[goodness(x, reaching[x]) >= goodness(x, [at])[0]]
    return _best_first(reaching, y, x).drop_duplicates(by)


def farthest(points: pd.DataFrame, by: str, x: str, y: str) -> pd.DataFrame:
    """Return for each value of column ``by`` the row with the best ``x``."""
    require_columns(points, (by, x, y, "is_out"))
    return _best_first(_counting(points, x, y), x, y).drop_duplicates(by)


def _counting(points: pd.DataFrame, x: str, y: str) -> pd.DataFrame:
    is_out = points["is_out"].to_numpy(dtype=np.bool_)
    counting: pd.DataFrame = points[placeable(points, x, y) & ~is_out]
    return counting


def _best_first(points: pd.DataFrame, *metrics: str) -> pd.DataFrame:
    keys = [-goodness(name, points[name]) for name in reversed(metrics)]
    ordered: pd.DataFrame = points.iloc[np.lexsort(keys)]
    return ordered
