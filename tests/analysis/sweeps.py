"""Frames of sweeps for tests and benchmarks: written down, or measured by chance."""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import pandas as pd

from dashboard.analysis.noise import START_NOISE

X, Y = "median_intvty", "tput_per_gpu"
METRICS = (Y, X, "median_ttft", "p99_ttft", "median_e2el")

# The shape of a dense model on two GPUs at 8k/1k; latencies in s.
CONCURRENCIES = (4, 8, 16, 32, 64, 128, 256)
TRUTH = {
    Y: (1700, 3050, 4870, 7560, 10600, 13000, 15000),
    X: (100.4, 90.0, 73.5, 56.0, 38.2, 23.8, 13.5),
    "median_ttft": (0.28, 0.28, 0.32, 0.34, 0.38, 0.43, 0.49),
    "p99_ttft": (0.60, 0.75, 1.10, 1.80, 3.10, 5.90, 11.0),
    "median_e2el": (9.4, 10.6, 13.0, 17.0, 25.0, 40.0, 69.0),
}

# Which way a slow run moves a metric.
SLOW = {Y: -1, X: -1, "median_ttft": 1, "p99_ttft": 1, "median_e2el": 1}
RHO = 0.5


def sweep(
    rows: Iterable[Sequence[float | None]],
    metrics: Sequence[str] = (X, Y),
    *,
    concurrencies: Sequence[int] | None = None,
    deployment: int = 1,
    is_out: bool = False,
) -> pd.DataFrame:
    """Return a sweep of one deployment; a row holds the metrics of a concurrency."""
    frame = pd.DataFrame(list(rows), columns=list(metrics), dtype="float64")
    concurrency = [2**n for n in range(len(frame))]
    return frame.assign(
        deployment=deployment,
        concurrency=concurrency if concurrencies is None else list(concurrencies),
        is_out=is_out,
    )


def simulated(
    rng: np.random.Generator,
    *,
    losses: Mapping[int, float] | None = None,
    tied: bool = True,
) -> pd.DataFrame:
    """Measure the seven points once, at the start noise, half of it common to the run.

    ``losses`` are fractions of throughput and interactivity lost at a concurrency.
    ``tied`` makes the common part one for all metrics: a slow run is slow in each;
    otherwise every metric has its own.
    """
    one = rng.standard_normal()
    frame = pd.DataFrame({"deployment": 1, "concurrency": CONCURRENCIES}).assign(
        is_out=False
    )
    kept = np.array([1 - (losses or {}).get(c, 0.0) for c in CONCURRENCIES])
    for metric, truth in TRUTH.items():
        common = SLOW[metric] * one if tied else rng.standard_normal()
        own = rng.standard_normal(len(truth))
        move = np.sqrt(RHO) * common + np.sqrt(1 - RHO) * own
        noise = START_NOISE[metric]
        frame[metric] = np.array(truth) * np.exp(noise * move)
        if metric in (X, Y):
            frame[metric] *= kept
    return frame
