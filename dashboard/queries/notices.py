"""What staff say of what a page shows: their notes, until they expire."""

from collections.abc import Collection, Iterable, Mapping
from datetime import datetime
from typing import NamedTuple

from django.db.models import Q

from dashboard.models import Notice

# More would be no longer read.
MOST_NOTES = 20


class Subject(NamedTuple):
    """What a page shows of one config key; ``run_id`` is GitHub's."""

    config_key: str
    framework: str
    model: str
    run_id: int


def notes_about(
    subjects: Iterable[Subject], now: datetime, runs: Collection[int] = ()
) -> list[Notice]:
    """Return the notes that hold now and are about one of these, newest first.

    ``runs`` are run ids that the page is about even where they measured nothing. A
    note without a scope is about everything.
    """
    holding = Notice.objects.filter(kind=Notice.Kind.NOTE, at__lte=now)
    holding = holding.filter(Q(expires_at=None) | Q(expires_at__gt=now))
    newest = holding.select_related("config_key", "run").order_by("-at", "-pk")
    shown = set(subjects)
    return [note for note in newest if _is_about(note, shown, runs)][:MOST_NOTES]


def _is_about(note: Notice, shown: set[Subject], runs: Collection[int]) -> bool:
    scope = note.scope
    if not scope or (set(scope) == {"run"} and int(scope["run"]) in runs):
        return True
    return any(_fits(scope, subject) for subject in shown)


def _fits(scope: Mapping[str, str], subject: Subject) -> bool:
    found = {**subject._asdict(), "run": str(subject.run_id)}
    return all(found[name] == value for name, value in scope.items())
