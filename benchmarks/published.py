"""How fast the official dashboard's paths answer: 1,000 rows, and a long history.

Usage: DATABASE_URL=... python benchmarks/published.py [--fill]

``--fill`` stores 50 runs of 1,000 points of one model in an EMPTY database first. Asks
in this process, twenty times each, the first answer left out, and prints medians and
the slowest. Exits with 1 where a whole answer takes 50 ms or a history's first byte
300 ms.
"""

import os
import sys
import time
from datetime import UTC, datetime, timedelta
from itertools import product
from pathlib import Path
from statistics import median
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "dashboard.settings")

WHOLE_MS, FIRST_BYTE_MS, REPEATS = 50, 300, 20
MODEL = "DeepSeek-R1-0528"
RUNS, KEYS, SIZES, CONCURRENCIES = 50, 20, (1, 2, 4, 8, 16), tuple(range(1, 11))
START = datetime(2026, 6, 1, tzinfo=UTC)
NAMES = ("ttft", "tpot", "itl", "e2el", "intvty")
STATISTICS = ("mean", "median", "p90", "p99", "p99.9", "std")


def metrics(seed: int) -> dict[str, float]:
    """Return as many numbers as a row has today."""
    pairs = [(name, s) for name in NAMES for s in STATISTICS]
    # The reciprocal of a deviation is no metric.
    names = [f"{s}_{name}" for name, s in pairs if (name, s) != ("intvty", "std")]
    rates = ("tput_per_gpu", "input_tput_per_gpu", "output_tput_per_gpu")
    return {name: (seed + i) / 7 for i, name in enumerate([*names, *rates], start=1)}


def fill() -> None:
    """Store runs of one model: 20 keys, 5 topologies, 10 concurrencies each."""
    from dashboard import models  # noqa: PLC0415  # Django is set up first
    from dashboard.vocabulary.deployments import (  # noqa: PLC0415
        Deployment,
        deployment_label,
    )

    if models.Run.objects.exists():
        raise SystemExit("the database is not empty")
    repository = models.Repository.objects.create(
        full_name="example/bench", is_official=True
    )
    keys = models.ConfigKey.objects.bulk_create(
        models.ConfigKey(
            key=f"dsr1-fp{4 if i % 2 else 8}-mi355x-{i}",
            model="dsr1",
            precision=f"fp{4 if i % 2 else 8}",
            hardware="mi355x",
            framework=f"engine-{i}",
        )
        for i in range(KEYS)
    )
    shapes = [Deployment(multinode=False, disagg=False, tp=tp) for tp in SIZES]
    deployments = models.Deployment.objects.bulk_create(
        models.Deployment(**d._asdict(), label=deployment_label(d)) for d in shapes
    )
    for number in range(RUNS):
        _fill_run(models, repository, number, keys, deployments)


def _fill_run(
    models: Any, repository: Any, number: int, keys: Any, deployments: Any
) -> None:
    at = START + timedelta(days=number)
    run = models.Run.objects.create(
        repository=repository,
        github_run_id=10_000 + number,
        created_at=at,
        publication="official",
        url=f"https://github.com/example/bench/actions/runs/{10_000 + number}",
    )
    sweeps = models.Sweep.objects.bulk_create(
        models.Sweep(
            run=run,
            config_key=key,
            scenario="8k/1k",
            measured_at=at,
            official_at=at,
            state="former",
        )
        for key in keys
    )
    models.Point.objects.bulk_create(
        models.Point(
            sweep=sweep,
            deployment=deployment,
            concurrency=conc,
            image="img/engine:1",
            gpus=deployment.tp,
            metrics=metrics(number + conc),
        )
        for sweep, deployment, conc in product(sweeps, deployments, CONCURRENCIES)
    )


def times_ms(path: str, **headers: str) -> tuple[list[float], list[float], int]:
    """Return times to the first piece and to the last, and the bytes of an answer."""
    from django.test import Client  # noqa: PLC0415  # Django is set up first

    client, first, whole, size = Client(headers={"host": "localhost"}), [], [], 0
    for _ in range(REPEATS + 1):
        begun = time.perf_counter()
        response: Any = client.get(path, headers=headers)
        pieces = iter(response if response.streaming else [response.content])
        size = len(next(pieces))
        first.append((time.perf_counter() - begun) * 1000)
        size += sum(len(piece) for piece in pieces)
        whole.append((time.perf_counter() - begun) * 1000)
        if response.status_code != 200:  # noqa: PLR2004  # the one good answer
            raise SystemExit(f"{path}: {response.status_code}")
    return first[1:], whole[1:], size


def main() -> None:
    """Print a line per answer; exit with 1 where one is too slow."""
    import django  # noqa: PLC0415  # only once the settings are named

    django.setup()
    if "--fill" in sys.argv[1:]:
        fill()
    newest = f"/api/v1/benchmarks?model={MODEL}"
    history = f"/api/v1/benchmarks/history?model={MODEL}&isl=8192&osl=1024"
    slow = False
    for path, limit in ((newest, WHOLE_MS), (history, FIRST_BYTE_MS)):
        for packing in ("identity", "gzip"):
            first, whole, size = times_ms(path, accept_encoding=packing)
            judged = median(whole if path == newest else first)
            slow = slow or judged >= limit
            print(
                f"{path} {packing}: {size:,} bytes; first byte {median(first):.0f} ms "
                f"(slowest {max(first):.0f}), whole {median(whole):.0f} ms "
                f"(slowest {max(whole):.0f})"
            )
    sys.exit(slow)


if __name__ == "__main__":
    main()
