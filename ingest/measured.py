"""What each sweep of a run measured: counts, grid, runner pools, harness."""

import re
from collections.abc import Iterable
from typing import Any, NamedTuple

from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Now

from dashboard.models import Point, Run, Sweep
from dashboard.vocabulary.scenarios import AGENTIC

# A shortened agentic replay profiles for 20 minutes instead of an hour, and nothing
# but the duration tells.
FAST_SECONDS = (1_000, 1_500)

_RUNNER_NUMBER = re.compile(r"_\d+$")


class MeasuredPoint(NamedTuple):
    """What a current point says of its sweep."""

    sweep_id: int
    deployment: str
    concurrency: int
    runner: str
    dataset: str | None
    duration_s: str | None


def note_measured(run: Run) -> int:
    """Write what each sweep, and the run, measured; return how many rows changed.

    Points are counted by place: several recipes of one place are one.
    """
    points: dict[int, list[MeasuredPoint]] = {}
    for point in _current_points(run):
        points.setdefault(point.sweep_id, []).append(point)
    changed = received = 0
    for sweep in run.sweeps.only(
        "pk", "scenario", "received_count", "grid", "pools", "harness"
    ):
        wanted = _columns(sweep.scenario, points.get(sweep.pk, []))
        received += wanted["received_count"]
        if any(getattr(sweep, name) != value for name, value in wanted.items()):
            changed += Sweep.objects.filter(pk=sweep.pk).update(
                updated_at=Now(), **wanted
            )
    counts = (received, run.evals.filter(is_current=True).count())
    if counts != (run.received_count, run.eval_count):
        changed += Run.objects.filter(pk=run.pk).update(
            received_count=counts[0], eval_count=counts[1], updated_at=Now()
        )
    return changed


def _current_points(run: Run) -> list[MeasuredPoint]:
    dataset = KeyTextTransform("hf_dataset_name", KeyTextTransform("dataset", "facts"))
    rows = (
        Point.objects.filter(sweep__run=run, is_current=True)
        .annotate(
            _dataset=dataset,
            _duration=KeyTextTransform("duration_seconds", "metrics"),
        )
        .order_by()
    )
    names = (
        *("sweep_id", "deployment__label", "concurrency", "runner"),
        *("_dataset", "_duration"),
    )
    return [MeasuredPoint(*row) for row in rows.values_list(*names)]


def _columns(scenario: str, points: Iterable[MeasuredPoint]) -> dict[str, Any]:
    points = list(points)
    grid: dict[str, set[int]] = {}
    for point in points:
        grid.setdefault(point.deployment, set()).add(point.concurrency)
    pools = {_RUNNER_NUMBER.sub("", p.runner) for p in points if p.runner}
    is_agentic = scenario == AGENTIC
    harness = {_harness(p) for p in points} - {""} if is_agentic else set()
    return {
        "received_count": sum(len(places) for places in grid.values()),
        "grid": [[label, sorted(grid[label])] for label in sorted(grid)],
        "pools": sorted(pools),
        "harness": ", ".join(sorted(harness)),
    }


def _harness(point: MeasuredPoint) -> str:
    """Name the traces that an agentic replay played, and whether only a part."""
    name = (point.dataset or "").rpartition("/")[2]
    shortest, longest = FAST_SECONDS
    duration = float(point.duration_s) if point.duration_s else None
    is_fast = duration is not None and shortest < duration < longest
    return f"{name} (20-minute replay)" if name and is_fast else name
