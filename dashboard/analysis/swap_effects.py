"""What a swap of the checkpoint came with at matched points: numbers, no judgement."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from dashboard.analysis.pairing import measured, shared
from dashboard.analysis.pareto import Floats


@dataclass(frozen=True, slots=True)
class Effect:
    """How a metric differs over matched points, as fractions of the value before.

    ``change`` is the median over ``count`` pairs, ``low`` and ``high`` the smallest
    and the largest; all are None without a pair. Other weights do other work: this is
    not like for like, and neither better nor worse.
    """

    metric: str
    count: int
    change: float | None = None
    low: float | None = None
    high: float | None = None


def effects(
    base: pd.DataFrame, head: pd.DataFrame, metrics: Sequence[str]
) -> list[Effect]:
    """Return how each metric differs where both sweeps measured the same place.

    Both frames need deployment, concurrency, ``is_out`` and the metrics. A pair
    without a positive value before, or without one after, does not count.
    """
    sides = measured(base, metrics), measured(head, metrics)
    places = shared(*sides)
    before, after = (side.at(places) for side in sides)
    return [
        _effect(name, before[:, column], after[:, column])
        for column, name in enumerate(metrics)
    ]


def _effect(name: str, before: Floats, after: Floats) -> Effect:
    usable = (before > 0) & np.isfinite(before) & np.isfinite(after)
    changes = after[usable] / before[usable] - 1
    if not changes.size:
        return Effect(name, 0)
    return Effect(
        name,
        int(changes.size),
        float(np.median(changes)),
        float(changes.min()),
        float(changes.max()),
    )
