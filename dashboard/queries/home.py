"""The first page: what changed, what waits, how the ingestion is; one query each."""

from datetime import datetime
from typing import Any, NamedTuple

from django.db.models import Count, F, Max, Q, Window
from django.db.models.query import QuerySet

from dashboard.analysis.segments import CHECKPOINT
from dashboard.models import Artifact, IngestRequest, Run, Sweep


class Listed(NamedTuple):
    """The first rows of a list, and whether there are more."""

    rows: list[Any]
    has_more: bool


def first(found: QuerySet[Any], limit: int) -> Listed:
    """Return the first ``limit`` rows, in one query."""
    rows = list(found[: limit + 1])
    return Listed(rows[:limit], len(rows) > limit)


def open_sweeps(limit: int) -> Listed:
    """Return the newest of the open official sweeps."""
    return first(every_open_sweep(), limit)


def every_open_sweep() -> QuerySet[Sweep]:
    """Return official sweeps that are held, or current without their whole plan."""
    incomplete = Q(state=Sweep.State.CURRENT, received_count__lt=F("planned_count"))
    return every_sweep().filter(Q(state=Sweep.State.HELD) | incomplete)


def newest_sweeps(limit: int) -> Listed:
    """Return the official sweeps with the newest official date."""
    return first(every_sweep(), limit)


def every_sweep() -> QuerySet[Sweep]:
    """Return all official sweeps, newest official date first."""
    related = Sweep.objects.filter(state__isnull=False).select_related(
        "config_key", "checkpoint", "run__repository"
    )
    return related.order_by("-official_at", "-pk")


class CheckpointChange(NamedTuple):
    """Two sweeps of a key that follow each other and served different weights."""

    config_key: str
    scenario: str
    run_id: int
    official_at: datetime
    checkpoint: str
    former_checkpoint: str
    former_run_id: int


def checkpoint_changes(limit: int) -> list[CheckpointChange]:
    """Return the newest swaps: another checkpoint under an unchanged key."""
    swaps = Sweep.objects.filter(is_swap=True).order_by("-official_at", "-pk")
    columns = ("config_key__key", "scenario", "run__github_run_id", "official_at")
    rows = swaps.values_list(*columns, "breaks", "previous__run__github_run_id")
    return [
        CheckpointChange(key, scenario, run_id, at, *_names(breaks), former_run_id)
        for key, scenario, run_id, at, breaks, former_run_id in rows[:limit]
    ]


def _names(breaks: list[dict[str, str]]) -> tuple[str, str]:
    """Return the checkpoint served since, and the one before."""
    swap = next(change for change in breaks if change["kind"] == CHECKPOINT)
    return swap["to"], swap["from"]


def troubled_requests(since: datetime, limit: int) -> Listed:
    """Return requests of late that failed, or did not do all they should."""
    states = [IngestRequest.State.FAILED, IngestRequest.State.PARTLY]
    found = IngestRequest.objects.filter(state__in=states, requested_at__gte=since)
    return first(found.order_by("-requested_at", "-pk"), limit)


def rejected_artifacts(since: datetime, limit: int) -> list[Artifact]:
    """Return artifacts of late that could not be read; each knows ``total``."""
    found = Artifact.objects.filter(
        state=Artifact.State.REJECTED, stored_at__gte=since
    ).select_related("run")
    counted = found.annotate(total=Window(Count("pk")))
    return list(counted.order_by("-stored_at", "-pk")[:limit])


def last_stored() -> datetime | None:
    """Return when a run was last stored or changed by the ingestion."""
    moment: datetime | None = Run.objects.aggregate(last=Max("updated_at"))["last"]
    return moment
