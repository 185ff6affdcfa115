"""What people make of regressions: state, owner, notes, each change with its author.

Only what a person decides is written here; what the data shows is derived by ingest.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models.functions import Now

from dashboard.models import Generation, Regression, Run, TriageEvent
from dashboard.permissions import may_correct
from dashboard.vocabulary.inputs import LONGEST_NOTE

# In the history, where an owner was taken away. No user can be called so.
NO_OWNER = "(nobody)"


class TriageRefusedError(ValueError):
    """The decision lacks its author, decides nothing, or names what cannot be."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What a person decides of some regressions; an empty part leaves it as it is.

    ``owner`` counts only where ``sets_owner`` is true; None is nobody.
    """

    state: str = ""
    sets_owner: bool = False
    owner: User | None = None
    note: str = ""

    @property
    def is_nothing(self) -> bool:
        """Tell whether nothing is decided or said."""
        return not (self.state or self.sets_owner or self.note.strip())


@dataclass(frozen=True, slots=True)
class Seen:
    """The state and the owner's row id that a person saw when deciding."""

    state: str
    owner_id: int | None = None


@dataclass(slots=True)
class Outcome:
    """What came of a decision, by the ids of the regressions.

    ``stale`` were changed by somebody else since they were seen, and left alone.
    """

    changed: list[int] = field(default_factory=list)
    noted: list[int] = field(default_factory=list)
    same: list[int] = field(default_factory=list)
    stale: list[Regression] = field(default_factory=list)
    unknown: list[int] = field(default_factory=list)


def triage(
    *,
    ids: Collection[int],
    decision: Decision,
    author: str,
    seen: Mapping[int, Seen] | None = None,
) -> Outcome:
    """Apply one decision to one or many regressions, each with its event.

    1. Refuse what decides nothing or names an unknown state or an owner who may not
    triage. 2. Lock the rows in the order of their ids, so that two people cannot
    decide at once. 3. Leave alone, and name, what differs from what was ``seen``:
    somebody else was faster. Those of hidden runs are unknown. 4. Write state, owner
    and event; what is as decided already is not touched, but a note is kept. 5. Begin
    a new generation.
    """
    _require(decision, author)
    with transaction.atomic():
        found = Regression.objects.select_for_update(of=("self",), no_key=True)
        shown = found.exclude(run__publication=Run.Publication.HIDDEN)
        rows = list(shown.filter(pk__in=ids).order_by("pk"))
        outcome = Outcome(unknown=sorted(set(ids) - {row.pk for row in rows}))
        for row in rows:
            _decide(row, decision, author, seen, outcome)
        if outcome.changed or outcome.noted:
            Generation.bump()
    return outcome


def _require(decision: Decision, author: str) -> None:
    if not author.strip():
        raise TriageRefusedError("A change of triage needs an author.")
    if decision.is_nothing:
        raise TriageRefusedError("Choose a state or an owner, or write a note.")
    if decision.state and decision.state not in Regression.State.values:
        allowed = ", ".join(Regression.State.values)
        raise TriageRefusedError(f"There is no such state. Allowed: {allowed}.")
    if "\0" in decision.note:
        raise TriageRefusedError("A note is text, without NUL characters.")
    if len(decision.note) > LONGEST_NOTE:
        raise TriageRefusedError(f"A note has at most {LONGEST_NOTE} characters.")
    owner = decision.owner
    if decision.sets_owner and owner is not None and not may_correct(owner):
        name = owner.get_username()
        raise TriageRefusedError(f"{name} may not triage, so cannot be an owner.")


def _decide(
    row: Regression,
    decision: Decision,
    author: str,
    seen: Mapping[int, Seen] | None,
    outcome: Outcome,
) -> None:
    was = row.state
    owner = decision.owner
    sets_state = bool(decision.state) and decision.state != was
    sets_owner = decision.sets_owner and row.owner_id != (owner.pk if owner else None)
    note = decision.note.strip()
    if (sets_state or sets_owner) and _is_stale(row, seen):
        outcome.stale.append(row)
        return
    if not (sets_state or sets_owner or note):
        outcome.same.append(row.pk)
        return
    if sets_state or sets_owner:
        row.state = decision.state if sets_state else was
        owner_id = (owner.pk if owner else None) if sets_owner else row.owner_id
        Regression.objects.filter(pk=row.pk).update(
            state=row.state, owner_id=owner_id, updated_at=Now()
        )
    name = (owner.get_username() if owner else NO_OWNER) if sets_owner else ""
    TriageEvent.objects.create(
        regression=row,
        author=author,
        from_state=was if sets_state else "",
        to_state=row.state if sets_state else "",
        owner=name,
        note=note,
    )
    (outcome.changed if sets_state or sets_owner else outcome.noted).append(row.pk)


def _is_stale(row: Regression, seen: Mapping[int, Seen] | None) -> bool:
    """Tell whether somebody changed a row since it was looked at."""
    known = None if seen is None else seen.get(row.pk)
    return known is not None and known != Seen(row.state, row.owner_id)
