"""How long it takes to find frontiers among many points.

Usage: python benchmarks/frontier.py [points ...]
"""

import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from dashboard.analysis.pareto import on_frontier, standings

X, Y = "median_intvty", "tput_per_gpu"
REPEATS = 5
POINTS_PER_KEY = 15


def best_ms(measured: Callable[[], object]) -> float:
    """Return the fastest of a few calls, in ms."""
    times = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        measured()
        times.append(time.perf_counter() - start)
    return min(times) * 1000


def synthetic(count: int) -> pd.DataFrame:
    """Make points around a trade-off, so that frontiers are long."""
    rng = np.random.default_rng(7)
    x = rng.uniform(1, 300, count)
    y = 3e5 / x * rng.lognormal(0, 0.1, count)
    keys = np.arange(count) // POINTS_PER_KEY
    return pd.DataFrame({X: x, Y: y, "config_key": keys, "is_out": False})


def main() -> None:
    """Print a line per number of points."""
    counts = [int(text) for text in sys.argv[1:]] or [435, 5_000, 100_000, 1_000_000]
    print("points      one frontier      one per key (15 points each)")
    for count in counts:
        points = synthetic(count)
        one = best_ms(partial(on_frontier, points, X, Y))
        # Past this many keys no page asks.
        shown = points.head(20_000)
        many = best_ms(partial(standings, shown, "config_key", X, Y))
        print(f"{count:>9,} {one:>12.2f} ms {many:>12.2f} ms of {len(shown):,} points")


if __name__ == "__main__":
    main()
