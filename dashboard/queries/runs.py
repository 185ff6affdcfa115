"""The run list: which runs there are, newest first, narrowed by what was asked."""

from django.db.models import BooleanField, Exists, ExpressionWrapper, OuterRef, Q
from django.db.models.query import QuerySet

from dashboard.models import Run, Sweep

HELD = "held"


def listed_runs(publication: str = "", text: str = "") -> QuerySet[Run]:
    """Return runs, newest first, each with ``has_held_sweep``.

    ``publication`` is official, unofficial, hidden or held, or empty for all; held
    are official runs with a held sweep. ``text`` is looked for in title and branch,
    and compared with the run id and the pull request number (``501`` or ``#501``).
    """
    held = Sweep.objects.filter(run=OuterRef("pk"), state=Sweep.State.HELD)
    runs = Run.objects.select_related("repository", "published_by").annotate(
        has_held_sweep=ExpressionWrapper(Exists(held), output_field=BooleanField())
    )
    if publication == HELD:
        runs = runs.filter(has_held_sweep=True).exclude(
            publication=Run.Publication.HIDDEN
        )
    elif publication:
        runs = runs.filter(publication=publication)
    return runs.filter(_matches(text.strip())).order_by("-created_at", "-pk")


def _matches(text: str) -> Q:
    if not text:
        return Q()
    found = Q(title__icontains=text) | Q(branch__icontains=text)
    number = text.removeprefix("#")
    # Digits only: int() would also take signs, blanks and underscores.
    if number.isascii() and number.isdigit():
        found |= Q(github_run_id=int(number)) | Q(pr_number=int(number))
    return found


def publication(run: Run, *, has_held_sweep: bool) -> str:
    """Return what a run counts as: held when any of its sweeps is held.

    A hidden run stays hidden: that a person hid it says more.
    """
    if has_held_sweep and run.publication != Run.Publication.HIDDEN:
        return HELD
    return str(run.publication)
