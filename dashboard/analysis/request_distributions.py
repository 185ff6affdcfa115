"""How the requests of a replayed trace are distributed: quantiles and bins."""

import math
from collections.abc import Mapping
from typing import TypedDict

import numpy as np
import numpy.typing as npt

Values = npt.NDArray[np.float64]

QUANTILES = {
    "p1": 0.01,
    "p5": 0.05,
    "p10": 0.10,
    "p25": 0.25,
    "median": 0.50,
    "p75": 0.75,
    "p90": 0.90,
    "p95": 0.95,
    "p99": 0.99,
    "p99.9": 0.999,
}
BINS = 40
# From such a spread on, equal steps would put nearly everything into one bin.
LOG_FROM = 20.0


class Distribution(TypedDict):
    """Of ``n`` values: moments, quantiles by name, and counts between edges.

    ``edges`` has one more item than ``counts``. Quantiles are interpolated linearly,
    ``std`` is that of the population, as the producer of the aggregate has it.
    """

    n: int
    mean: float
    std: float
    min: float
    max: float
    quantiles: dict[str, float]
    edges: list[float]
    counts: list[int]


def distribution(values: Values) -> Distribution | None:
    """Return the distribution of the values that are finite, None where none is."""
    known = values[np.isfinite(values)]
    if not known.size:
        return None
    edges = _edges(float(known.min()), float(known.max()))
    counts, _ = np.histogram(known, bins=edges)
    found = np.quantile(known, list(QUANTILES.values()))
    return Distribution(
        n=int(known.size),
        mean=_short(known.mean()),
        std=_short(known.std()),
        min=_short(known.min()),
        max=_short(known.max()),
        quantiles={
            name: _short(value) for name, value in zip(QUANTILES, found, strict=True)
        },
        edges=[_short(edge) for edge in edges],
        counts=counts.tolist(),
    )


def slow_tail(latency: Distribution, rate: Distribution) -> Distribution:
    """Return a rate's distribution with quantiles counted from its slow end.

    The p90 of interactivity is 1 / the p90 of the latency: nine of ten requests were
    faster. Moments and bins are those of the rate itself.
    """
    quantiles = {name: 1 / value for name, value in latency["quantiles"].items()}
    return Distribution({**rate, "quantiles": quantiles})


def spread_out(count: int, most: int) -> npt.NDArray[np.int64]:
    """Return which of ``count`` ordered rows are kept: ``most`` evenly spaced ones."""
    if count <= most:
        return np.arange(count)
    return np.linspace(0, count - 1, most).round().astype(np.int64)


def rate_of_errors(counts: Mapping[str, int]) -> float | None:
    """Return errors / (retained + errors), a fraction; None without a request."""
    errors, retained = counts.get("errors", 0), counts.get("retained", 0)
    return errors / (retained + errors) if retained + errors else None


def _edges(lowest: float, highest: float) -> Values:
    if lowest == highest:
        half = abs(lowest) * 0.01 or 0.5
        return np.array([lowest - half, highest + half])
    if lowest > 0 and highest / lowest >= LOG_FROM:
        edges = np.geomspace(lowest, highest, BINS + 1)
    else:
        edges = np.linspace(lowest, highest, BINS + 1)
    # Rounding may leave an end just outside of its own bin.
    edges[0], edges[-1] = lowest, highest
    return edges


def _short(value: float) -> float:
    """Keep seven significant digits: more were not measured."""
    number = float(value)
    if not number or not math.isfinite(number):
        return number
    return float(f"{number:.7g}")
