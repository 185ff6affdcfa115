"""How much two runs of one thing differ: pooled from history, else what is known."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from math import inf, sqrt
from types import MappingProxyType

import numpy as np
import numpy.typing as npt
import pandas as pd

from dashboard.analysis.frames import require_columns
from dashboard.vocabulary.metrics import METRICS, TOKENS_PER_GPU

# Below this many pairs a band, or a metric, says too little about itself.
PAIRS_NEEDED = 30

# A median of absolute values times this is a standard deviation of normal values.
MAD_SCALE = 1.4826

EVERYWHERE = "all"

# The bands are those of the grid of powers of two. What lies between two of them (the
# traces' 20, 24, 28; a sweep's 96) queues already and joins the upper one.
BANDS = ((16, "1-16"), (64, "32-64"), (inf, "128+"))

_THROUGHPUT = 0.0075
_INTERACTIVITY = 0.006

# One standard deviation of one run, a fraction. Measured over consecutive runs of the
# published history (735 pairs). A time per token is 1 / interactivity.
START_NOISE: Mapping[str, float] = MappingProxyType(
    {name: _THROUGHPUT for name, m in METRICS.items() if m.unit == TOKENS_PER_GPU}
    | {f"median_{name}": _INTERACTIVITY for name in ("intvty", "tpot", "itl")}
    | {"median_e2el": 0.0075, "median_ttft": 0.032, "p99_ttft": 0.051}
)

# A mean stands where the median does.
_PERCENTILE = re.compile(r"(?P<at>median|mean|p[0-9.]+)_(?P<of>\w+)")


@dataclass(frozen=True, slots=True)
class Noise:
    """A value of the noise, a fraction of the metric, and where it comes from.

    ``metric`` and ``band`` are whose value it is: those asked for, or what stands in.
    ``pairs`` and ``as_of`` are None for a start value.
    """

    metric: str
    band: str
    value: float
    pairs: int | None = None
    as_of: date | None = None

    @property
    def source(self) -> str:
        """Return in words what the value rests on."""
        if self.pairs is None:
            return "start value, from the published history"
        where = "" if self.band == EVERYWHERE else f", concurrency {self.band}"
        return f"{self.pairs} pairs of consecutive runs as of {self.as_of}{where}"


class NoiseTable:
    """What is known of the noise of every metric, by concurrency."""

    def __init__(self, measured: Iterable[Noise] = ()) -> None:
        self._measured = {
            (noise.metric, noise.band): noise
            for noise in measured
            if (noise.pairs or 0) >= PAIRS_NEEDED and noise.value > 0
        }
        self._found: dict[tuple[str, str], Noise | None] = {}

    def value(self, metric: str, concurrency: float) -> float | None:
        """Return the noise of one run, a fraction; None where nothing is known."""
        found = self.entry(metric, concurrency)
        return None if found is None else found.value

    def entry(self, metric: str, concurrency: float) -> Noise | None:
        """Return the value with its origin.

        First the band's own of at least 30 pairs, then the metric's over all bands,
        then its start value; where a percentile has none of them, that of its
        metric's nearest percentile. A measured 0 (one run stored twice) is no noise.
        """
        asked = metric, band(concurrency)
        if asked not in self._found:
            self._found[asked] = next(self._known(*asked), None)
        return self._found[asked]

    def _known(self, metric: str, within: str) -> Iterator[Noise]:
        for name in [metric, *_nearest(metric)]:
            for place in (within, EVERYWHERE):
                if (name, place) in self._measured:
                    yield self._measured[name, place]
            if name in START_NOISE:
                yield Noise(name, EVERYWHERE, START_NOISE[name])


def band(concurrency: float) -> str:
    """Return the band of concurrencies that shares one value of the noise."""
    return next(name for highest, name in BANDS if concurrency <= highest)


def pooled(log_ratios: npt.ArrayLike) -> float:
    """Return the noise of one run from log ratios of consecutive runs.

    The ratio of two runs scatters by sqrt(2) times that of one; the median absolute
    value is what a few real changes among the pairs do not move. Values that are not
    finite are left out; NaN where none is left.
    """
    ratios = np.asarray(log_ratios, dtype=np.float64)
    ratios = ratios[np.isfinite(ratios)]
    if not ratios.size:
        return float("nan")
    return float(MAD_SCALE * np.median(np.abs(ratios)) / sqrt(2))


def estimate(pairs: pd.DataFrame) -> pd.DataFrame:
    """Pool ``pairs`` (metric, concurrency, log_ratio) by metric and band.

    Returns metric, band, value (a fraction) and pairs; the band ``all`` holds every
    pair of the metric. However few the pairs: ``NoiseTable`` decides what to use.
    """
    require_columns(pairs, ("metric", "concurrency", "log_ratio"))
    usable = pairs[np.isfinite(pairs["log_ratio"].to_numpy(dtype=np.float64))]
    bands = usable.assign(band=[band(value) for value in usable["concurrency"]])
    both = pd.concat([bands, usable.assign(band=EVERYWHERE)])
    rows = [
        (metric, name, pooled(group), len(group))
        for (metric, name), group in both.groupby(["metric", "band"])["log_ratio"]
    ]
    return pd.DataFrame(rows, columns=["metric", "band", "value", "pairs"])


def _nearest(metric: str) -> list[str]:
    """Return the other percentiles of the same quantity, the nearest first."""
    of, at = _percentile(metric)
    if at is None:
        return []
    alike = [(_percentile(name), name) for name in METRICS if name != metric]
    distances = [
        (abs(other - at), name)
        for (quantity, other), name in alike
        if quantity == of and other is not None
    ]
    return [name for _, name in sorted(distances)]


def _percentile(metric: str) -> tuple[str, float | None]:
    found = _PERCENTILE.fullmatch(metric)
    if found is None:
        return metric, None
    at = found["at"].removeprefix("p")
    return found["of"], 50 if at in ("median", "mean") else float(at)
