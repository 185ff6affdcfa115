"""The best y at every x of two sweeps, and by how much one lies above the other."""

from typing import NamedTuple

import numpy as np
import pandas as pd

from dashboard.analysis.pairing import measured
from dashboard.analysis.pareto import Floats, frontier, standings
from dashboard.vocabulary.metrics import METRICS


class Stretch(NamedTuple):
    """Values of x in (low, high] at which the best y of both sides is the same.

    None where a side has no point that reaches so far.
    """

    low: float
    high: float
    base: float | None
    head: float | None


def folded_points(points: pd.DataFrame, x: str, y: str) -> pd.DataFrame:
    """Return the points of a sweep that count, a row per place: their medians.

    Columns deployment, concurrency, x, y, ``is_out`` (always false) and ``standing``.
    """
    counted = measured(points, (x, y))
    folded = pd.DataFrame(
        {
            "deployment": [place.deployment for place in counted.places],
            "concurrency": [place.concurrency for place in counted.places],
            x: counted.values[:, 0],
            y: counted.values[:, 1],
            "is_out": False,
        }
    )
    standing = standings(folded.assign(side=0), "side", x, y)
    return folded.assign(standing=standing)


def paired_with(points: pd.DataFrame, other: pd.DataFrame) -> pd.DataFrame:
    """Return the points with ``is_paired``: whether the other side has their place."""
    places = set(zip(other["deployment"], other["concurrency"], strict=True))
    own = zip(points["deployment"], points["concurrency"], strict=True)
    return points.assign(is_paired=[place in places for place in own])


def step_curve(points: pd.DataFrame, x: str, y: str) -> list[tuple[float, float]]:
    """Return the corners (x, best y) of a sweep's step curve, from left to right.

    At any x it has the best y among points that reach x or more; below the first
    corner it stays at that corner's. ``points`` has x, y and ``is_out``; both metrics
    are better when higher, else ``ValueError`` is raised.
    """
    if any(METRICS[name].direction != "higher" for name in (x, y)):
        raise ValueError(f"no step curve of {y} over {x}: higher is not better")
    kept = frontier(points[~points["is_out"].to_numpy(dtype=np.bool_)], x, y)
    corners = zip(kept[x].tolist(), kept[y].tolist(), strict=True)
    return list(dict.fromkeys(corners))


def stretches(
    base: list[tuple[float, float]], head: list[tuple[float, float]]
) -> list[Stretch]:
    """Return the stretches between the corners of two step curves, from 0 on."""
    ends = np.unique([x for x, _ in (*base, *head)])
    starts = [0.0, *ends[:-1].tolist()]
    sides = [np.array(side, dtype=np.float64).reshape(-1, 2) for side in (base, head)]
    return [
        Stretch(low, high, *(_best(side, high) for side in sides))
        for low, high in zip(starts, ends.tolist(), strict=False)
    ]


def paired_stretches(
    base: pd.DataFrame, head: pd.DataFrame, x: str, y: str
) -> list[Stretch]:
    """Return the stretches where both curves rest on places that both measured.

    Both frames need x, y, ``is_out`` and ``is_paired``. What only one side measured
    is no gap: a curve that lacks it is lower there, whatever was served.
    """
    curves = [step_curve(points, x, y) for points in (base, head)]
    kept = [
        set(zip(paired[x].tolist(), paired[y].tolist(), strict=True))
        for points in (base, head)
        for paired in (points[points["is_paired"].to_numpy(dtype=np.bool_)],)
    ]
    return [
        stretch
        for stretch in stretches(*curves)
        if all(
            _corner(curve, stretch.high) in places | {None}
            for curve, places in zip(curves, kept, strict=True)
        )
    ]


def _corner(curve: list[tuple[float, float]], at: float) -> tuple[float, float] | None:
    """Return the corner that sets a curve's value at an x, None beyond its end."""
    return next((corner for corner in curve if corner[0] >= at), None)


def _best(corners: Floats, at: float) -> float | None:
    reaching = corners[corners[:, 0] >= at, 1]
    return float(reaching.max()) if reaching.size else None
