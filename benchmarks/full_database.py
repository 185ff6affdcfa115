"""How long 2,000 rows take that continue the history of a key of a full database.

Usage: DATABASE_URL=... python benchmarks/full_database.py [--rows 2000] [--repeat 5]

The database is one that ``manage.py make_scale_data`` filled; each repetition adds an
official run to it, so it is no use for anything else afterwards. The rows are what the
first key's current sweeps measured, a hundredth slower or faster, and as much again at
higher concurrencies until there are enough. They come under a changelog that names the
key, so that each is mapped to it, its sweeps are held against their baselines, placed
in a history of forty dates and judged. Time counts from opening the bundle to the last
commit, in one process; the first ingestion is a warm-up. Exits with 1 where the median
is above 1.0 s.
"""

import argparse
import itertools
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

if TYPE_CHECKING:
    from dashboard.models import Point

MOST_S = 1.0
FIRST_RUN = 80_000_000_000
LENGTHS = {"1k/1k": (1024, 1024), "8k/1k": (8192, 1024)}


def current_points() -> "list[Point]":
    """Return the current points of the first key with sweeps of fixed lengths."""
    from dashboard.models import Point, Sweep  # noqa: PLC0415  # Django is set up late

    current = Sweep.objects.filter(
        state=Sweep.State.CURRENT, scenario__in=LENGTHS, received_count__gt=0
    )
    found = Point.objects.filter(
        sweep__in=current, deployment__multinode=False, is_current=True
    ).select_related("sweep__config_key", "sweep__checkpoint", "deployment")
    key = found.order_by("sweep__config_key__key").values("sweep__config_key")[:1]
    return list(found.filter(sweep__config_key=key).order_by("pk"))


def rows_of(points: "list[Point]", count: int, factor: float) -> list[dict[str, Any]]:
    """Return so many rows: the points, then the same with more requests at once."""
    most = max(point.concurrency for point in points)
    places = ((more, point) for more in itertools.count() for point in points)
    return [
        row_of(point, factor) | {"conc": point.concurrency + more * most}
        for more, point in itertools.islice(places, count)
    ]


def row_of(point: "Point", factor: float) -> dict[str, Any]:
    """Write a point as a row of an aggregate, its rates times a factor."""
    key, deployment = point.sweep.config_key, point.deployment
    isl, osl = LENGTHS[point.sweep.scenario]
    rates = {n: v * factor for n, v in point.all_metrics.items() if "tput" in n}
    return {
        "hw": key.hardware,
        "framework": key.framework,
        "precision": key.precision,
        "spec_decoding": deployment.spec_method,
        "infmax_model_prefix": key.model,
        "model": str(point.sweep.checkpoint),
        "image": point.sweep.image,
        "disagg": False,
        "is_multinode": False,
        "isl": isl,
        "osl": osl,
        "tp": deployment.tp,
        "ep": deployment.ep,
        "dp_attention": str(deployment.dp_attention).lower(),
        "conc": point.concurrency,
        **point.all_metrics,
        **rates,
    }


def bundles(
    points: "list[Point]", rows: int, count: int, folder: Path
) -> Iterator[Path]:
    """Write bundles of official runs, one after the other, that measured the points."""
    from dashboard.models import Repository  # noqa: PLC0415
    from tests.pipeline.bundles import (  # noqa: PLC0415
        changelog,
        iso,
        results,
        run_object,
        write_bundle,
    )

    repository = Repository.objects.get(is_official=True)
    for number in range(count):
        run_id = FIRST_RUN + int(time.time()) + number
        run = run_object(
            run_id,
            # Runs of one commit are repeats of each other and are judged together.
            head_sha=f"{run_id:040x}",
            repository={"full_name": repository.full_name},
            path=repository.sweep_workflow,
            head_branch=repository.default_branch,
            created_at=iso(datetime.now(UTC)),
        )
        measured = rows_of(points, rows, 1.01 if number % 2 else 0.99)
        yield write_bundle(
            folder / str(number),
            run,
            results(*measured),
            changelog=changelog(points[0].sweep.config_key.key),
        )


def measure(rows: int, repeat: int) -> list[float]:
    """Ingest ``repeat`` bundles after one to warm up; return the seconds of each."""
    from dashboard.models import Point  # noqa: PLC0415
    from ingest.artifacts.bundles import open_bundle  # noqa: PLC0415
    from ingest.pipeline import ingest_bundle, limits  # noqa: PLC0415

    points = current_points()
    print(f"{Point.objects.count():,} points stored; of {points[0].sweep.config_key}:")
    found = []
    with tempfile.TemporaryDirectory() as folder:
        for path in bundles(points, rows, repeat + 1, Path(folder)):
            start = time.perf_counter()
            report = ingest_bundle(open_bundle(path, limits()))
            found.append(time.perf_counter() - start)
            print(f"  {report.points:,} points in {found[-1]:.2f} s", flush=True)
    return found[1:]


def main() -> int:
    """Print the figures; 0 where the required one is reached, else 1."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=2000)
    parser.add_argument("--repeat", type=int, default=5)
    options = parser.parse_args()
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "dashboard.settings")
    import django  # noqa: PLC0415

    django.setup()
    found = measure(options.rows, options.repeat)
    load = os.getloadavg()[0]
    print(f"median {median(found):.2f} s of {len(found)}, load {load:.1f}")
    return 0 if median(found) <= MOST_S else 1


if __name__ == "__main__":
    sys.exit(main())
