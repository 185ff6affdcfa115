"""The Pareto frontier of points over two metrics; knows no table and no picture."""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import pandas as pd

from dashboard.analysis.frames import require_columns
from dashboard.vocabulary.metrics import METRICS

Floats = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]
Positions = npt.NDArray[np.intp]


def frontier(points: pd.DataFrame, x: str, y: str) -> pd.DataFrame:
    """Return the rows of ``points`` that no other row dominates, sorted by ``x``.

    ``x`` and ``y`` are metric columns; each metric's own direction says what is
    better. One point dominates another when both its values are at least as good
    and one is better, so exact ties stay together. A row enters only with a finite
    ``x`` above 0 and a finite ``y``. Rows are returned as they are, with their index.
    """
    mask = on_frontier(points, x, y)
    return points[mask].sort_values([x, y], kind="stable")


def on_frontier(points: pd.DataFrame, x: str, y: str) -> Mask:
    """Return for each row of ``points`` whether it is on the frontier.

    O(n log n): the values of x are visited from the best on, and a row survives when
    its y is the best of its own x and better than all y seen at better x.
    """
    require_columns(points, (x, y))
    xs, ys = _floats(points[x]), _floats(points[y])
    enters = _enters(xs, ys)
    mask = np.zeros(len(points), dtype=np.bool_)
    if enters.any():
        mask[enters] = _undominated(_goodness(x, xs[enters]), _goodness(y, ys[enters]))
    return mask


def standings(points: pd.DataFrame, by: str, x: str, y: str) -> pd.Series:
    """Return where each row stands on the frontier of its own value of column ``by``.

    ``out`` (a flag keeps it off), ``unplaced`` (x or y missing, or x not above 0),
    ``frontier`` or ``dominated``. Rows that are out dominate nothing.
    """
    require_columns(points, (by, x, y, "is_out"))
    xs, ys = _floats(points[x]), _floats(points[y])
    is_out = points["is_out"].to_numpy(dtype=np.bool_)
    enters = _enters(xs, ys)
    standing = np.where(enters, "dominated", "unplaced").astype(object)
    standing[is_out] = "out"
    xs, ys = _goodness(x, xs), _goodness(y, ys)
    for positions in _groups(points[by], enters & ~is_out):
        standing[positions[_undominated(xs[positions], ys[positions])]] = "frontier"
    return pd.Series(standing, index=points.index, dtype="object")


def placeable(points: pd.DataFrame, x: str, y: str) -> Mask:
    """Return for each row whether it has a finite ``x`` above 0 and a finite ``y``."""
    return _enters(_floats(points[x]), _floats(points[y]))


def goodness(name: str, values: npt.ArrayLike) -> Floats:
    """Turn values of a metric so that larger is better.

    Raises ``ValueError`` where neither direction is better.
    """
    return _goodness(name, np.asarray(values, dtype=np.float64))


def _groups(column: pd.Series, chosen: Mask) -> Iterator[Positions]:
    """Yield the positions of the chosen rows, once for each value of ``column``."""
    codes, _ = pd.factorize(column)
    positions = np.flatnonzero(chosen)
    ordered = positions[np.argsort(codes[positions], kind="stable")]
    starts = np.flatnonzero(np.diff(codes[ordered])) + 1
    if ordered.size:
        yield from np.split(ordered, starts)


def _floats(column: pd.Series) -> Floats:
    return column.to_numpy(dtype=np.float64, na_value=np.nan)


def _enters(xs: Floats, ys: Floats) -> Mask:
    return np.isfinite(xs) & (xs > 0) & np.isfinite(ys)


def _goodness(name: str, values: Floats) -> Floats:
    """Turn values so that larger is better; raise ``ValueError`` where neither is."""
    direction = METRICS[name].direction
    if direction == "none":
        raise ValueError(f"{name} has no better direction")
    return values if direction == "higher" else -values


def _undominated(xs: Floats, ys: Floats) -> Mask:
    _, group = np.unique(-xs, return_inverse=True)
    best = np.full(group.max() + 1, -np.inf)
    np.maximum.at(best, group, ys)
    best_before = np.concatenate(([-np.inf], np.maximum.accumulate(best)[:-1]))
    undominated: Mask = (ys == best[group]) & (ys > best_before[group])
    return undominated
