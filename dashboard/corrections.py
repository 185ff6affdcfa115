"""Corrections that people make: each a row with author and reason, each undoable.

Asking twice for the same correction changes nothing. What follows from a correction
is derived anew by the worker, which is asked by name once the row is stored.
"""

from dataclasses import dataclass, fields

from django.db import transaction
from django.db.models import Q
from django.db.models.functions import Now

from dashboard.ingest_requests import request_derivation, see_to_derivation
from dashboard.models import (
    ConfigKey,
    Correction,
    Deployment,
    EvalResult,
    Point,
    Run,
    Sweep,
)


class CorrectionRefusedError(ValueError):
    """The correction lacks its author or its reason, or is about nothing there is."""


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Named:
    """What a person asks to correct, by the names on the page; empty means in full."""

    action: str
    attempt: int | None = None
    config_key: str = ""
    scenario: str = ""
    deployment: str = ""
    concurrency: int | None = None


def named_targets(run: Run, named: Named) -> list[Target]:
    """Return what is named of a run, usually one target.

    A key that is held or published without a scenario means each of its sweeps, and
    deployments that differ in what the label leaves out are all meant. Raises
    CorrectionRefusedError for a name that nothing has.
    """
    key = _named_key(named.config_key)
    return [
        Target(
            action=named.action,
            run=run,
            attempt=named.attempt,
            config_key=key,
            scenario=scenario,
            deployment=deployment,
            concurrency=named.concurrency,
        )
        for scenario in _named_scenarios(run, key, named)
        for deployment in _named_deployments(run, named.deployment)
    ]


def _named_key(name: str) -> ConfigKey | None:
    if not name:
        return None
    found = ConfigKey.objects.filter(key=name).first()
    if found is None:
        raise CorrectionRefusedError(f"No config key is called {name[:200]}.")
    return found


def _named_scenarios(run: Run, key: ConfigKey | None, named: Named) -> list[str]:
    decisions = (Correction.Action.HOLD, Correction.Action.PUBLISH)
    if named.scenario or key is None or named.action not in decisions:
        return [named.scenario]
    found = run.sweeps.filter(config_key=key).order_by("scenario")
    scenarios = list(found.values_list("scenario", flat=True))
    if not scenarios:
        raise CorrectionRefusedError("The run has no sweep of this config key.")
    return scenarios


def _named_deployments(run: Run, label: str) -> list[Deployment | None]:
    if not label:
        return [None]
    of_run = Q(pk__in=Point.objects.filter(sweep__run=run).values("deployment"))
    of_run |= Q(pk__in=run.evals.values("deployment"))
    found = Deployment.objects.filter(of_run, label=label).order_by("pk")
    if not found:
        raise CorrectionRefusedError(f"The run has no deployment {label[:200]}.")
    return list(found)


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

    What follows from that one is asked for again if it was never derived.
    """
    with transaction.atomic():
        made, is_new = store(target=target, author=author, reason=reason)
        if is_new:
            request_derivation(run=target.run, requested_by=author)
        else:
            see_to_derivation(run=target.run, since=made.made_at, requested_by=author)
    return made


def store(*, target: Target, author: str, reason: str) -> tuple[Correction, bool]:
    """Store a correction, and return it with whether it is new.

    Nothing is asked for: that what follows is derived is the caller's to see to.
    1. Refuse without author or reason. 2. Lock the run, so that two people cannot
    decide at once. 3. Return an equal active correction. 4. Refuse what
    :func:`why_not` refuses. 5. Undo the contrary one: a sweep is either held or
    published. 6. Store.
    """
    _require(author, reason)
    with transaction.atomic():
        _lock(target.run)
        wanted = {part.name: getattr(target, part.name) for part in fields(target)}
        found = Correction.objects.filter(**wanted, undone_at__isnull=True).first()
        if found is not None:
            return found, False
        if refusal := why_not(target):
            raise CorrectionRefusedError(refusal)
        _undo_contrary(target, author, reason)
        made = Correction.objects.create(**wanted, author=author, reason=reason)
    made.refresh_from_db()
    return made, True


def why_not(target: Target) -> str:
    """Return why a correction cannot be about its target, or an empty text."""
    if target.action == Correction.Action.HIDE:
        return _why_not_hidden(target)
    if target.action == Correction.Action.EXCLUDE:
        return _why_not_excluded(target)
    return _why_not_decided(target)


def _why_not_hidden(target: Target) -> str:
    if target == Target(action=target.action, run=target.run):
        return ""
    return "Hiding takes a whole run; exclude its attempts and points instead."


def _why_not_excluded(target: Target) -> str:
    asked = {
        "attempt": target.attempt,
        "config_key": target.config_key,
        "scenario": target.scenario or None,
        "deployment": target.deployment,
        "concurrency": target.concurrency,
    }
    of_result = {name: part for name, part in asked.items() if part is not None}
    of_sweep = {"config_key", "scenario"}
    of_point = {
        f"sweep__{name}" if name in of_sweep else name: part
        for name, part in of_result.items()
    }
    # An exclusion takes the eval scores of a place out, too.
    points = Point.objects.filter(sweep__run=target.run, **of_point)
    evals = EvalResult.objects.filter(run=target.run, **of_result)
    if points.exists() or evals.exists():
        return ""
    return "This names no point of the run."


def _why_not_decided(target: Target) -> str:
    """Say why a target is no sweep, which is what is held and published."""
    whole = Target(
        action=target.action,
        run=target.run,
        config_key=target.config_key,
        scenario=target.scenario,
    )
    if target != whole or target.config_key is None or not target.scenario:
        return "A sweep is held or published: give its config key and scenario only."
    sweeps = target.run.sweeps.filter(
        config_key=target.config_key, scenario=target.scenario
    )
    if sweeps.exists():
        return ""
    return "The run has no sweep of this config key and scenario."


def undo(*, correction: Correction, author: str, reason: str) -> Correction:
    """Take a correction back; it stays listed with who undid it and why."""
    with transaction.atomic():
        if take_back(correction=correction, author=author, reason=reason):
            request_derivation(run=correction.run, requested_by=author)
    return correction


def take_back(*, correction: Correction, author: str, reason: str) -> bool:
    """Mark a correction as undone and ask for nothing; False if it already was."""
    _require(author, reason)
    with transaction.atomic():
        _lock(correction.run)
        is_changed = _mark_undone(correction.pk, author, reason)
    correction.refresh_from_db()
    return is_changed


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
