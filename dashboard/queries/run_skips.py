"""Everything of a run that was not taken, for a list by the page and the download."""

from typing import NamedTuple

from django.db.models import Count, F
from django.db.models.query import QuerySet

from dashboard.models import Run, Skip

COLUMNS = (
    *("reason", "artifact", "attempt", "member", "index", "detail"),
    *("run_id", "repository"),
)


class Reason(NamedTuple):
    """A reason, and how many records were not taken for it."""

    code: str
    total: int


def reasons(run: Run) -> list[Reason]:
    """Count what was not taken by reason, in order of the reasons."""
    counted = run.skips.values("reason").annotate(total=Count("pk"))
    found = counted.order_by("reason").values_list("reason", "total")
    return [Reason(*row) for row in found]


def listed_skips(run: Run, reason: str = "") -> QuerySet[Skip]:
    """Return skips with their artifacts, those of one reason if one is given."""
    found = run.skips.select_related("artifact").order_by("reason", "pk")
    return found.filter(reason=reason) if reason else found


def skip_rows(run: Run, reason: str = "") -> QuerySet[Skip, tuple[object, ...]]:
    """Return skips, of one reason if one is given, in the order of ``COLUMNS``."""
    return listed_skips(run, reason).values_list(
        "reason",
        F("artifact__name"),
        F("artifact__attempt"),
        "member",
        "index",
        "detail",
        F("run__github_run_id"),
        F("run__repository__full_name"),
    )
