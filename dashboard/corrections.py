"""Corrections that people make: each a row with author and reason, each undoable.

Asking twice for the same correction changes nothing. What follows from a correction
is derived anew by the worker, which is asked by name once the row is stored.
"""

from dataclasses import dataclass, fields

from django.db import transaction
from django.db.models.functions import Now

from dashboard.ingest_requests import request_derivation, see_to_derivation
from dashboard.models import (
    ConfigKey,
    Correction,
    Deployment,
    Run,
    Sweep,
)


class CorrectionRefusedError(ValueError):
    """The correction lacks its author or its reason."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """What a correction is about; what is left out is meant in full."""

    action: str
    run: Run
    attempt: int | None = None
    config_key: ConfigKey | None = None
    scenario: str = ""
    deployment: Deployment | None = None
    concurrency: int | None = None


def hide_run(*, run: Run, author: str, reason: str) -> Correction:
    """Take a run off every official page; its rows stay."""
    target = Target(action=Correction.Action.HIDE, run=run)
    return correct(target=target, author=author, reason=reason)


def exclude_points(  # noqa: PLR0913  # a point has this many names
    *,
    run: Run,
    attempt: int | None = None,
    config_key: ConfigKey | None = None,
    scenario: str = "",
    deployment: Deployment | None = None,
    concurrency: int | None = None,
    author: str,
    reason: str,
) -> Correction:
    """Take points of a run out of its sweeps; only those that every given part names.

    An older attempt of an excluded point counts again.
    """
    target = Target(
        action=Correction.Action.EXCLUDE,
        run=run,
        attempt=attempt,
        config_key=config_key,
        scenario=scenario,
        deployment=deployment,
        concurrency=concurrency,
    )
    return correct(target=target, author=author, reason=reason)


def hold_sweep(*, sweep: Sweep, author: str, reason: str) -> Correction:
    """Keep a sweep from becoming the current one."""
    target = _sweep_target(Correction.Action.HOLD, sweep)
    return correct(target=target, author=author, reason=reason)


def publish_sweep(*, sweep: Sweep, author: str, reason: str) -> Correction:
    """Let a held sweep become the current one, incomplete as it may be."""
    target = _sweep_target(Correction.Action.PUBLISH, sweep)
    return correct(target=target, author=author, reason=reason)


def correct(*, target: Target, author: str, reason: str) -> Correction:
    """Store a correction and ask for what follows; an equal active one is returned.

    1. Refuse without author or reason. 2. Lock the run, so that two people cannot
    decide at once. 3. Return an equal active correction; ask again if what follows
    from it was never derived. 4. Undo the contrary one:
    a sweep is either held or published. 5. Store and ask.
    """
    _require(author, reason)
    with transaction.atomic():
        _lock(target.run)
        wanted = {part.name: getattr(target, part.name) for part in fields(target)}
        found = Correction.objects.filter(**wanted, undone_at__isnull=True).first()
        if found is not None:
            see_to_derivation(run=target.run, since=found.made_at, requested_by=author)
            return found
        _undo_contrary(target, author, reason)
        made = Correction.objects.create(**wanted, author=author, reason=reason)
        request_derivation(run=target.run, requested_by=author)
    made.refresh_from_db()
    return made


def undo(*, correction: Correction, author: str, reason: str) -> Correction:
    """Take a correction back; it stays listed with who undid it and why."""
    _require(author, reason)
    with transaction.atomic():
        _lock(correction.run)
        if _mark_undone(correction.pk, author, reason):
            request_derivation(run=correction.run, requested_by=author)
    correction.refresh_from_db()
    return correction


def _sweep_target(action: str, sweep: Sweep) -> Target:
    return Target(
        action=action,
        run=sweep.run,
        config_key=sweep.config_key,
        scenario=sweep.scenario,
    )


def _require(author: str, reason: str) -> None:
    if not author.strip():
        raise CorrectionRefusedError("A correction needs an author.")
    if not reason.strip():
        raise CorrectionRefusedError("A correction needs a reason.")


def _lock(run: Run) -> None:
    # Rows that refer to the run may be stored meanwhile: its key is not touched.
    Run.objects.select_for_update(no_key=True).only("pk").get(pk=run.pk)


def _undo_contrary(target: Target, author: str, reason: str) -> None:
    contrary = {
        Correction.Action.HOLD: Correction.Action.PUBLISH,
        Correction.Action.PUBLISH: Correction.Action.HOLD,
    }.get(Correction.Action(target.action))
    if contrary is None:
        return
    found = Correction.objects.filter(
        action=contrary,
        run=target.run,
        config_key=target.config_key,
        scenario=target.scenario,
        undone_at__isnull=True,
    )
    for correction in found:
        _mark_undone(correction.pk, author, reason)


def _mark_undone(pk: int, author: str, reason: str) -> bool:
    """Mark a correction as undone; False if it already was."""
    active = Correction.objects.filter(pk=pk, undone_at__isnull=True)
    return bool(active.update(undone_at=Now(), undone_by=author, undo_reason=reason))
