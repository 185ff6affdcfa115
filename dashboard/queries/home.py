"""The first page: what changed, what waits, how the ingestion is; one query each."""

from datetime import datetime
from typing import Any, NamedTuple

from django.db.models import Count, F, Max, Q, Window
from django.db.models.functions import Lag
from django.db.models.query import QuerySet

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
    """Return official sweeps that are held, or current without their whole plan."""
    incomplete = Q(state=Sweep.State.CURRENT, received_count__lt=F("planned_count"))
    return first(_official().filter(Q(state=Sweep.State.HELD) | incomplete), limit)


def newest_sweeps(limit: int) -> Listed:
    """Return the official sweeps with the newest official date."""
    return first(_official(), limit)


def _official() -> QuerySet[Sweep]:
    related = Sweep.objects.filter(state__isnull=False).select_related(
        "config_key", "checkpoint", "run"
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
    """Return the newest official sweeps with another checkpoint than the one before.

    Held sweeps do not count: they changed nothing that is shown. A checkpoint that is
    not known is no change.
    """
    shown = Sweep.objects.filter(
        state__in=[Sweep.State.CURRENT, Sweep.State.FORMER], checkpoint__isnull=False
    )
    changed = shown.annotate(
        former_checkpoint_id=_before("checkpoint_id"),
        former_checkpoint=_before("checkpoint__name"),
        former_run_id=_before("run__github_run_id"),
    ).exclude(former_checkpoint_id=F("checkpoint_id"))
    columns = ("config_key__key", "scenario", "run__github_run_id", "official_at")
    names = ("checkpoint__name", "former_checkpoint", "former_run_id")
    found = changed.filter(former_checkpoint_id__isnull=False)
    newest = found.order_by("-official_at", "-pk").values_list(*columns, *names)
    return [CheckpointChange(*values) for values in newest[:limit]]


def _before(column: str) -> Window:
    """Return a column of the sweep before, of the same key and scenario."""
    return Window(
        Lag(column),
        partition_by=[F("config_key_id"), F("scenario")],
        order_by=[F("official_at").asc(), F("pk").asc()],
    )


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
