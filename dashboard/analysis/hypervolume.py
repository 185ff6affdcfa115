"""The area that points dominate, and by how much one set falls behind another."""

import numpy as np

from dashboard.analysis.pareto import Floats


def hypervolume(xs: Floats, ys: Floats) -> Floats:
    """Return the area between (0, 0) and the points, where larger is better on both.

    ``xs`` and ``ys`` have the points on their last axis; the axes before it are sets
    of their own, and those are what is left. Values below 0 count as 0. No point
    dominates nothing: 0.

    The points are visited from the largest x down: until the next x, the area is as
    high as the best y so far (Zitzler and Thiele 1998, in two dimensions).
    """
    order = np.argsort(-xs, axis=-1)
    falling = np.maximum(np.take_along_axis(xs, order, axis=-1), 0)
    heights = np.take_along_axis(ys, order, axis=-1)
    heights = np.maximum(np.maximum.accumulate(heights, axis=-1), 0)
    ends = np.zeros((*falling.shape[:-1], 1))
    widths = -np.diff(np.concatenate((falling, ends), axis=-1), axis=-1)
    # What overflows is infinite: whoever compares areas looks whether they are finite.
    with np.errstate(over="ignore", invalid="ignore"):
        area: Floats = (widths * heights).sum(axis=-1)
    return area


def shortfalls(base: Floats, head: Floats) -> Floats:
    """Return for each point of ``base`` by which factor ``head`` falls behind it.

    Shapes (points of base, 2) and (points of head, 2), values above 0, larger is
    better on both axes. A factor of 1.07 says: all of ``head`` would have to grow by
    7 % until one of its points is as good. The largest factor is the multiplicative
    epsilon indicator (Zitzler et al. 2003).
    """
    ratios = base[:, np.newaxis, :] / head[np.newaxis, :, :]
    factors: Floats = ratios.max(axis=2).min(axis=1)
    return factors
