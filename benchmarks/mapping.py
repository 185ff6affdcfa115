"""Share of points that map to one config key, and the time that it takes.

Every point that the shared master configs plan becomes a row, and is mapped back
without a changelog: with its recipe fingerprint; without it; and with only what does
not change from commit to commit (no image, model id, runner label, router).
"""

import argparse
import os
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from ingest.config_keys import (  # noqa: E402
    MatrixEntry,
    Snapshot,
    expand_master,
    map_row,
)
from ingest.rows import Identity  # noqa: E402

MASTERS = ("amd-master.yaml", "nvidia-master.yaml")
REPEATED = 20_000


@dataclass(frozen=True, slots=True)
class Figure:
    """What came of mapping rows whose keys are known."""

    points: int
    unique: int
    right: int
    methods: Counter[str]

    @property
    def share(self) -> float:
        """Return the share of points with one candidate, in [0, 1]."""
        return self.unique / self.points


def row_of(entry: MatrixEntry, concurrency: int) -> Identity:
    """Return the identity of the throughput row that an entry would make."""
    return Identity(
        model=entry.model,
        model_prefix=entry.model_prefix,
        precision=entry.precision,
        hardware=entry.hardware,
        hardware_label=entry.hardware_label,
        framework=entry.framework,
        scenario=entry.scenario,
        isl=entry.isl,
        osl=entry.osl,
        deployment=entry.deployment,
        concurrency=concurrency,
        image=entry.image,
        checkpoint=entry.checkpoint,
        fingerprint=entry.fingerprint,
        router=entry.router,
        kv_p2p_transfer=entry.kv_p2p_transfer,
    )


def without_fingerprint(row: Identity) -> Identity:
    """Return the row as eval jobs and older runs write it."""
    return replace(row, fingerprint="")


def of_another_commit(row: Identity) -> Identity:
    """Return the row with only what a snapshot of another commit can match."""
    row = without_fingerprint(row)
    return replace(
        row, image="", checkpoint=None, hardware_label="", router="", kv_p2p_transfer=""
    )


def points_of(entries: Sequence[MatrixEntry]) -> list[tuple[MatrixEntry, int]]:
    """Return each planned point with its entry."""
    return [(entry, conc) for entry in entries for conc in entry.concurrencies]


def measure(
    entries: Sequence[MatrixEntry], change: Callable[[Identity], Identity]
) -> Figure:
    """Map the row of every planned point and compare it with the key it is of."""
    snapshot = Snapshot(entries)
    unique = right = 0
    methods: Counter[str] = Counter()
    points = points_of(entries)
    for entry, concurrency in points:
        found = map_row(change(row_of(entry, concurrency)), snapshot)
        methods[found.method] += 1
        unique += len(found.candidates) == 1
        right += found.config_key == entry.config_key
    return Figure(len(points), unique, right, methods)


def seconds_for(entries: Sequence[MatrixEntry], rows: int) -> float:
    """Return the seconds to map that many rows, all of them without fingerprint."""
    points = points_of(entries)
    made = [without_fingerprint(row_of(*points[n % len(points)])) for n in range(rows)]
    snapshot = Snapshot(entries)
    start = time.perf_counter()
    for row in made:
        map_row(row, snapshot)
    return time.perf_counter() - start


def shared_entries(shared: Path) -> list[MatrixEntry]:
    """Expand the shared masters. Raises `OSError` where they are absent."""
    configs = next(
        (d for d in (shared / "configs", shared / "data" / "configs") if d.is_dir()),
        shared,
    )
    runners = (configs / "runners.yaml").read_text()
    entries: list[MatrixEntry] = []
    for name in MASTERS:
        entries += expand_master((configs / name).read_text(), runners).entries
    return entries


KINDS = (
    ("with fingerprint", replace, 0.995),
    ("without fingerprint", without_fingerprint, 0.95),
    ("of another commit", of_another_commit, 0.95),
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the figures; 0 where all shares are reached, 1 where not, 2 unusable."""
    parser = argparse.ArgumentParser(description=__doc__)
    default = os.environ.get("FRONTIERBOARD_SHARED", ROOT.parent / "shared")
    parser.add_argument("--shared", type=Path, default=default)
    shared = parser.parse_args(arguments).shared
    try:
        entries = shared_entries(shared)
    except OSError as error:
        print(f"no shared configs: {error}", file=sys.stderr)
        return 2
    reached = True
    for text, change, least in KINDS:
        figure = measure(entries, change)
        reached &= figure.share >= least
        print(
            f"{text:20} {figure.unique:,} of {figure.points:,} points unique"
            f" ({figure.share:.2%}, at least {least:.1%}), {figure.right:,} right,"
            f" {dict(figure.methods)}"
        )
    seconds = seconds_for(entries, REPEATED)
    print(
        f"{REPEATED:,} rows in {seconds:.3f} s, {seconds / REPEATED * 1e6:.1f} us each"
    )
    return 0 if reached else 1


if __name__ == "__main__":
    sys.exit(main())
