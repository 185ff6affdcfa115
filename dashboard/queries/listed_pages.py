"""Rows of lists that are read page by page: newest or lowest id first, by key."""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from django.db.models import Exists, F, OuterRef, Q, Subquery
from django.db.models.query import QuerySet

from dashboard.models import (
    EvalResult,
    EvalSample,
    IngestRequest,
    Run,
    Skip,
    Sweep,
)
from dashboard.queries.run_parts import JudgedEval, judged
from dashboard.queries.runs import RunFilters, listed_runs

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)
# A cursor that somebody wrote may name a moment after the end of the calendar.
LAST = (datetime.max.replace(tzinfo=UTC) - EPOCH) // MICROSECOND


class Slice(NamedTuple):
    """Rows of a page, and whether more follow."""

    rows: list[Any]
    has_more: bool


def _slice(rows: QuerySet[Any], limit: int) -> Slice:
    found = list(rows[: limit + 1])
    return Slice(found[:limit], len(found) > limit)


class PlacedEval(NamedTuple):
    """A score held against its floor, with what the sweep beside it says."""

    judged: JudgedEval
    sweep: dict[str, Any] | None
    has_samples: bool


def eval_slice(evals: QuerySet[EvalResult], after: int, limit: int) -> Slice:
    """Return scores as ``PlacedEval`` in the order of their ids."""
    beside = Sweep.objects.filter(
        run=OuterRef("run"),
        config_key=OuterRef("config_key"),
        scenario=OuterRef("scenario"),
    )
    samples = EvalSample.objects.filter(eval=OuterRef("pk"))
    found = (
        evals.filter(pk__gt=after)
        .select_related("config_key", "deployment", "run__published_by")
        .annotate(
            has_samples=Exists(samples), sweep_id=Subquery(beside.values("pk")[:1])
        )
        .order_by("pk")
    )
    rows, has_more = _slice(found, limit)
    sweeps = _sweep_facts(row.sweep_id for row in rows)
    placed = [
        PlacedEval(one, sweeps.get(row.sweep_id), row.has_samples)
        for row, one in zip(rows, judged(rows), strict=True)
    ]
    return Slice(placed, has_more)


def _sweep_facts(ids: Iterable[int | None]) -> dict[int, dict[str, Any]]:
    names = ("pk", "state", "image", "measured_at", "official_at", "segment")
    found = Sweep.objects.filter(pk__in={pk for pk in ids if pk is not None})
    rows = found.values(*names, checkpoint_name=F("checkpoint__name"))
    return {row["pk"]: row for row in rows}


def shown_eval(pk: int) -> EvalResult | None:
    """Return a score of a run that nobody hid."""
    found = EvalResult.objects.exclude(run__publication=Run.Publication.HIDDEN)
    return found.filter(pk=pk).first()


def skip_slice(run: Run | None, reason: str, after: int, limit: int) -> Slice:
    """Return what was not taken, of a run or of all, in the order of ids."""
    found = Skip.objects.exclude(run__publication=Run.Publication.HIDDEN)
    if run is not None:
        found = found.filter(run=run)
    if reason:
        found = found.filter(reason=reason)
    related = found.filter(pk__gt=after).select_related("run", "artifact")
    return _slice(related.order_by("pk"), limit)


def skip_reasons() -> list[str]:
    """Return the reasons for which anything was not taken."""
    return sorted(set(Skip.objects.values_list("reason", flat=True).distinct()))


def run_slice(filters: RunFilters, before: tuple[int, int] | None, limit: int) -> Slice:
    """Return runs, newest first; a place is (microseconds of creation, row's id).

    What a person took out is not listed.
    """
    found = listed_runs(filters).exclude(publication=Run.Publication.HIDDEN)
    if before is not None:
        micros, pk = before
        at = EPOCH + min(micros, LAST) * MICROSECOND
        found = found.filter(Q(created_at__lt=at) | Q(created_at=at, pk__lt=pk))
    return _slice(found, limit)


def place_of_run(run: Run) -> tuple[int, int]:
    """Return where a run stands in the order of runs."""
    return (run.created_at - EPOCH) // MICROSECOND, run.pk


def request_slice(
    run_id: int | None, states: Iterable[str], before: int | None, limit: int
) -> Slice:
    """Return requests for work, newest first."""
    found = IngestRequest.objects.order_by("-pk")
    if run_id is not None:
        found = found.filter(github_run_id=run_id)
    if asked := tuple(states):
        found = found.filter(state__in=asked)
    if before is not None:
        found = found.filter(pk__lt=before)
    return _slice(found, limit)
