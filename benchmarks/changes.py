"""What the page of changes costs with everything imported.

Usage: DATABASE_URL=... python benchmarks/changes.py [QUERY]

Asks a filled database twenty times, in this process, for the page and for its CSV;
the first answer of each is left out. Prints how much is stored, the median and the
slowest answer and the number of queries. Exits with 1 where the page's median is
300 ms or more.
"""

import os
import sys
import time
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "dashboard.settings")

LIMIT_MS = 300
REPEATS = 20


def answers_ms(path: str) -> list[float]:
    """Return how long each answer takes, the first one left out."""
    from django.test import Client  # noqa: PLC0415  # Django is set up first

    client, times = Client(headers={"host": "localhost"}), []
    for _ in range(REPEATS + 1):
        begun = time.perf_counter()
        response = client.get(path)
        times.append((time.perf_counter() - begun) * 1000)
        if response.status_code != 200:  # noqa: PLR2004  # the one good answer
            raise SystemExit(f"{path}: {response.status_code}")
    return times[1:]


def queries_of(path: str) -> int:
    """Return how many queries one answer takes."""
    from django.db import connection  # noqa: PLC0415  # Django is set up first
    from django.test import Client  # noqa: PLC0415
    from django.test.utils import CaptureQueriesContext  # noqa: PLC0415

    with CaptureQueriesContext(connection) as captured:
        Client(headers={"host": "localhost"}).get(path)
    return len(captured)


def stored() -> str:
    """Say how much is stored."""
    from dashboard.models import (  # noqa: PLC0415  # Django is set up first
        ChangelogEntry,
        ConfigChange,
        ConfigKey,
        Sweep,
    )

    return (
        f"{ChangelogEntry.objects.count()} changelog entries, "
        f"{ConfigChange.objects.count()} config changes, "
        f"{ConfigKey.objects.count()} config keys, {Sweep.objects.count()} sweeps"
    )


def main() -> None:
    """Print the figures; exit with 1 where the page is too slow."""
    import django  # noqa: PLC0415  # only once the settings are named

    django.setup()
    query = f"?{sys.argv[1]}" if sys.argv[1:] else ""
    print(stored())
    medians = {}
    for path in (f"/changes{query}", f"/changes.csv{query}"):
        times = answers_ms(path)
        medians[path] = median(times)
        print(
            f"{path}: median {medians[path]:.0f} ms, slowest {max(times):.0f} ms, "
            f"{queries_of(path)} queries"
        )
    if medians[f"/changes{query}"] >= LIMIT_MS:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
