"""Measures how long a run takes from being asked for to being stored.

``python benchmarks/fetch.py [--artifacts 60] [--repeat 5]``: a run with one point per
artifact, served on this machine as GitHub serves it, is fetched and ingested by a
process that is warm as a worker is. Tables, cache and raw store are empty each time.
"""

import argparse
import json
import os
import shutil
import statistics
import sys
import time
from contextlib import ExitStack
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.ingest import database, manage
from launcher.paths import CHECKOUT, redis_url
from launcher.services import broker_for
from tests.github_server import TOKEN, github_server

MOST_SECONDS = 2.0


def measure_here(repository: str, run_id: int, repeat: int) -> list[float]:
    """Fetch a run several times in this process; return the seconds of each."""
    import django  # noqa: PLC0415  the other process needs no Django

    django.setup()
    from django.conf import settings  # noqa: PLC0415
    from django.core.cache import cache  # noqa: PLC0415
    from django.core.management import call_command  # noqa: PLC0415

    from dashboard.models import IngestRequest  # noqa: PLC0415
    from ingest.tasks import ingest_run  # noqa: PLC0415

    seconds = []
    for _ in range(repeat + 1):  # the first one warms up
        call_command("flush", "--noinput", "--verbosity=0")
        cache.clear()
        shutil.rmtree(Path(settings.DATA) / "raw", ignore_errors=True)
        start = time.perf_counter()
        request = IngestRequest.objects.create(kind="run", github_run_id=run_id)
        ingest_run(repository, run_id, request.pk)
        seconds.append(time.perf_counter() - start)
        request.refresh_from_db()
        if request.state != IngestRequest.State.DONE:
            raise SystemExit(f"{request.state}: {request.error}")
    return seconds[1:]


def compare(artifacts: int, repeat: int) -> bool:
    """Print the figures; tell whether the required one is reached."""
    make = str(CHECKOUT / "benchmarks" / "make_aggregate.py")
    with ExitStack() as stack:
        env = stack.enter_context(database())
        data = Path(env["FRONTIERBOARD_DATA"])
        if "REDIS_URL" not in os.environ:
            stack.enter_context(broker_for(data))
            env["REDIS_URL"] = redis_url(data)
        bundle = data / "bundle"
        manage(make, str(bundle), f"--rows={artifacts}", "--as-artifacts", env=env)
        manage("manage.py", "migrate", "--verbosity=0", env=env)
        fake = stack.enter_context(github_server())
        run = fake.add(bundle)
        env |= {"GITHUB_API_URL": fake.url, "GITHUB_TOKEN": TOKEN}
        words = ["--fetch", fake.repository(run), str(run["id"]), f"--repeat={repeat}"]
        text = manage(__file__, *words, env=env).splitlines()[-1]
    found: list[float] = json.loads(text)
    middle = statistics.median(found)
    every = ", ".join(f"{s:.2f}" for s in found)
    print(f"{artifacts} artifacts fetched and stored: {middle:.2f} s (all: {every} s)")
    return middle < MOST_SECONDS


def main() -> int:
    """Print the figures; 0 where the required one is reached, else 1."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--artifacts", type=int, default=60)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--fetch", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.fetch:
        repository, run_id = options.fetch
        print(json.dumps(measure_here(repository, int(run_id), options.repeat)))
        return 0
    return 0 if compare(options.artifacts, options.repeat) else 1


if __name__ == "__main__":
    sys.exit(main())
