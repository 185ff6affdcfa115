"""How fast pages and drop-ins are read, from a database of a million points.

Usage: python benchmarks/scale.py --all
       DATABASE_URL=... python benchmarks/scale.py --here [--only TEXT]

``--all`` makes a database of its own on the server of DATABASE_URL (else of an embedded
PostgreSQL) and drops it in the end. It fills it with 10,000, then 100,000, then a
million made-up points (`manage.py make_scale_data`), serves each as production does
(gunicorn by gunicorn.conf.py, files packed by whitenoise) and prints a table per size;
then what a browser sees, storage, memory, and what wrk's eight connections get.
``--here`` measures the filled database that DATABASE_URL names as it is.

A warm figure is the median of 15 answers read to the last byte after one that is not
counted; a cold one is the median of 15 (5 of a history) that were each the first after
the data changed. Connections are new, answers packed. Beside each stands the processor
time of the web processes per answer, which other work on the machine distorts less.
Exits with 1 where a budget is missed.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.ingest import database, manage
from benchmarks.scale_browser import browser_figures
from benchmarks.scale_load import load_figures
from benchmarks.scale_site import Answer, Site, served
from launcher.paths import CHECKOUT

MODEL = "DeepSeek-R1-0528"
KEY = "dsr1-fp4-b200-sglang"
REPEATS, FEW = 15, 5
# Points, keys and dates: each size shows as many lines and points on a page.
SIZES = ((10_000, 20, 8), (100_000, 40, 40), (1_000_000, 400, 40))
MOST_STORED, MOST_MEMORY_MB = 1536, 400
STEPS = 1_000_000


class Row(NamedTuple):
    """Something that is read, and its budgets in ms."""

    name: str
    path: str
    warm_ms: float
    cold_ms: float
    colds: int = REPEATS


def rows() -> list[Row]:
    """Return what is read; the addresses are those of the fullest model."""
    month_ago = (datetime.now(UTC) - timedelta(days=30)).date()
    here = f"/inference?model={MODEL}&scenario=8k/1k"
    api = "/api/v1"
    return [
        Row("/inference with its figure", here, 40, 250),
        Row("the same as of a month back", f"{here}&date={month_ago}", 60, 300),
        Row("/keys/<key>, full history", f"/keys/{KEY}", 60, 300),
        Row("drop-in newest rows", f"{api}/benchmarks?model={MODEL}", 25, 250),
        Row(
            "drop-in history, model and scenario",
            f"{api}/benchmarks/history?model={MODEL}&isl=8192&osl=1024",
            *(400, 1500, FEW),
        ),
        Row("drop-in availability", f"{api}/availability", 10, 100),
        Row("drop-in evaluations, all", f"{api}/evaluations", 150, 600),
        Row("/regressions", "/regressions", 60, 300),
        Row("/changes", "/changes", 60, 300),
        Row("/", "/", 60, 300),
    ]


class Figures(NamedTuple):
    """What was measured of a row: medians, in ms."""

    row: Row
    warm: Answer
    cold: Answer

    @property
    def is_met(self) -> bool:
        """Tell whether both budgets are kept to."""
        return self.warm.ms <= self.row.warm_ms and self.cold.ms <= self.row.cold_ms


def measured(site: Site, row: Row) -> Figures:
    """Ask for one row, cold first, since each change makes it cold."""
    site.ask(row.path)
    cold = site.median(row.path, row.colds, is_cold=True)
    site.ask(row.path)
    return Figures(row, site.median(row.path, REPEATS), cold)


def print_reads(site: Site, only: str) -> bool:
    """Print a line per row; tell whether every budget was kept to."""
    print("| read | warm, ms | of | cold, ms | of | cpu warm, cold, ms | kB | |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    is_met = True
    for row in rows():
        if only not in row.name + row.path:
            continue
        found = measured(site, row)
        is_met = is_met and found.is_met
        print(
            f"| {row.name} | {found.warm.ms:.1f} | {row.warm_ms:g} |"
            f" {found.cold.ms:.0f} | {row.cold_ms:g} |"
            f" {found.warm.cpu_ms:.1f}, {found.cold.cpu_ms:.0f} |"
            f" {found.warm.size / 1000:.0f} | {'ok' if found.is_met else 'NOT OK'} |",
            flush=True,
        )
    return is_met


def print_limits(figures: Iterator[tuple[str, float, float | None, str]]) -> bool:
    """Print (name, figure, budget, unit) each in a line; tell whether all were met."""
    is_met = True
    for name, figure, budget, unit in figures:
        is_good = budget is None or figure <= budget
        is_met = is_met and is_good
        said = "ok" if is_good else "NOT OK"
        of = "" if budget is None else f"{budget:,.0f} {unit}"
        print(f"| {name} | {figure:,.0f} {unit} | {of} | {said} |")
        sys.stdout.flush()
    return is_met


def limits(site: Site) -> Iterator[tuple[str, float, float | None, str]]:
    """Yield what a browser, the disk and the memory say of the largest database."""
    yield from browser_figures(site.address, f"/inference?model={MODEL}")
    yield "stored per point", site.stored_per_point(), MOST_STORED, "B"
    yield "peak of the web processes", site.peak_mb(), MOST_MEMORY_MB, "MB"


def million_steps() -> float:
    """Return how many million additions a core makes a second, the best of five.

    Machines of one kind differ by three times in it, whatever their load says.
    """
    times = []
    for _ in range(5):
        begun = time.perf_counter()
        sum(number + 1 for number in range(STEPS))
        times.append(time.perf_counter() - begun)
    return STEPS / min(times) / 1e6


def measure(env: dict[str, str], *, only: str, is_whole: bool) -> bool:
    """Serve the database and measure; tell whether every budget was kept to."""
    with served(env) as site:
        print(
            f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores,"
            f" {million_steps():.0f} million steps of Python a second",
            flush=True,
        )
        is_met = print_reads(site, only)
        if is_whole:
            is_met = print_limits(limits(site)) and is_met
            paths = (f"/inference?model={MODEL}", f"/api/v1/benchmarks?model={MODEL}")
            is_met = load_figures(site.address, paths, site.static_path()) and is_met
    return is_met


def fill(env: dict[str, str], points: int, keys: int, dates: int) -> None:
    """Fill the database anew."""
    begun = time.perf_counter()
    sizes = [f"--points={points}", f"--keys={keys}", f"--dates={dates}"]
    manage("manage.py", "make_scale_data", "--replace", *sizes, env=env)
    took = time.perf_counter() - begun
    print(f"\n{points:,} points of {keys} keys and {dates} dates, made in {took:.0f} s")


def measure_all() -> bool:
    """Measure each size in a database of its own."""
    is_met = True
    with database() as env:
        manage("manage.py", "migrate", "--verbosity=0", env=env)
        for size in SIZES:
            fill(env, *size)
            is_met = measure(env, only="", is_whole=size == SIZES[-1])
    return is_met


@contextmanager
def _here() -> Iterator[dict[str, str]]:
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="scale-"))
        yield {"FRONTIERBOARD_DATA": folder, **os.environ}


def main() -> int:
    """Print the tables; 0 where every budget was kept to, else 1."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--all", action="store_true", help="make, measure and drop")
    parser.add_argument("--here", action="store_true", help="the database as it is")
    parser.add_argument("--only", default="", help="rows whose name or path holds it")
    options = parser.parse_args()
    if options.here:
        with _here() as env:
            return not measure(env, only=options.only, is_whole=not options.only)
    if not options.all:
        parser.error("name --all or --here")
    return not measure_all()


if __name__ == "__main__":
    try:
        sys.exit(main())
    except subprocess.CalledProcessError as error:
        sys.exit(f"{error.cmd[1:3]} ended with {error.returncode} in {CHECKOUT}")
