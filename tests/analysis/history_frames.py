"""Histories and their points, written down for tests of pages' findings."""

from collections.abc import Iterable
from typing import Any

import pandas as pd

from dashboard.analysis.history import History, HistorySweep, history_of
from tests.analysis.test_curves import sweep as facts

X, Y = "median_intvty", "tput_per_gpu"
SWAP = {"kind": "checkpoint", "from": "org/Old", "to": "org/New"}


def member(sweep_id: int, **given: Any) -> HistorySweep:
    """Return an official sweep; its facts take segment, breaks, extends, checkpoint."""
    own = {n: given.pop(n) for n in ("state", "markers", "grid", "pull") if n in given}
    is_swap = bool(given.get("breaks"))
    given.setdefault("segment", None if own.get("state") == "held" else 1)
    grid = {name: frozenset(found) for name, found in own.pop("grid", {}).items()}
    return HistorySweep(
        facts(sweep_id, **given),
        own.pop("state", "former"),
        grid=grid,
        is_swap=is_swap,
        **own,
    )


def swapped() -> History:
    """Return two sweeps, a swap that drops TP4, a held sweep, and a newer one."""
    both, only = {"TP2": [4, 64], "TP4": [4]}, {"TP2": [4, 64]}
    return history_of(
        [
            member(1, grid=both),
            member(2, grid=both, markers=({"kind": "image", "from": "a", "to": "b"},)),
            member(3, grid=only, segment=2, breaks=(SWAP,), checkpoint="org/New"),
            member(4, grid=only, state="held"),
            member(5, grid=only, segment=2, state="current", checkpoint="org/New"),
        ]
    )


def points(*rows: tuple[int, str, int, float | None, float | None]) -> pd.DataFrame:
    """Return points of (sweep id, deployment, concurrency, x, y), none kept off."""
    names = ["sweep_id", "deployment", "concurrency", X, Y]
    frame = pd.DataFrame(list(rows), columns=names)
    return frame.astype({X: float, Y: float}).assign(is_out=False)


def usual(sweep_ids: Iterable[int] = (1, 2, 3, 4, 5)) -> pd.DataFrame:
    """Return two points a sweep, the throughput 10 higher with each id."""
    rows = []
    for n in sweep_ids:
        rows += [(n, "TP2", 4, 100.0, 100.0 + 10 * n), (n, "TP2", 64, 20.0, 500.0 + n)]
    return points(*rows)
