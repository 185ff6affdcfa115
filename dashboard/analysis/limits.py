"""Which changes of a comparison are flagged: the limits, and what chance explains."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite, sqrt
from types import MappingProxyType

from scipy.stats import false_discovery_control

from dashboard.analysis.comparison import Axes, Comparison, LikeForLike, PointChange
from dashboard.analysis.pairing import Place

# A point is flagged from this change on, and where noise is larger, from the one that
# two runs of the same thing exceed once in twenty times.
POINT_LIMIT = 0.03
POINT_Z = 1.96
FALSE_DISCOVERIES = 0.10

FRONTIER_LIMIT = 0.03
STRONG_LIMIT = 0.05
LOCAL_LIMIT = 0.05

# Latencies scatter more, and one alone is no reason: half of the pairs must agree.
LATENCY_LIMITS: Mapping[str, float] = MappingProxyType(
    {"median_ttft": 0.10, "p99_ttft": 0.18}
)
LATENCY_SHARE = 0.5

Discovered = frozenset[PointChange | LikeForLike]


@dataclass(frozen=True, slots=True)
class Findings:
    """What is flagged in one comparison.

    ``losses`` and ``gains`` decide; ``shown`` are flagged metrics that decide nothing;
    ``needs_look`` are gains too large to be believed. ``frontier`` is the flagged
    like-for-like change, ``local`` the flagged local loss, fractions.
    """

    losses: tuple[PointChange, ...] = ()
    gains: tuple[PointChange, ...] = ()
    shown: tuple[PointChange, ...] = ()
    needs_look: tuple[PointChange, ...] = ()
    frontier: float | None = None
    local: float | None = None

    @property
    def is_loss(self) -> bool:
        """Tell whether something that decides got worse."""
        fell = self.frontier is not None and self.frontier < 0
        return bool(self.losses) or fell or self.local is not None

    @property
    def is_gain(self) -> bool:
        """Tell whether something that decides got better."""
        return bool(self.gains) or (self.frontier is not None and self.frontier > 0)

    @property
    def points(self) -> frozenset[PointChange]:
        """Return every flagged point, deciding or not."""
        return frozenset((*self.losses, *self.gains, *self.shown, *self.needs_look))


def limit(point: PointChange) -> float:
    """Return from which absolute change on a point is flagged, a fraction."""
    floor = LATENCY_LIMITS.get(point.metric, POINT_LIMIT)
    return floor if point.noise is None else max(floor, visible(point.noise))


def visible(noise: float) -> float:
    """Return the change that two runs of the same thing exceed one time in twenty."""
    return POINT_Z * sqrt(2) * noise


def decides(axes: Axes, metric: str) -> bool:
    """Tell whether a metric can decide a verdict."""
    return metric in axes or metric in LATENCY_LIMITS


def usable_pairs(comparison: Comparison) -> frozenset[Place]:
    """Return the places where both axes have a change and its significance."""
    x, y = (
        {p.place for p in comparison.points if p.metric == axis and p.p is not None}
        for axis in comparison.axes
    )
    return frozenset(x & y)


def discoveries(comparisons: Sequence[Comparison]) -> list[Discovered]:
    """Return for each comparison of one run what is no chance.

    Benjamini-Hochberg over all deciding metrics of all of them, the frontiers with
    them: else two runs of one thing would be told apart more than once in twenty.
    Metrics that decide nothing are a family of their own: however many a page lists,
    the verdict stays.
    """
    found: list[set[PointChange | LikeForLike]] = [set() for _ in comparisons]
    for deciding in (True, False):
        family = [
            (number, tested, tested.p)
            for number, comparison in enumerate(comparisons)
            for tested in _tested(comparison, deciding=deciding)
            if tested.p is not None and isfinite(tested.p)
        ]
        if not family:
            continue
        adjusted = false_discovery_control([p for _, _, p in family])
        for (number, tested, _), q in zip(family, adjusted, strict=True):
            if q <= FALSE_DISCOVERIES:
                found[number].add(tested)
    return [frozenset(tested) for tested in found]


def _tested(
    comparison: Comparison, *, deciding: bool
) -> Iterable[PointChange | LikeForLike]:
    for point in comparison.points:
        if decides(comparison.axes, point.metric) == deciding:
            yield point
    if deciding and comparison.like_for_like is not None:
        yield comparison.like_for_like


def findings(comparison: Comparison, discovered: Discovered) -> Findings:
    """Hold a comparison against every limit; ``discovered`` are no chance."""
    flagged = [p for p in comparison.points if p in discovered and _passes(p)]
    deciding = frozenset(_deciding(flagged, comparison))
    believed = [p for p in flagged if p in deciding and not p.needs_look]
    losses = tuple(point for point in believed if _is_loss(point))
    doubted = tuple(p for p in flagged if p in deciding and p.needs_look)
    return Findings(
        losses=losses,
        gains=tuple(point for point in believed if not _is_loss(point)),
        shown=tuple(point for point in flagged if point not in deciding),
        needs_look=doubted,
        frontier=_frontier(comparison, discovered, doubted),
        local=_local(comparison, losses),
    )


def _passes(point: PointChange) -> bool:
    return point.gain is not None and abs(point.gain) >= limit(point)


def _is_loss(point: PointChange) -> bool:
    return point.gain is not None and point.gain < 0


def _deciding(
    flagged: Sequence[PointChange], comparison: Comparison
) -> Iterable[PointChange]:
    needed = LATENCY_SHARE * len(usable_pairs(comparison))
    for point in flagged:
        if point.metric not in LATENCY_LIMITS:
            agrees = point.metric in comparison.axes
        else:
            alike = [
                other
                for other in flagged
                if other.metric == point.metric and _is_loss(other) == _is_loss(point)
            ]
            agrees = len(alike) >= needed
        if agrees:
            yield point


def _frontier(
    comparison: Comparison, discovered: Discovered, doubted: Sequence[PointChange]
) -> float | None:
    """Return the like-for-like change where it is flagged.

    A gain that rests on points that need a look is none.
    """
    found = comparison.like_for_like
    if found is None or found.low is None or found.high is None:
        return None
    is_chance = found not in discovered or found.low <= 0 <= found.high
    if is_chance or abs(found.change) < FRONTIER_LIMIT:
        return None
    return None if found.change > 0 and doubted else found.change


def _local(comparison: Comparison, losses: Sequence[PointChange]) -> float | None:
    worst = comparison.worst_local
    if worst is None or worst.loss < LOCAL_LIMIT:
        return None
    place = Place(worst.deployment, worst.concurrency)
    return worst.loss if place in {point.place for point in losses} else None
