"""Counts of what is stored and asked for, as /metrics shows them."""

from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, Min, Q, Sum

from dashboard.caching import current_generation
from dashboard.models import IngestRequest, Run, Skip
from dashboard.vocabulary.skips import SKIP_REASONS

OTHER = "other"


@dataclass(frozen=True, slots=True)
class Requests:
    """Requests for work by state, and since when the oldest one waits (UTC)."""

    by_state: dict[str, int]
    waiting_since: datetime | None


@dataclass(frozen=True, slots=True)
class Stored:
    """What is stored: runs and received points by publication, skips by reason."""

    generation: int
    runs: dict[str, int]
    points: dict[str, int]
    skips: dict[str, int]


def request_counts() -> Requests:
    """Return how requests stand, in one query; every state is there."""
    queued = IngestRequest.State.QUEUED
    counts = {
        str(state): Count("pk", filter=Q(state=state)) for state in IngestRequest.State
    }
    since = Min("requested_at", filter=Q(state=queued))
    found = IngestRequest.objects.aggregate(**counts, waiting_since=since)
    waiting_since = found.pop("waiting_since")
    return Requests(found, waiting_since)


def stored_counts() -> Stored:
    """Return what is stored, in three queries over small tables.

    Points are those that runs say they received: counting a million rows would take
    longer than a page.
    """
    runs = list(
        Run.objects.values_list("publication").annotate(
            Count("pk"), Sum("received_count")
        )
    )
    return Stored(
        current_generation(),
        {name: count for name, count, _ in runs},
        {name: points for name, _, points in runs},
        _skips(),
    )


def _skips() -> dict[str, int]:
    """Return skips by reason; what no vocabulary names counts together."""
    found: dict[str, int] = {}
    rows = Skip.objects.values_list("reason").annotate(Count("pk")).order_by()
    for reason, count in rows:
        name = reason if reason in SKIP_REASONS else OTHER
        found[name] = found.get(name, 0) + count
    return found
