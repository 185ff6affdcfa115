"""Measures how fast runs are ingested and how much memory a worker needs for it.

``python benchmarks/ingest.py [--rows 20000] [--artifacts 2000] [--repeat 3]``: one
aggregate of many rows, the same again, and artifacts of one row each. Every
ingestion has a process of its own and a database of its own, on the server of
DATABASE_URL or on an embedded one that is started for it.
"""

import argparse
import importlib
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from launcher.paths import CHECKOUT, database_url, redis_url, socket_folder
from launcher.services import postgres_for

LEAST_ROWS_PER_SECOND = 10_000
MOST_FOR_ARTIFACTS_S = 1.5  # more for 2,000 of one row each than for one of them all
MOST_MEMORY_MB = 500
# Part of an ingestion, and the functions whose time is that part. Records are converted
# while they are stored, and points checked while they are: both count as storing.
PARTS = {
    "read": [("ingest.pipeline", "read_run")],
    "map": [
        ("ingest.rebuild", "expand_entries"),
        ("ingest.rebuild.MappedRun", "points"),
        ("ingest.rebuild", "best_of_each_place"),
        ("ingest.rebuild", "draft_sweeps"),
    ],
    "store": [
        ("ingest.pipeline", "import_configs"),
        ("ingest.pipeline", "store_reading"),
        ("ingest.rebuild.RunStore", "store_sweeps"),
        ("ingest.rebuild.RunStore", "store_points"),
    ],
    "derive": [("ingest.derive", "settle_runs")],
}


@dataclass(frozen=True, slots=True)
class Figures:
    """One ingestion: seconds in all and by part, the process's peak in MB."""

    rows: int
    seconds: float
    parts: dict[str, float]
    peak_mb: float
    start_mb: float

    @property
    def rows_per_second(self) -> float:
        """Points stored per second, from opening the bundle to the last commit."""
        return self.rows / self.seconds


class Stopwatch:
    """Seconds spent in parts of the pipeline; what calls each other counts once."""

    def __init__(self) -> None:
        self.seconds = dict.fromkeys(PARTS, 0.0)

    def attach(self) -> None:
        """Let the functions of every part be timed from now on."""
        for part, functions in PARTS.items():
            for place, name in functions:
                owner = _resolve(place)
                setattr(owner, name, self._timed(part, getattr(owner, name)))

    def _timed(self, part: str, function: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(function)
        def timed(*args: object, **kwargs: object) -> object:
            start = time.perf_counter()
            try:
                return function(*args, **kwargs)
            finally:
                self.seconds[part] += time.perf_counter() - start

        return timed


def _resolve(place: str) -> Any:
    """Return a module, or a class of one, by its dotted name."""
    module, _, name = place.rpartition(".")
    if name[0].isupper():
        return getattr(importlib.import_module(module), name)
    return importlib.import_module(place)


def measure_here(folder: Path) -> Figures:
    """Ingest a bundle in this process and return its figures."""
    import django  # noqa: PLC0415  the other processes need no Django

    django.setup()
    from ingest.artifacts.bundles import open_bundle  # noqa: PLC0415
    from ingest.pipeline import ingest_bundle, limits  # noqa: PLC0415

    watch = Stopwatch()
    watch.attach()
    start_mb = _peak_mb()
    start = time.perf_counter()
    report = ingest_bundle(open_bundle(folder, limits()))
    seconds = time.perf_counter() - start
    return Figures(report.points, seconds, watch.seconds, _peak_mb(), start_mb)


def _peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def manage(*words: str, env: dict[str, str]) -> str:
    """Run a command in a process of its own and return what it printed."""
    done = subprocess.run(  # noqa: S603  our own commands
        [sys.executable, *words],
        env=env,
        cwd=CHECKOUT,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return done.stdout


@contextmanager
def database() -> Iterator[dict[str, str]]:
    """Yield the environment of processes that have an empty database of their own."""
    data = Path(tempfile.mkdtemp(prefix="frontierboard-benchmark-"))
    try:
        if given := os.environ.get("DATABASE_URL"):
            with _made_on(given) as url:
                yield _environment(data, url)
        else:
            with postgres_for(data):
                yield _environment(data, database_url(data))
    finally:
        shutil.rmtree(data, ignore_errors=True)
        shutil.rmtree(socket_folder(data), ignore_errors=True)


@contextmanager
def _made_on(url: str) -> Iterator[str]:
    import psycopg  # noqa: PLC0415  an embedded server needs none
    from psycopg import sql  # noqa: PLC0415

    name = f"frontierboard_benchmark_{os.getpid()}"
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
        try:
            yield urlunsplit(urlsplit(url)._replace(path=f"/{name}"))
        finally:
            drop = sql.SQL("DROP DATABASE {} WITH (FORCE)")
            connection.execute(drop.format(sql.Identifier(name)))


def _environment(data: Path, url: str) -> dict[str, str]:
    return {
        **os.environ,
        "DATABASE_URL": url,
        "REDIS_URL": os.environ.get("REDIS_URL", redis_url(data)),
        "FRONTIERBOARD_DATA": str(data),
        "DJANGO_SETTINGS_MODULE": "dashboard.settings",
    }


def measure(
    folder: Path, env: dict[str, str], repeat: int, *, again: bool = False
) -> list[Figures]:
    """Ingest a bundle ``repeat`` times, each into an empty store unless ``again``.

    Raw bytes go to a new folder each time: a file system is slow to make files
    where as many were just deleted.
    """
    found = []
    for number in range(repeat):
        raw = folder / "kept" / ("0" if again else str(number))
        if not again:
            manage("manage.py", "flush", "--noinput", "--verbosity=0", env=env)
        own = {**env, "FRONTIERBOARD_DATA": str(raw)}
        text = manage(__file__, "--ingest", str(folder / "bundle"), env=own)
        found.append(Figures(**json.loads(text.splitlines()[-1])))
    return found


def shown(title: str, found: Sequence[Figures]) -> Figures:
    """Print the run of the median and return it."""
    middle = statistics.median_low([f.seconds for f in found])
    chosen = next(f for f in found if f.seconds == middle)
    parts = ", ".join(f"{name} {s:.2f}" for name, s in chosen.parts.items())
    print(
        f"{title:28} {chosen.rows:6,} rows in {chosen.seconds:5.2f} s"
        f" = {chosen.rows_per_second:7,.0f} rows/s ({parts} s),"
        f" peak {chosen.peak_mb:.0f} MB of which {chosen.start_mb:.0f} MB to start;"
        f" all runs: {', '.join(f'{f.seconds:.2f}' for f in found)} s",
        flush=True,
    )
    return chosen


def compare(rows: int, artifacts: int, repeat: int) -> bool:
    """Print all figures; tell whether the required ones are reached."""
    make = str(CHECKOUT / "benchmarks" / "make_aggregate.py")
    with database() as env:
        folder = Path(env["FRONTIERBOARD_DATA"])
        whole, parts, same = folder / "whole", folder / "parts", folder / "same"
        manage(make, str(whole / "bundle"), f"--rows={rows}", env=env)
        manage(
            make,
            str(parts / "bundle"),
            f"--rows={artifacts}",
            "--as-artifacts",
            env=env,
        )
        manage(make, str(same / "bundle"), f"--rows={artifacts}", env=env)
        manage("manage.py", "migrate", "--verbosity=0", env=env)
        first = shown("one aggregate", measure(whole, env, repeat))
        shown("the same bytes again", measure(whole, env, repeat, again=True))
        apart = shown("one artifact per row", measure(parts, env, repeat))
        shown("the same bytes again", measure(parts, env, repeat, again=True))
        together = shown("those rows in one aggregate", measure(same, env, repeat))
    more_s = apart.seconds - together.seconds
    print(f"artifacts of one row cost {more_s:+.2f} s")
    return (
        first.rows_per_second >= LEAST_ROWS_PER_SECOND
        and first.peak_mb < MOST_MEMORY_MB
        and more_s <= MOST_FOR_ARTIFACTS_S
    )


def main() -> int:
    """Print the figures; 0 where those required are reached, else 1."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--artifacts", type=int, default=2_000)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--ingest", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.ingest is not None:
        figures = measure_here(options.ingest)
        print(json.dumps({n: getattr(figures, n) for n in Figures.__slots__}))
        return 0
    reached = compare(options.rows, options.artifacts, options.repeat)
    return 0 if reached else 1


if __name__ == "__main__":
    sys.exit(main())
