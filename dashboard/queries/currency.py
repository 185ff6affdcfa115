"""Which official sweeps were current at a moment: one answer for pages and API."""

from datetime import datetime

from django.db.models import Q
from django.db.models.query import QuerySet

from dashboard.models import Run, Sweep


def official_sweeps() -> QuerySet[Sweep]:
    """Return every sweep of an official run, held ones too."""
    return Sweep.objects.filter(run__publication=Run.Publication.OFFICIAL)


def sweeps_as_of(moment: datetime) -> QuerySet[Sweep]:
    """Return what was current at ``moment``, that moment included.

    Of each config key and scenario: the newest sweep that is not held and extends no
    other, and those that extend it and were official by then. What a sweep's state
    says is true of today only, except that a held one stays out.
    """
    counted = official_sweeps().filter(
        state__in=[Sweep.State.CURRENT, Sweep.State.FORMER], official_at__lte=moment
    )
    newest = (
        counted.filter(extends__isnull=True)
        .order_by("config_key_id", "scenario", "-official_at", "-run__github_run_id")
        .distinct("config_key_id", "scenario")
        .values("pk")
    )
    return counted.filter(Q(pk__in=newest) | Q(extends__in=newest))
