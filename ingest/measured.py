"""What each sweep of a run measured: counts, grid, runner pools, harness."""

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from django.contrib.postgres.aggregates import ArrayAgg
from django.db.models import Case, F, Q, When
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Now

from dashboard.models import Point, Run, Sweep
from dashboard.vocabulary.scenarios import AGENTIC

# A shortened agentic replay profiles for 20 minutes instead of an hour, and nothing
# but the duration tells.
FAST_SECONDS = (1_000, 1_500)

_COLUMNS = ("received_count", "grid", "pools", "harness")
_RUNNER_NUMBER = re.compile(r"_\d+$")


class Measured(NamedTuple):
    """What current points of one deployment and runner say of their sweep."""

    sweep_id: int
    deployment: str
    dataset: str | None
    is_fast: bool
    runner: str
    concurrencies: list[int]


def note_measured(run: Run) -> int:
    """Write what each sweep, and the run, measured; return how many rows changed.

    Points are counted by place: several recipes of one place are one.
    """
    measured: dict[int, list[Measured]] = {}
    for part in _measured(run):
        measured.setdefault(part.sweep_id, []).append(part)
    received, differing = 0, []
    for sweep in run.sweeps.only("pk", "run", "scenario", *_COLUMNS):
        wanted = _columns(sweep.scenario, measured.get(sweep.pk, []))
        received += wanted["received_count"]
        if any(getattr(sweep, name) != value for name, value in wanted.items()):
            for name, value in wanted.items():
                setattr(sweep, name, value)
            sweep.updated_at = Now()
            differing.append(sweep)
    changed = Sweep.objects.bulk_update(differing, [*_COLUMNS, "updated_at"])
    counts = (received, run.evals.filter(is_current=True).count())
    if counts != (run.received_count, run.eval_count):
        changed += Run.objects.filter(pk=run.pk).update(
            received_count=counts[0], eval_count=counts[1], updated_at=Now()
        )
    return changed


def _measured(run: Run) -> list[Measured]:
    dataset = KeyTextTransform("hf_dataset_name", KeyTextTransform("dataset", "facts"))
    shortest, longest = FAST_SECONDS
    is_fast = Q(_duration__gt=shortest, _duration__lt=longest)
    rows = (
        Point.objects.filter(sweep__run=run, is_current=True)
        .annotate(_dataset=dataset, _duration=F("metrics__duration_seconds"))
        .annotate(_is_fast=Case(When(is_fast, then=True), default=False))
        .order_by()
        # Put together by the database: a run has 20,000 points and few deployments.
        # Without sorting them: a concurrency may be told more than once.
        .values_list("sweep_id", "deployment__label", "_dataset", "_is_fast", "runner")
        .annotate(_concurrencies=ArrayAgg("concurrency"))
    )
    return [Measured(*row) for row in rows]


def _columns(scenario: str, parts: Sequence[Measured]) -> dict[str, Any]:
    grid: dict[str, set[int]] = {}
    for part in parts:
        grid.setdefault(part.deployment, set()).update(part.concurrencies)
    runners = {part.runner for part in parts} - {""}
    pools = {_RUNNER_NUMBER.sub("", runner) for runner in runners}
    is_agentic = scenario == AGENTIC
    harness = {_harness(part) for part in parts} - {""} if is_agentic else set()
    return {
        "received_count": sum(len(places) for places in grid.values()),
        "grid": [[label, sorted(grid[label])] for label in sorted(grid)],
        "pools": sorted(pools),
        "harness": ", ".join(sorted(harness)),
    }


def _harness(part: Measured) -> str:
    """Name the traces that an agentic replay played, and whether only a part."""
    name = (part.dataset or "").rpartition("/")[2]
    return f"{name} (20-minute replay)" if name and part.is_fast else name
