"""The best that each of two sweeps gives at fixed interactivities."""

from collections.abc import Iterable
from dataclasses import dataclass

from dashboard.analysis.pairing import Measured, Place, placeable
from dashboard.analysis.pareto import Floats, goodness
from dashboard.vocabulary.metrics import METRICS, TOKENS_PER_USER

# Where the best throughput of both sides is read, in tok/s/user.
INTERACTIVITIES = (10, 20, 30, 40, 50, 75, 100, 150, 200, 250, 300)


@dataclass(frozen=True, slots=True)
class BestAt:
    """The best y of both sides at an x or better; None where a side has none.

    ``base_only`` and ``head_only`` tell a best that only a place without a pair has.
    """

    x: float
    base: float | None
    head: float | None
    base_only: bool = False
    head_only: bool = False


def best_at(
    base: Measured, head: Measured, paired: set[Place], axes: tuple[str, str]
) -> Iterable[BestAt]:
    """Yield the best y at the interactivities that a side reaches: the step rule."""
    if METRICS[axes[0]].unit != TOKENS_PER_USER:
        return
    sides = base, head
    kept = [side.at([p for p in side.places if p in paired]) for side in sides]
    for x in INTERACTIVITIES:
        old, new = (_best(side.values, axes[1], x) for side in sides)
        if old is not None or new is not None:
            pair = [_best(values, axes[1], x) for values in kept]
            yield BestAt(
                x, old, new, base_only=old != pair[0], head_only=new != pair[1]
            )


def _best(values: Floats, y: str, at: float) -> float | None:
    reaching = values[placeable(values) & (values[:, 0] >= at), 1]
    if not reaching.size:
        return None
    return float(reaching[goodness(y, reaching).argmax()])
