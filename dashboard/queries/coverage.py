"""What of a sweep's plan arrived, as a grid of deployments and concurrencies."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

RECEIVED, DOUBTED, MISSING = "received", "off the frontier", "missing"
EXCLUDED, UNPLANNED = "excluded", "not planned"
# Where several things are true of a place, the first of these is shown.
_ORDER = (RECEIVED, DOUBTED, EXCLUDED, MISSING)


class Measured(Protocol):
    """What the grid looks at of a point."""

    @property
    def deployment(self) -> str: ...  # noqa: D102
    @property
    def concurrency(self) -> int: ...  # noqa: D102
    @property
    def is_out(self) -> bool: ...  # noqa: D102
    @property
    def is_excluded(self) -> bool: ...  # noqa: D102


class GridRow(NamedTuple):
    """One deployment: a state for each concurrency of the grid."""

    deployment: str
    cells: list[str]


@dataclass(frozen=True, slots=True)
class Grid:
    """States by deployment, in the order they were planned, and by concurrency."""

    concurrencies: list[int]
    rows: list[GridRow]


def grid(planned: Iterable[tuple[str, int]], points: Sequence[Measured]) -> Grid:
    """Lay a plan and the points that count, or were excluded, into one grid."""
    found = {place: {MISSING} for place in planned}
    for point in points:
        place = (point.deployment, point.concurrency)
        found.setdefault(place, set()).add(_state(point))
    concurrencies = sorted({concurrency for _, concurrency in found})
    deployments = list(dict.fromkeys(deployment for deployment, _ in found))
    rows = [
        GridRow(name, [_shown(found.get((name, c), set())) for c in concurrencies])
        for name in deployments
    ]
    return Grid(concurrencies, rows)


def _state(point: Measured) -> str:
    if point.is_excluded:
        return EXCLUDED
    return DOUBTED if point.is_out else RECEIVED


def _shown(states: set[str]) -> str:
    return next((state for state in _ORDER if state in states), UNPLANNED)
