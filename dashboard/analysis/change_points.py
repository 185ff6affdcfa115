"""Since when a long history is worse: the sweep where its level fell for good."""

from collections.abc import Sequence
from math import log

import numpy as np
import ruptures

from dashboard.analysis.pareto import goodness

# With fewer sweeps the comparison of two says as much as a level can.
SWEEPS_NEEDED = 10

# A level that moved by less is no regression, however surely it moved.
LEAST_CHANGE = 0.03

# Each further change must explain this many times log(sweeps) of squared noise
# (Zhang and Siegmund 2007: one place and one level more to choose).
PENALTY = 3.0


def first_bad(
    values: Sequence[float | None], *, metric: str, noise: float
) -> int | None:
    """Return the position of the first sweep on the level that is now worse.

    ``values`` of one metric, oldest first, all of one segment; None or NaN where a
    sweep lacks it. ``noise`` is that of one run, a fraction. None where fewer than
    ten sweeps have a value, where the level never changed, or where the last change
    of level was for the better or below 3 %.
    """
    series = np.array(values, dtype=np.float64)
    known = np.flatnonzero(np.isfinite(series) & (series > 0))
    if len(known) < SWEEPS_NEEDED:
        return None
    logs = np.log(series[known])
    changes = _changes(logs / noise)
    if not changes:
        return None
    before, start = [0, *changes][-2:]
    shift = logs[start:].mean() - logs[before:start].mean()
    is_worse = goodness(metric, [shift])[0] < 0
    return int(known[start]) if is_worse and abs(shift) >= _LEAST_SHIFT else None


_LEAST_SHIFT = log(1 + LEAST_CHANGE)


def _changes(signal: "np.ndarray[tuple[int], np.dtype[np.float64]]") -> list[int]:
    """Return where the mean of a signal with unit noise changes (PELT, least squares).

    A level of one sweep counts: it may be the newest. The linear kernel's cost is the
    sum of squares, in C where ruptures' own Pelt takes 14 ms for 60 sweeps.
    """
    search = ruptures.KernelCPD(kernel="linear", min_size=1).fit(signal[:, np.newaxis])
    ends = search.predict(pen=PENALTY * log(len(signal)))
    return [int(end) for end in ends[:-1]]
