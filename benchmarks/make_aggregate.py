"""Writes one bundle with any number of rows, to measure how fast it is ingested.

``python benchmarks/make_aggregate.py FOLDER --rows 20000 [--as-artifacts]``: the rows
stand in one aggregate, or each in an artifact of its own.
"""

import argparse
import sys
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import count, islice
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from demo.bundles import write_bundle
from demo.fixed_rows import fixed_row
from demo.forge import Identity, changelog
from demo.masters import Masters, first_masters
from demo.power import Power
from demo.recipes import Recipe
from demo.repository import commit, run_id
from demo.runs import Entry, Run
from demo.uploads import Upload, as_json, row_upload
from demo.workflow import Record

STARTED = datetime(2026, 1, 5, 3, tzinfo=UTC)
# Far from the ids of the demo's own runs.
NUMBER = 900_000


def points(masters: Masters) -> Iterator[tuple[Recipe, int]]:
    """Yield points without end: each deployment at concurrency 1, then 2, and so on."""
    deployments: dict[str, Recipe] = {}
    for recipe in masters.recipes(["*"]):
        if recipe.lengths is not None:
            identity = f"{recipe.deployment}|{recipe.spec}"
            deployments.setdefault(identity, recipe)
    for concurrency in count(1):
        for recipe in deployments.values():
            yield replace(recipe, concurrencies=(concurrency,)), concurrency


def measured_points(masters: Masters, rows: int) -> list[tuple[Recipe, dict[str, Any]]]:
    """Return that many distinct points with their rows."""
    return [
        (recipe, fixed_row(recipe, concurrency, "benchmark", Power.MEASURED))
        for recipe, concurrency in islice(points(masters), rows)
    ]


def write(folder: Path, rows: int, *, as_artifacts: bool) -> None:
    """Write the bundle into a folder."""
    masters = first_masters()
    measured = measured_points(masters, rows)
    run = Run(
        name=f"aggregate-{rows}",
        days=0,
        hour=0,
        title=f"A sweep of {rows:,} points",
        entries=(Entry(("*",), ("Measure everything.",)),),
        pull_request=1,
    )
    identity = Identity(run_id(NUMBER + rows), commit("base"), commit(run.name))
    metadata = {"changelog_metadata.json": changelog(run, identity.base, identity.head)}
    uploads = [Upload("changelog-metadata", metadata, STARTED)]
    if as_artifacts:
        uploads += [
            row_upload(recipe, f"{recipe.cluster}_00", {row["conc"]: row}, STARTED)
            for recipe, row in measured
        ]
    else:
        aggregate = {"agg_bmk.json": as_json([row for _, row in measured])}
        uploads.append(Upload("results_bmk", aggregate, STARTED))
    record = Record(uploads=uploads, spans=[(STARTED, STARTED + timedelta(hours=2))])
    write_bundle(folder, run, identity, record, masters)


def main() -> int:
    """Write the bundle that the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--as-artifacts", action="store_true")
    options = parser.parse_args()
    write(options.folder, options.rows, as_artifacts=options.as_artifacts)
    sys.stdout.write(f"{options.rows} rows in {options.folder}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
