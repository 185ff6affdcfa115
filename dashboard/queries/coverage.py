"""What of a sweep's plan arrived, as a grid of deployments and concurrencies."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

RECEIVED, DOUBTED, MISSING = "received", "off the frontier", "missing"
EXCLUDED, UNPLANNED = "excluded", "not planned"
# Where several things are true of a place, the first of these is shown.
_ORDER = (RECEIVED, DOUBTED, EXCLUDED, MISSING)


class GridRow(NamedTuple):
    """One deployment: a state for each concurrency of the grid."""

    deployment: str
    cells: list[str]


@dataclass(frozen=True, slots=True)
class Grid:
    """States by deployment, in the order they were planned, and by concurrency."""

    concurrencies: list[int]
    rows: list[GridRow]


def grid(
    planned: Iterable[tuple[str, int]], states: Iterable[tuple[str, int, str]]
) -> Grid:
    """Lay a plan and the state of each measured place into one grid.

    ``states`` are (deployment, concurrency, state) of points that count or were
    excluded; several points may stand at one place.
    """
    found = {place: {MISSING} for place in planned}
    for deployment, concurrency, state in states:
        found.setdefault((deployment, concurrency), set()).add(state)
    concurrencies = sorted({concurrency for _, concurrency in found})
    deployments = list(dict.fromkeys(deployment for deployment, _ in found))
    rows = [
        GridRow(name, [_shown(found.get((name, c), set())) for c in concurrencies])
        for name in deployments
    ]
    return Grid(concurrencies, rows)


def _shown(states: set[str]) -> str:
    return next((state for state in _ORDER if state in states), UNPLANNED)
