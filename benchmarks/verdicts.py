"""How often verdicts are wrong on sweeps whose truth is known, and what they cost.

Usage: python benchmarks/verdicts.py [sweeps]

Half of the variance of a run is common to its points. Once it is common to its metrics
too (a slow run is slow in each), once every metric has its own.
"""

import sys
import time
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from dashboard.analysis.change_points import first_bad
from dashboard.analysis.comparison import Comparison, compare
from dashboard.analysis.noise import START_NOISE, NoiseTable
from dashboard.analysis.verdicts import Candidate, Verdict, judge
from tests.analysis.sweeps import METRICS, X, Y, simulated

LOSSES = {64: 0.06, 128: 0.06, 256: 0.06}
KEYS = 200
SWEEPS = 60


def comparison(
    rng: np.random.Generator, losses: Mapping[int, float], *, tied: bool
) -> Comparison:
    """Compare two measurements, the second with true losses."""
    base = simulated(rng, tied=tied)
    head = simulated(rng, losses=losses, tied=tied)
    return compare(base, head, axes=(X, Y), metrics=METRICS, noise=NoiseTable())


def verdicts(count: int, losses: Mapping[int, float], *, tied: bool) -> Counter[str]:
    """Judge that many sweeps, each a run of its own."""
    rng = np.random.default_rng(1)
    return Counter(
        judge([Candidate("key", comparison(rng, losses, tied=tied))])[0].verdict.value
        for _ in range(count)
    )


def print_shares(count: int) -> None:
    """Print a line per truth and per kind of common term."""
    print(f"{count} sweeps each, compared with one sweep before:")
    for title, losses in (("no change", {}), ("-6 % at 3 of 7 points", LOSSES)):
        for tied in (True, False):
            found = verdicts(count, losses, tied=tied)
            shares = ", ".join(
                f"{word} {100 * number / count:.1f} %"
                for word, number in found.most_common()
            )
            term = "one term for all metrics" if tied else "a term for each metric"
            print(f"  {title:22} {term:25} {shares}")


def print_runs(keys: int, runs: int) -> None:
    """Print how a run of many keys fares without any change."""
    rng = np.random.default_rng(2)
    wrong = 0
    for _ in range(runs):
        judged = judge(
            [Candidate(str(n), comparison(rng, {}, tied=True)) for n in range(keys)]
        )
        wrong += sum(found.verdict != Verdict.WITHIN_NOISE for found in judged)
    share = 100 * wrong / (keys * runs)
    print(f"  runs of {keys} keys, no change: {share:.1f} % of keys not within noise")


def print_change_points(count: int) -> None:
    """Print how often a change of level is named, and how often one is made up."""
    rng = np.random.default_rng(3)
    noise = START_NOISE[Y]
    steady = np.exp(noise * rng.standard_normal((count, SWEEPS)))
    fallen = steady * np.where(np.arange(SWEEPS) < SWEEPS - 10, 1, 0.94)
    made_up = sum(
        first_bad(list(row), metric=Y, noise=noise) is not None for row in steady
    )
    named = sum(
        first_bad(list(row), metric=Y, noise=noise) == SWEEPS - 10 for row in fallen
    )
    print(f"{count} histories of {SWEEPS} sweeps:")
    print(f"  steady: a first bad sweep is named in {100 * made_up / count:.1f} %")
    print(
        f"  -6 % ten sweeps ago: the right one is named in {100 * named / count:.1f} %"
    )


def print_times() -> None:
    """Print what a run of many keys costs, in time of the processor."""
    rng = np.random.default_rng(4)
    sides = [(simulated(rng), simulated(rng)) for _ in range(KEYS)]
    start = time.process_time()
    found = [
        compare(*pair, axes=(X, Y), metrics=METRICS, noise=NoiseTable())
        for pair in sides
    ]
    compared = time.process_time()
    judge([Candidate(str(n), one) for n, one in enumerate(found)])
    judged = time.process_time()
    histories = np.exp(0.0075 * rng.standard_normal((KEYS, SWEEPS)))
    for row in histories:
        first_bad(list(row), metric=Y, noise=0.0075)
    done = time.process_time()
    print(
        f"{KEYS} keys, processor time: compare {compared - start:.2f} s, "
        f"judge {judged - compared:.2f} s,"
    )
    print(f"  change points of {SWEEPS} sweeps each {done - judged:.2f} s")


def main() -> None:
    """Print the shares of each verdict, then the times."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    print_shares(count)
    print_runs(keys=10, runs=count // 10)
    print_change_points(count)
    print_times()


if __name__ == "__main__":
    main()
