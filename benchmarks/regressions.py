"""What detection costs after one official run, and the list of regressions.

Usage: DATABASE_URL=... python benchmarks/regressions.py [KEYS] [SWEEPS]

Makes a database of its own on that server (else on an embedded PostgreSQL) and fills
it with 200 keys of 60 official sweeps, seven points each, at the noise that verdicts
start from; now and then a key loses 6 % at three points for a few sweeps. All but the
newest run are judged first. Then the newest is: ingest.detection.detect for all keys,
five times over, its judgements forgotten in between. Then /regressions is asked for
twenty times in this process, as a reader and as one who may triage. Exits with 1 where
a median is above 3 s or 300 ms.
"""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import median
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.ingest import database, manage

KEYS, SWEEPS = 200, 60
MOST_DETECTION_S, MOST_PAGE_MS = 3.0, 300.0
DETECTIONS, ANSWERS = 5, 20
START = datetime(2026, 6, 1, tzinfo=UTC)
LOSSES = {64: 0.06, 128: 0.06, 256: 0.06}
HOT = ("tput_per_gpu", "median_intvty", "median_ttft", "median_e2el")
# How often a key begins to lose, and for how many sweeps.
LOSS_SHARE, LOSS_SWEEPS = 0.01, 5


def fill(keys: int, sweeps: int) -> None:
    """Store so many runs, each with a sweep of every key."""
    import numpy as np  # noqa: PLC0415  # loaded in the measured process only

    from dashboard.models import ConfigKey, Run  # noqa: PLC0415
    from tests import factories  # noqa: PLC0415

    rng = np.random.default_rng(1)
    repository = factories.RepositoryFactory()
    stored = ConfigKey.objects.bulk_create(
        ConfigKey(
            key=f"model-{n % 4}-gpu-{n % 5}-framework-{n % 3}-{n}",
            model=f"model-{n % 4}",
            precision="fp4",
            hardware=("mi355x", "b200", "gb200", "h200", "mi325x")[n % 5],
            framework=("sglang", "vllm", "trt")[n % 3],
            scenario_kind="fixed-seq-len",
        )
        for n in range(keys)
    )
    losing = [0] * keys
    for number in range(sweeps):
        run = factories.RunFactory(
            official=True,
            repository=repository,
            created_at=START + timedelta(days=number),
            github_run_id=40_000_000_000 + number,
            received_count=7 * keys,
        )
        for named in (stored[number % keys], stored[(number + 1) % keys]):
            factories.ChangelogEntryFactory(run=run, raw_keys=[named.key])
        begins = rng.random(keys) < LOSS_SHARE
        losing = [
            LOSS_SWEEPS if begin and not left else max(left - 1, 0)
            for left, begin in zip(losing, begins, strict=True)
        ]
        _add_run(run, stored, [LOSSES if left else {} for left in losing], rng)
    assert Run.objects.count() == sweeps  # noqa: S101  # the database was empty


def _add_run(
    run: Any, keys: Sequence[Any], losses: Sequence[Mapping[int, float]], rng: Any
) -> None:
    """Store a sweep of seven points of every key."""
    from dashboard.models import Point, Sweep  # noqa: PLC0415  # Django is set up
    from tests import factories  # noqa: PLC0415
    from tests.analysis.sweeps import simulated  # noqa: PLC0415

    deployment = factories.DeploymentFactory()
    checkpoint = factories.CheckpointFactory()
    current = Sweep.objects.filter(state="current")
    previous = dict(current.values_list("config_key_id", "pk"))
    current.update(state="former")
    made = Sweep.objects.bulk_create(
        factories.SweepFactory.build(
            run=run,
            config_key=key,
            checkpoint=checkpoint,
            state="current",
            received_count=7,
            planned_count=7,
            official_at=run.created_at,
            previous_id=previous.get(key.pk),
            segment=1,
        )
        for key in keys
    )
    points = []
    for sweep, lost in zip(made, losses, strict=True):
        rows = simulated(rng, losses=lost).drop(columns=["deployment", "is_out"])
        points += [
            Point(
                sweep=sweep,
                deployment=deployment,
                concurrency=int(row.pop("concurrency")),
                gpus=2,
                metrics={str(name): value for name, value in row.items()},
                **{name: row[name] for name in HOT},
            )
            for row in rows.to_dict("records")
        ]
    Point.objects.bulk_create(points, batch_size=2000)


def detections() -> list[float]:
    """Judge the newest run several times, its own judgements forgotten before each."""
    from django.db import connection, transaction  # noqa: PLC0415

    from dashboard.models import Judgement, Regression, Run, Sweep  # noqa: PLC0415
    from ingest.detection import detect  # noqa: PLC0415

    keys = set(Sweep.objects.values_list("config_key_id", "scenario"))
    newest = Run.objects.order_by("-created_at").first()
    assert newest is not None  # noqa: S101  # the fill made it
    history = Sweep.objects.exclude(run=newest)
    begun = time.perf_counter()
    with transaction.atomic():
        Sweep.objects.filter(run=newest).update(state=None)
        detect(keys, [])
        Sweep.objects.filter(run=newest).update(state="current")
    took = time.perf_counter() - begun
    print(
        f"history of {history.count()} sweeps judged in {took:.1f} s: "
        f"{Regression.objects.count()} regressions, "
        f"{Regression.objects.filter(recovered_by__isnull=True).count()} of them open"
    )
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
    times, cpu = [], []
    for _ in range(DETECTIONS):
        Judgement.objects.filter(sweep__run=newest).delete()
        Regression.objects.filter(run=newest).delete()
        begun, before = time.perf_counter(), time.process_time()
        with transaction.atomic():
            detect(keys, [newest])
        times.append(time.perf_counter() - begun)
        cpu.append(time.process_time() - before)
    load = os.getloadavg()[0]
    print(f"load {load:.1f}; processor time of detection: {median(cpu):.2f} s")
    return times


def answers(path: str, *, may_triage: bool) -> list[float]:
    """Return how long the page takes in ms, the first answer left out."""
    from django.contrib.auth.models import User  # noqa: PLC0415
    from django.test import Client  # noqa: PLC0415

    client = Client(headers={"host": "localhost"})
    if may_triage:
        user, _ = User.objects.get_or_create(username="reader", is_superuser=True)
        client.force_login(user)
    times = []
    for _ in range(ANSWERS + 1):
        begun = time.perf_counter()
        response = client.get(path)
        times.append(1000 * (time.perf_counter() - begun))
        if response.status_code != 200:  # noqa: PLR2004  # the one good answer
            raise SystemExit(f"{path}: {response.status_code}")
    return times[1:]


def figures() -> Iterator[tuple[str, float, float, float, str]]:
    """Measure each; yield what it is, median, slowest, limit and unit."""
    times = detections()
    yield "detection after one run", median(times), max(times), MOST_DETECTION_S, "s"
    pages: dict[str, Callable[[], list[float]]] = {
        "/regressions": lambda: answers("/regressions", may_triage=False),
        "/regressions, with its form": lambda: answers("/regressions", may_triage=True),
        "/regressions, all states": lambda: answers(
            "/regressions?active=all", may_triage=False
        ),
        "/regressions?show=improvements": lambda: answers(
            "/regressions?show=improvements", may_triage=False
        ),
    }
    for name, ask in pages.items():
        found = ask()
        yield name, median(found), max(found), MOST_PAGE_MS, "ms"


def measure_here(keys: int, sweeps: int) -> bool:
    """Fill the database of this process and measure; tell whether all is in bounds."""
    import django  # noqa: PLC0415  # only the measured process needs it

    django.setup()
    fill(keys, sweeps)
    is_good = True
    for name, middle, slowest, limit, unit in figures():
        print(f"{name}: median {middle:.3g} {unit}, slowest {slowest:.3g} {unit}")
        is_good = is_good and middle <= limit
    return is_good


def main() -> int:
    """Measure in a process of its own, with a database of its own."""
    numbers = [int(word) for word in sys.argv[1:] if word != "--here"]
    keys, sweeps = [*numbers, *(KEYS, SWEEPS)[len(numbers) :]][:2]
    if "--here" in sys.argv:
        return 0 if measure_here(keys, sweeps) else 1
    with database() as env:
        manage("manage.py", "migrate", "--verbosity", "0", env=env)
        here = [__file__, "--here", str(keys), str(sweeps)]
        return subprocess.run(  # noqa: S603  # ourselves
            [sys.executable, *here], env=env, check=False
        ).returncode


if __name__ == "__main__":
    sys.exit(main())
