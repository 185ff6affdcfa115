"""Findings that follow from stored rows: what is official, current, held, extending.

Everything here is computed again from the tables, so the order in which runs arrived
never matters and a killed worker leaves nothing half decided.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple

from django.db.models import Q
from django.db.models.functions import Now

from dashboard.models import (
    ChangelogEntry,
    Correction,
    Point,
    Repository,
    Run,
    Sweep,
)

# Without a plan, a sweep that lost more than this share of what the current one
# measured is held.
ALLOWED_LOSS = 0.10

SweepKey = tuple[int, str]

_JOINED = {"config_key_id": "sweep__config_key_id", "scenario": "sweep__scenario"}


def derive_publications(runs: Iterable[Run]) -> set[int]:
    """Decide what each run counts as; return ids of runs whose answer changed."""
    changed = set()
    for run in runs:
        publication, merge = _publication(run)
        published_at = merge.created_at if merge else None
        merge_id = merge.pk if merge else None
        found = (run.publication, run.published_by_id, run.published_at)
        if found != (publication, merge_id, published_at):
            run.publication = publication
            run.published_by = merge
            run.published_at = published_at
            run.save(update_fields=["publication", "published_by", "published_at"])
            changed.add(run.pk)
    return changed


def _publication(run: Run) -> tuple[str, Run | None]:
    merge = _publishing_run(run)
    if _is_corrected(run, Correction.Action.HIDE):
        return Run.Publication.HIDDEN, merge
    if merge is not None or is_official_by_itself(run):
        return Run.Publication.OFFICIAL, merge
    return Run.Publication.UNOFFICIAL, None


def is_official_by_itself(run: Run) -> bool:
    """Tell whether a run is a push of the sweep workflow to the default branch."""
    repository: Repository = run.repository
    return (
        repository.is_official
        and run.event == "push"
        and run.workflow_path == repository.sweep_workflow
        and run.branch == repository.default_branch
    )


def _publishing_run(run: Run) -> Run | None:
    """Return the earliest official run that publishes this one's measurements."""
    merges = Run.objects.filter(
        reuse_source_run_id=run.github_run_id, repository=run.repository
    ).exclude(pk=run.pk)
    for merge in merges.select_related("repository").order_by("created_at", "pk"):
        is_hidden = _is_corrected(merge, Correction.Action.HIDE)
        if is_official_by_itself(merge) and not is_hidden:
            return merge
    return None


def _is_corrected(run: Run, action: str) -> bool:
    return Correction.objects.filter(
        run=run, action=action, undone_at__isnull=True
    ).exists()


def settle_run(run: Run, sweep_keys: Iterable[SweepKey]) -> None:
    """Decide everything that follows from a run's rows.

    ``sweep_keys`` are the (config key id, scenario) pairs it touches, those of
    sweeps that are gone included.
    """
    derive_current_points(run)
    count_points(run)
    changed = derive_publications(related_runs(run))
    keys = {*sweep_keys}
    others = Sweep.objects.filter(run_id__in={*changed, run.pk})
    keys.update(others.values_list("config_key_id", "scenario"))
    derive_states(keys)
    run.refresh_from_db()


def count_points(run: Run) -> None:
    """Count what each sweep and the run received: places with a current point."""
    points = Point.objects.filter(sweep__run=run, is_current=True).order_by()
    places = points.values_list("sweep_id", "deployment_id", "concurrency").distinct()
    received = Counter(sweep_id for sweep_id, _, _ in places)
    for pk, count in run.sweeps.values_list("pk", "received_count"):
        if count != received[pk]:
            Sweep.objects.filter(pk=pk).update(received_count=received[pk])
    if received.total() != run.received_count:
        Run.objects.filter(pk=run.pk).update(received_count=received.total())


def related_runs(run: Run) -> list[Run]:
    """Return the run and those whose publication hangs on it."""
    related = Q(pk=run.pk) | Q(published_by=run)
    if run.reuse_source_run_id is not None:
        related |= Q(github_run_id=run.reuse_source_run_id)
    return list(Run.objects.filter(related).select_related("repository"))


class StoredPoint(NamedTuple):
    """What decides whether a stored point counts; measurements stay in the table."""

    pk: int
    sweep_id: int
    config_key_id: int
    scenario: str
    deployment_id: int
    concurrency: int
    fingerprint: str
    attempt: int
    is_current: bool
    is_excluded: bool

    @property
    def place(self) -> tuple[int, int, int, str]:
        """Where the point stands, whatever the attempt."""
        return (self.sweep_id, self.deployment_id, self.concurrency, self.fingerprint)


def derive_current_points(run: Run) -> None:
    """Mark, per place of a sweep, the newest attempt that nobody excluded.

    Former points are unmarked first: a place has one current point at any time.
    """
    points = _stored_points(run)
    exclusions = list(
        Correction.objects.filter(
            run=run, action=Correction.Action.EXCLUDE, undone_at__isnull=True
        )
    )
    excluded = {p.pk for p in points if any(_covers(c, p) for c in exclusions)}
    newest = {p.place: p.pk for p in points if p.pk not in excluded}
    current = set(newest.values())
    was_current = {p.pk for p in points if p.is_current}
    was_excluded = {p.pk for p in points if p.is_excluded}
    _mark(was_current - current, is_current=False)
    _mark(was_excluded - excluded, is_excluded=False)
    _mark(excluded - was_excluded, is_excluded=True)
    _mark(current - was_current, is_current=True)


def _stored_points(run: Run) -> list[StoredPoint]:
    """Return a run's points, oldest attempt first."""
    rows = Point.objects.filter(sweep__run=run).order_by("attempt", "pk")
    names = [_JOINED.get(name, name) for name in StoredPoint._fields]
    return [StoredPoint(*row) for row in rows.values_list(*names)]


def _mark(ids: set[int], **values: bool) -> None:
    if ids:
        Point.objects.filter(pk__in=ids).update(**values)


def _covers(correction: Correction, point: StoredPoint) -> bool:
    """Tell whether a correction reaches a point: each named part must agree."""
    named = (
        (correction.attempt, point.attempt),
        (correction.config_key_id, point.config_key_id),
        (correction.scenario or None, point.scenario),
        (correction.deployment_id, point.deployment_id),
        (correction.concurrency, point.concurrency),
    )
    return all(asked is None or asked == found for asked, found in named)


@dataclass(slots=True)
class Standing:
    """A sweep on its way through :func:`derive_states`."""

    sweep: Sweep
    at: datetime
    places: set[tuple[int, int]]
    is_append_only: bool = False
    corrections: set[str] = field(default_factory=set)
    state: str = Sweep.State.FORMER
    reason: str = ""
    extends: Sweep | None = None

    @property
    def is_incomplete(self) -> bool:
        """Tell whether fewer points arrived than were planned."""
        planned = self.sweep.planned_count
        return planned is not None and self.sweep.received_count < planned

    @property
    def received_of_planned(self) -> str:
        """Write how many points arrived, of how many."""
        return f"{self.sweep.received_count} of {self.sweep.planned_count} points"


def derive_states(keys: Iterable[SweepKey]) -> int:
    """Decide current, former and held for keys and scenarios; return changed sweeps.

    1. Official sweeps of the key in order of their official date. 2. Walk: a sweep
    is held, extends the current one, or becomes the current one. 3. Write what
    differs; former states first, because only one sweep may be current at a time.
    """
    changed = 0
    for config_key_id, scenario in sorted(set(keys)):
        sweeps = list(
            Sweep.objects.filter(config_key_id=config_key_id, scenario=scenario)
            .select_related("run", "run__published_by", "config_key")
            .order_by("run__github_run_id")
        )
        standings = _standings(sweeps)
        _walk(standings)
        changed += _write_states(sweeps, standings)
    return changed


def _standings(sweeps: list[Sweep]) -> list[Standing]:
    official = [s for s in sweeps if s.run.publication == Run.Publication.OFFICIAL]
    places = _places(official)
    standings = [
        Standing(
            sweep=sweep,
            at=sweep.run.published_at or sweep.run.created_at,
            places=places.get(sweep.pk, set()),
            is_append_only=_is_append_only(sweep),
            corrections=_sweep_corrections(sweep),
        )
        for sweep in official
    ]
    return sorted(standings, key=lambda s: (s.at, s.sweep.run.github_run_id))


def _places(sweeps: list[Sweep]) -> dict[int, set[tuple[int, int]]]:
    places: dict[int, set[tuple[int, int]]] = {}
    points = Point.objects.filter(sweep__in=sweeps, is_current=True)
    for sweep, deployment, concurrency in points.values_list(
        "sweep_id", "deployment_id", "concurrency"
    ):
        places.setdefault(sweep, set()).add((deployment, concurrency))
    return places


def _is_append_only(sweep: Sweep) -> bool:
    run_ids = [sweep.run_id]
    if sweep.run.published_by_id is not None:
        run_ids.append(sweep.run.published_by_id)
    return ChangelogEntry.objects.filter(
        run_id__in=run_ids,
        append_only=True,
        expanded_keys__contains=[sweep.config_key.key],
    ).exists()


def _sweep_corrections(sweep: Sweep) -> set[str]:
    corrections = Correction.objects.filter(
        run_id=sweep.run_id,
        undone_at__isnull=True,
        action__in=[Correction.Action.HOLD, Correction.Action.PUBLISH],
    )
    return {
        c.action
        for c in corrections
        if c.config_key_id in (None, sweep.config_key_id)
        and c.scenario in ("", sweep.scenario)
    }


def _walk(standings: list[Standing]) -> None:
    current: Standing | None = None
    extensions: list[Standing] = []
    for standing in standings:
        standing.reason = _hold_reason(standing, current, extensions)
        if standing.reason:
            standing.state = Sweep.State.HELD
        elif standing.is_append_only and current is not None:
            standing.state = Sweep.State.CURRENT
            standing.extends = current.sweep
            extensions.append(standing)
        else:
            for former in [current, *extensions]:
                if former is not None:
                    former.state = Sweep.State.FORMER
            standing.state = Sweep.State.CURRENT
            current, extensions = standing, []
            if standing.is_incomplete:
                standing.reason = f"incomplete: {standing.received_of_planned}"


def _hold_reason(
    standing: Standing, current: Standing | None, extensions: list[Standing]
) -> str:
    """Return why a sweep may not become current, or an empty text."""
    if not standing.places:
        return "no usable point"
    if Correction.Action.HOLD in standing.corrections:
        return "held by a person"
    if Correction.Action.PUBLISH in standing.corrections or current is None:
        return ""
    return _why_not_current(standing, current, extensions)


def _why_not_current(
    standing: Standing, current: Standing, extensions: list[Standing]
) -> str:
    """Compare a sweep with the one it would replace, or extend."""
    if standing.is_append_only:
        return _why_not_extending(standing.sweep, current.sweep)
    if standing.is_incomplete:
        return f"incomplete: {standing.received_of_planned}"
    if standing.sweep.planned_count is None:
        return _lost_too_much(standing, current, extensions)
    return ""


def _why_not_extending(sweep: Sweep, current: Sweep) -> str:
    if sweep.checkpoint_id != current.checkpoint_id:
        return "append-only, but the checkpoint differs from the current sweep"
    if sweep.images != current.images:
        return "append-only, but the image differs from the current sweep"
    return ""


def _lost_too_much(
    standing: Standing, current: Standing, extensions: list[Standing]
) -> str:
    measured = current.places.union(*(e.places for e in extensions))
    lost = measured - standing.places
    if len(lost) <= ALLOWED_LOSS * len(measured):
        return ""
    kept = len(measured) - len(lost)
    return f"no plan known, and only {kept} of {len(measured)} current points are there"


def _write_states(sweeps: list[Sweep], standings: list[Standing]) -> int:
    wanted = {s.sweep.pk: s for s in standings}
    changed = []
    for sweep in sweeps:
        standing = wanted.get(sweep.pk)
        new = (
            (
                str(standing.state),
                standing.reason,
                standing.extends.pk if standing.extends else None,
                standing.at,
            )
            if standing
            else (None, "", None, None)
        )
        found = (sweep.state, sweep.state_reason, sweep.extends_id, sweep.official_at)
        if found != new:
            changed.append(sweep)
            sweep.state, sweep.state_reason, sweep.extends_id, sweep.official_at = new
    # The partial unique index looks at each row at once: clear before setting.
    names = ["state", "state_reason", "extends_id", "official_at"]
    Sweep.objects.filter(pk__in=[s.pk for s in changed]).update(
        state=None, extends=None
    )
    for sweep in changed:
        Sweep.objects.filter(pk=sweep.pk).update(
            updated_at=Now(), **{name: getattr(sweep, name) for name in names}
        )
    return len(changed)
