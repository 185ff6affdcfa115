"""What a newer version derives and an older one left without."""

from django.db.models import Q
from django.db.models.query import QuerySet

from dashboard.models import Run, Sweep


def runs_without_history() -> QuerySet[Run]:
    """Return runs whose points have no grid, or whose official sweeps no segment."""
    official = [Sweep.State.CURRENT, Sweep.State.FORMER]
    stale = Sweep.objects.filter(
        Q(received_count__gt=0, grid=[]) | Q(state__in=official, segment__isnull=True)
    )
    return Run.objects.filter(pk__in=stale.values("run_id"))


def is_history_missing() -> bool:
    """Tell whether an older version left something to be derived."""
    return runs_without_history().exists()
