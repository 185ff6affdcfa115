"""How much runs of the published history differ, and what verdicts say of them.

Usage: python benchmarks/noise.py benchmarks-history.json

The history records no image: consecutive runs of one series count as repeats, and some
of what is flagged are real changes.
"""

import json
import re
import sys
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from dashboard.analysis.comparison import LISTED, PointChange, compare
from dashboard.analysis.limits import limit
from dashboard.analysis.noise import EVERYWHERE, START_NOISE, NoiseTable, estimate
from dashboard.analysis.pairing import pairs
from dashboard.analysis.verdicts import Candidate, Judged, judge
from dashboard.vocabulary.metrics import METRICS

X, Y = "median_intvty", "tput_per_gpu"
SERIES = ["hardware", "framework", "model", "precision", "spec_method", "disagg"]
LENGTHS = ["isl", "osl"]
LARGEST = 20
TOLERANCE = 0.2

# One series' two consecutive sweeps and their links.
Sides = tuple[str, pd.DataFrame, pd.DataFrame]


def read(path: Path) -> pd.DataFrame:
    """Return one row per point with the columns that comparisons need."""
    rows = pd.json_normalize(json.loads(path.read_text(encoding="utf-8")))
    rows = rows.rename(columns=lambda name: name.removeprefix("metrics."))
    topology = [c for c in rows if re.match("prefill_|decode_|num_", str(c))]
    run = rows["run_url"].str.extract(r"/runs/(\d+)")[0].astype("int64")
    return rows.assign(
        deployment=rows.groupby(topology).ngroup(),
        concurrency=rows["conc"],
        is_out=False,
        run=run,
    ).sort_values(["date", "run"], kind="stable")


def consecutive(rows: pd.DataFrame) -> Iterator[Sides]:
    """Yield every two sweeps of a series that follow each other."""
    for names, series in rows.groupby([*SERIES, *LENGTHS]):
        *words, isl, osl = names
        title = " ".join(map(str, words[:5])) + f" {isl}/{osl}"
        sweeps = [sweep for _, sweep in series.groupby(["date", "run"])]
        for base, head in pairwise(sweeps):
            yield title, base, head


def log_ratios(sides: list[Sides]) -> pd.DataFrame:
    """Return metric, concurrency and log ratio of every pair of points."""
    found = []
    for _, base, head in sides:
        paired = pairs(base, head, LISTED)
        for metric in LISTED:
            ratio = np.log(paired[f"{metric}_head"] / paired[f"{metric}_base"])
            found.append(
                pd.DataFrame(
                    {"concurrency": paired["concurrency"], "log_ratio": ratio}
                ).assign(metric=metric)
            )
    return pd.concat(found)


def print_noise(ratios: pd.DataFrame) -> None:
    """Print the pooled noise beside the start values."""
    print("metric                  band      pairs    noise    start   apart")
    for metric, name, value, count in estimate(ratios).itertuples(index=False):
        start = START_NOISE.get(metric) if name == EVERYWHERE else None
        said = ""
        if start is not None:
            apart = value / start - 1
            verdict = "" if abs(apart) <= TOLERANCE else "  more than 20 % apart"
            said = f"{100 * start:7.2f} % {100 * apart:+6.1f} %{verdict}"
        print(f"{metric:23} {name:8} {count:6} {100 * value:7.2f} % {said}")


def judged(sides: list[Sides]) -> list[tuple[Sides, Judged]]:
    """Judge every pair of sweeps, those of one candidate run together."""
    by_run: dict[int, list[Sides]] = {}
    for pair in sides:
        by_run.setdefault(int(pair[2]["run"].iloc[0]), []).append(pair)
    table = NoiseTable()
    found: list[tuple[Sides, Judged]] = []
    for run in by_run.values():
        candidates = [
            Candidate(title, compare(base, head, axes=(X, Y), noise=table))
            for title, base, head in run
        ]
        found += zip(run, judge(candidates), strict=True)
    return found


def print_flagged(found: list[tuple[Sides, Judged]]) -> None:
    """Print how many pairs are flagged, and the largest changes with their links."""
    words = Counter(one.verdict.value for _, one in found)
    print(f"\n{len(found)} consecutive sweeps:", dict(words.most_common()))
    points = [
        (point, sides)
        for sides, one in found
        for point in (one.comparison.points if one.comparison else ())
        if point.metric == Y and point.change is not None
    ]
    flagged = [p for p, _ in points if abs(p.change or 0) >= limit(p)]
    print(f"{len(points)} pairs of points, throughput flagged at {len(flagged)}")
    print(f"\nthe {LARGEST} largest changes of {METRICS[Y].phrase}:")
    points.sort(key=lambda item: -abs(item[0].change or 0))
    for point, sides in points[:LARGEST]:
        print_change(point, sides)


def print_change(point: PointChange, sides: Sides) -> None:
    """Print one change with the links of both runs."""
    title, base, head = sides
    print(f"{100 * (point.change or 0):+7.1f} % c{point.concurrency:<5} {title}")
    for word, side in (("from", base), ("to", head)):
        print(f"    {word:4} {side['date'].iloc[0]} {side['run_url'].iloc[0]}")


def main() -> None:
    """Print the noise, then what stands out of it."""
    if len(sys.argv) != len(("script", "file")):
        sys.exit("usage: python benchmarks/noise.py benchmarks-history.json")
    sides = list(consecutive(read(Path(sys.argv[1]))))
    print_noise(log_ratios(sides))
    print_flagged(judged(sides))


if __name__ == "__main__":
    main()
