"""Two sweeps of one config key and scenario side by side, in numbers, unjudged.

What differs is told apart: like for like over the places that both measured, the worst
place, what only one side covers, and each metric of each pair.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import erfc, isfinite, log, sqrt

import numpy as np
import pandas as pd

from dashboard.analysis.best_at import BestAt, best_at
from dashboard.analysis.hypervolume import hypervolume, shortfalls
from dashboard.analysis.noise import NoiseTable
from dashboard.analysis.pairing import (
    Measured,
    Place,
    excluded_places,
    measured,
    placeable,
    shared,
)
from dashboard.analysis.pareto import Floats
from dashboard.vocabulary.metrics import METRICS

# What a page lists of each pair beside its axes.
LISTED = (
    "tput_per_gpu",
    "output_tput_per_gpu",
    "median_intvty",
    "median_ttft",
    "p99_ttft",
    "median_tpot",
    "median_e2el",
)

# Half of a run's variance is common to all its points: the same host, image, hour.
RHO = 0.5
DRAWS = 2000
SEED = 20260822
INTERVAL = (0.025, 0.975)

# More than this on the same deployment is more often a mistake than a gain.
NEEDS_LOOK = 2.0

Axes = tuple[str, str]


@dataclass(frozen=True, slots=True)
class LikeForLike:
    """How the area under the paired points changed, a fraction.

    ``low`` and ``high`` bound 95 % of a parametric bootstrap, ``p`` is the two-sided
    probability of such a change without cause; None where the noise of an axis is
    unknown. ``pairs`` counts the points that have both axes on both sides.
    """

    change: float
    low: float | None
    high: float | None
    pairs: int
    p: float | None = None


@dataclass(frozen=True, slots=True)
class LocalLoss:
    """The base point that the head falls behind most, and by which fraction.

    ``loss`` is the multiplicative epsilon minus 1; below 0 even this place gained.
    ``x`` is the base's.
    """

    loss: float
    deployment: int
    concurrency: int
    x: float


@dataclass(frozen=True, slots=True)
class Coverage:
    """What only one side measured.

    ``lost`` and ``gained`` are deployments with their concurrencies. ``lost_x_range``
    are the stretches, none to two, of the base's x that only lost places reached: of
    the base's own values, so that noise loses nothing. ``left_out_base`` and
    ``left_out_head`` count the places where no point can be used; ``excluded_head``
    counts those of them that a person took out.
    """

    lost: tuple[tuple[int, tuple[int, ...]], ...]
    gained: tuple[tuple[int, tuple[int, ...]], ...]
    lost_x_range: tuple[tuple[float, float], ...]
    received: int
    planned: int | None
    left_out_base: int = 0
    left_out_head: int = 0
    excluded_head: int = 0


@dataclass(frozen=True, slots=True)
class PointChange:
    """One metric of one pair.

    ``change`` is head / base - 1, ``gain`` the same signed so that positive is better,
    None where the metric has no better direction or the base is 0. ``z`` counts
    standard deviations of the difference of two runs, ``p`` is its two-sided
    probability; both None where ``noise`` is.
    """

    deployment: int
    concurrency: int
    metric: str
    base: float
    head: float
    gain: float | None
    change: float | None
    noise: float | None
    z: float | None
    p: float | None
    needs_look: bool

    @property
    def place(self) -> Place:
        """Return where it was measured."""
        return Place(self.deployment, self.concurrency)


@dataclass(frozen=True, slots=True)
class Comparison:
    """Everything that the numbers of two sweeps say about each other.

    ``like_for_like`` and ``raw_hypervolume`` (all points of each side, a fraction)
    are None where an axis is better when lower, or where a side has no point.
    """

    axes: Axes
    pairs: int
    like_for_like: LikeForLike | None
    worst_local: LocalLoss | None
    coverage: Coverage
    points: tuple[PointChange, ...]
    best_at: tuple[BestAt, ...]
    raw_hypervolume: float | None


def compare(
    base: pd.DataFrame,
    head: pd.DataFrame,
    *,
    axes: Axes,
    noise: NoiseTable,
    metrics: Sequence[str] = LISTED,
    planned: int | None = None,
) -> Comparison:
    """Compare two sweeps, the older one first.

    Both frames need deployment, concurrency, ``is_out``, the two axes (x, y) and
    ``metrics``, NaN where missing. ``planned`` counts the points that the head was to
    have, None where no plan is known.
    """
    names = tuple(dict.fromkeys((*axes, *metrics)))
    sides = measured(base, names), measured(head, names)
    places = shared(*sides)
    old, new = (side.at(places) for side in sides)
    return Comparison(
        axes=axes,
        pairs=len(places),
        like_for_like=_like_for_like(places, old[:, :2], new[:, :2], axes, noise),
        worst_local=_worst_local(places, old[:, :2], new[:, :2], axes),
        coverage=_coverage(
            *sides,
            received=len({*sides[1].places, *sides[1].out}),
            planned=planned,
            excluded=len(sides[1].out & excluded_places(head)),
        ),
        points=tuple(_point_changes(places, old, new, names, noise)),
        best_at=tuple(best_at(*sides, set(places), axes)),
        raw_hypervolume=_area_change(sides[0].values, sides[1].values, axes),
    )


def _like_for_like(
    places: Sequence[Place], base: Floats, head: Floats, axes: Axes, noise: NoiseTable
) -> LikeForLike | None:
    usable = placeable(base) & placeable(head)
    change = _area_change(base[usable], head[usable], axes)
    if change is None:
        return None
    kept = [place for place, keeps in zip(places, usable, strict=True) if keeps]
    spreads = [
        [noise.value(axis, place.concurrency) for place in kept] for axis in axes
    ]
    scale = np.array(spreads, dtype=np.float64)
    if np.isnan(scale).any():
        return LikeForLike(change, None, None, len(kept))
    log_ratios = _redrawn(*_by_value(base[usable], head[usable], scale))
    low, high = np.expm1(np.quantile(log_ratios, INTERVAL))
    # Normal, since 2,000 draws cannot tell the small values that many keys ask for.
    if not np.isfinite(log_ratios).all():
        return LikeForLike(change, None, None, len(kept))
    p = erfc(abs(log(1 + change)) / float(log_ratios.std()) / sqrt(2))
    return LikeForLike(change, float(low), float(high), len(kept), p)


def _area_change(base: Floats, head: Floats, axes: Axes) -> float | None:
    """Return the change of the area under the points, None where it has no meaning."""
    if any(METRICS[axis].direction != "higher" for axis in axes):
        return None
    old, new = (_area(values[placeable(values)]) for values in (base, head))
    # Without a point on one side there is no ratio, only coverage.
    if not (isfinite(old) and isfinite(new) and old > 0 and new > 0):
        return None
    return new / old - 1


def _area(values: Floats) -> float:
    return float(hypervolume(values[:, 0], values[:, 1]))


def _by_value(
    base: Floats, head: Floats, noise: Floats
) -> tuple[Floats, Floats, Floats]:
    """Return the pairs in an order that only their values decide.

    Places are sorted by the ids of their deployments, which are given in the order of
    arrival; the same pairs are to meet the same draws in any database.
    """
    order = np.lexsort((*noise, *head.T, *base.T))
    return base[order], head[order], noise[:, order]


def _redrawn(base: Floats, head: Floats, noise: Floats) -> Floats:
    """Return 2,000 log ratios of the area, head to base; ``noise`` is (axis, pair).

    Both sides are measured anew: each value is moved by its noise, of which a share
    is common to the run, on both axes. Conservative: a run that is slow is slow in
    throughput and in interactivity.
    """
    own, common = _draws(len(base))
    moves = sqrt(1 - RHO) * own + sqrt(RHO) * common
    sides = np.stack((base.T, head.T))
    redrawn = sides[:, :, np.newaxis, :] * np.exp(
        noise[np.newaxis, :, np.newaxis, :] * moves
    )
    areas = hypervolume(redrawn[:, 0], redrawn[:, 1])
    log_ratios: Floats = np.log(areas[1] / areas[0])
    return log_ratios


@lru_cache(maxsize=8)
def _draws(pairs: int) -> tuple[Floats, Floats]:
    """Return normal values (side, axis, draw, pair) and (side, 1, draw, 1)."""
    rng = np.random.default_rng(SEED)
    own = rng.standard_normal((2, 2, DRAWS, pairs))
    return own, rng.standard_normal((2, 1, DRAWS, 1))


def _worst_local(
    places: Sequence[Place], base: Floats, head: Floats, axes: Axes
) -> LocalLoss | None:
    usable = np.flatnonzero(placeable(base) & placeable(head))
    usable = usable[(base[usable, 1] > 0) & (head[usable, 1] > 0)]
    if not usable.size:
        return None
    # A ratio the other way round: 1 / latency is better when larger.
    powers = [1 if METRICS[axis].direction == "higher" else -1 for axis in axes]
    factors = shortfalls(base[usable] ** powers, head[usable] ** powers)
    worst = int(factors.argmax())
    deployment, concurrency = places[int(usable[worst])]
    x = float(base[usable[worst], 0])
    return LocalLoss(float(factors[worst]) - 1, deployment, concurrency, x)


def _coverage(
    base: Measured,
    head: Measured,
    *,
    received: int,
    planned: int | None,
    excluded: int,
) -> Coverage:
    old, new = ({*side.places, *side.out} for side in (base, head))
    return Coverage(
        lost=_by_deployment(old - new),
        gained=_by_deployment(new - old),
        lost_x_range=_lost_x(base, new),
        received=received,
        planned=planned,
        left_out_base=len(base.out),
        left_out_head=len(head.out),
        excluded_head=excluded,
    )


def _by_deployment(places: Iterable[Place]) -> tuple[tuple[int, tuple[int, ...]], ...]:
    grouped: dict[int, list[int]] = {}
    for place in sorted(places):
        grouped.setdefault(place.deployment, []).append(place.concurrency)
    return tuple((key, tuple(values)) for key, values in grouped.items())


def _lost_x(base: Measured, kept: set[Place]) -> tuple[tuple[float, float], ...]:
    xs = [
        (float(x), place in kept)
        for place, x in zip(base.places, base.values[:, 0], strict=True)
        if isfinite(x)
    ]
    every, still = [x for x, _ in xs], [x for x, keeps in xs if keeps]
    if not still:
        return ((min(every), max(every)),) if every else ()
    ends = (min(every), min(still)), (max(still), max(every))
    return tuple((low, high) for low, high in ends if low < high)


def _point_changes(
    places: Sequence[Place],
    base: Floats,
    head: Floats,
    metrics: Sequence[str],
    noise: NoiseTable,
) -> Iterable[PointChange]:
    usable = np.isfinite(base) & np.isfinite(head) & (base >= 0) & (head >= 0)
    for column, metric in enumerate(metrics):
        for row in np.flatnonzero(usable[:, column]).tolist():
            values = float(base[row, column]), float(head[row, column])
            place = places[row]
            yield _point_change(
                place, metric, values, noise.value(metric, place.concurrency)
            )


def _point_change(
    place: Place, metric: str, values: tuple[float, float], noise: float | None
) -> PointChange:
    base, head = values
    change = head / base - 1 if base > 0 else None
    direction = METRICS[metric].direction
    z, p = _significance(base, head, noise)
    better, worse = (head, base) if direction == "higher" else (base, head)
    return PointChange(
        *place,
        metric,
        base,
        head,
        gain=_signed(change, direction),
        change=change,
        noise=noise,
        z=z,
        p=p,
        needs_look=direction != "none" and base > 0 and better > NEEDS_LOOK * worse,
    )


def _signed(change: float | None, direction: str) -> float | None:
    if change is None or direction == "none":
        return None
    return change if direction == "higher" else -change


def _significance(
    base: float, head: float, noise: float | None
) -> tuple[float | None, float | None]:
    """Return z and its two-sided p; a fall to 0 has no z and is no chance."""
    if not base > 0 or noise is None or not noise > 0:
        return None, None
    if not head > 0:
        return None, 0.0
    z = log(head / base) / (sqrt(2) * noise)
    return z, erfc(abs(z) / sqrt(2))
