"""The official page's spline between frontier points, for who compares with it.

Nothing of ours is read off it: our own value at a target is the step rule's
(:mod:`dashboard.analysis.ranking`).
"""

from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.interpolate import CubicHermiteSpline

from dashboard.analysis.derived import made_of
from dashboard.analysis.pareto import Floats, frontier
from dashboard.vocabulary.metrics import METRICS

# The official frontier is one of throughput, whatever is read at the target.
OF_FRONTIER = "tput_per_gpu"
# So much may the numerator of a reciprocal metric differ between points.
TOLERANCE = 1e-3


class Interpolated(NamedTuple):
    """A value of the spline; ``is_clamped`` says that the target is outside of it."""

    value: float
    is_clamped: bool


def spline_at(xs: Floats, ys: Floats, at: float) -> float:
    """Return the monotone cubic through the knots at ``at``, inside of their ys.

    Slopes are those of Steffen (Astronomy and Astrophysics 239, 1990, 443), at both
    ends one-sided as d3's ``curveMonotoneX`` has them. ``xs`` rise and hold ``at``.
    """
    if len(xs) == 1:
        return float(ys[0])
    value = CubicHermiteSpline(xs, ys, _slopes(xs, ys))(at)
    return float(np.clip(value, ys.min(), ys.max()))


def _slopes(xs: Floats, ys: Floats) -> Floats:
    widths = np.diff(xs)
    secants = np.diff(ys) / widths
    slopes = np.zeros_like(ys)
    left, right = secants[:-1], secants[1:]
    mean = (left * widths[1:] + right * widths[:-1]) / (widths[1:] + widths[:-1])
    least = np.minimum.reduce([np.abs(left), np.abs(right), np.abs(mean) / 2])
    slopes[1:-1] = (np.copysign(1, left) + np.copysign(1, right)) * least
    # In the official page's order: of two knots it makes no straight line.
    slopes[0] = (3 * secants[0] - slopes[1]) / 2
    slopes[-1] = (3 * secants[-1] - slopes[-2]) / 2
    return slopes


def interpolated(
    points: pd.DataFrame, x: str, y: str, at: float
) -> Interpolated | None:
    """Return what the official page reads of one key's points at a target.

    Its knots are the points of the frontier of throughput over ``x`` that have a
    ``y``; outside of them it stays at the outermost one. A cost or an energy is made of
    the throughput read there. None without a knot.
    """
    known = points[~points["is_out"].astype(bool) & points[y].notna()]
    knots = frontier(known, x, OF_FRONTIER).drop_duplicates(x)
    if knots.empty:
        return None
    xs = _floats(knots[x])
    inside = float(np.clip(at, xs[0], xs[-1]))
    return Interpolated(_read(knots, xs, y, inside), inside != at)


def _read(knots: pd.DataFrame, xs: Floats, y: str, at: float) -> float:
    ys = _floats(knots[y])
    derivation = METRICS[y].derivation
    if derivation is None or not derivation.is_priced:
        return spline_at(xs, ys, at)
    rates = _floats(knots[derivation.basis])
    number = ys / rates if derivation.kind == "per_mw" else ys * rates
    if np.ptp(number) > TOLERANCE * number.max():
        return spline_at(xs, ys, at)
    # One price or power for all knots: the metric follows from the rate alone.
    rate = np.array([spline_at(xs, rates, at)])
    scale = ys[0] / made_of(derivation, np.ones(1), rates[:1])[0]
    return float(made_of(derivation, np.ones(1), rate)[0] * scale)


def _floats(column: pd.Series) -> Floats:
    return column.to_numpy(dtype=np.float64, na_value=np.nan)
