"""Which official sweep of a key and scenario is current, former, held, or extends one.

Everything is decided again from the tables, in as many queries for a thousand sweeps
as for two.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple

from django.db.models import Exists, OuterRef, Q
from django.db.models.functions import Now

from dashboard.models import ChangelogEntry, Correction, Point, Run, Sweep
from ingest.mapping import scenario_type

# Without a plan, a sweep that lost more than this share of what the current one
# measured is held.
ALLOWED_LOSS = 0.10

SweepKey = tuple[int, str]
Place = tuple[int, int]  # deployment id, concurrency
_PLACE = ("sweep_id", "deployment_id", "concurrency")

_JOINED = {
    "key": "config_key__key",
    "github_run_id": "run__github_run_id",
    "publication": "run__publication",
    "created_at": "run__created_at",
    "published_at": "run__published_at",
    "published_by_id": "run__published_by_id",
}


class StoredSweep(NamedTuple):
    """What decides the state of a sweep, and the state it has."""

    pk: int
    config_key_id: int
    key: str
    scenario: str
    run_id: int
    github_run_id: int
    publication: str
    created_at: datetime
    published_at: datetime | None
    published_by_id: int | None
    checkpoint_id: int | None
    images: list[str]
    planned_count: int | None
    received_count: int
    state: str | None
    state_reason: str
    extends_id: int | None
    official_at: datetime | None
    has_usable: bool

    @property
    def is_official(self) -> bool:
        """Tell whether the sweep's run is official."""
        return self.publication == Run.Publication.OFFICIAL

    @property
    def at(self) -> datetime:
        """The date under which the sweep counts, if it is official."""
        return self.published_at or self.created_at

    @property
    def missing(self) -> int:
        """Return how many planned points do not count; 0 where no plan is known."""
        return max((self.planned_count or 0) - self.received_count, 0)

    @property
    def received_of_planned(self) -> str:
        """Write how many points arrived, of how many."""
        return f"{self.received_count} of {self.planned_count} points"


@dataclass(slots=True)
class Standing:
    """A sweep on its way through :func:`derive_states`."""

    sweep: StoredSweep
    places: set[Place] = field(default_factory=set)
    excluded: int = 0  # places that arrived and that a person took out
    is_append_only: bool = False
    decision: str = ""  # of a person: hold, publish or none
    state: str = Sweep.State.FORMER
    reason: str = ""
    extends_id: int | None = None

    @property
    def is_incomplete(self) -> bool:
        """Tell whether fewer points arrived than were planned."""
        return self.sweep.missing > self.excluded


def derive_states(keys: Iterable[SweepKey]) -> int:
    """Decide current, former and held for keys and scenarios; return changed sweeps.

    1. Official sweeps of each key in order of their official date. 2. Walk: a sweep
    is held, extends the current one, or becomes the current one. 3. Write what
    differs; former states first, because only one sweep may be current at a time.
    """
    sweeps = _stored_sweeps(set(keys))
    official = [sweep for sweep in sweeps if sweep.is_official]
    by_key: dict[SweepKey, list[Standing]] = {}
    for standing in _standings(official):
        sweep = standing.sweep
        by_key.setdefault((sweep.config_key_id, sweep.scenario), []).append(standing)
    for standings in by_key.values():
        _walk(standings)
    return _write_states(sweeps, [s for found in by_key.values() for s in found])


def _stored_sweeps(keys: set[SweepKey]) -> list[StoredSweep]:
    """Return sweeps that have a state or are to have one, by official date."""
    found = Sweep.objects.filter(
        Q(run__publication=Run.Publication.OFFICIAL) | Q(state__isnull=False),
        config_key_id__in={key_id for key_id, _ in keys},
        scenario__in={scenario for _, scenario in keys},
    )
    usable = Point.objects.filter(sweep=OuterRef("pk"), is_current=True, is_out=False)
    found = found.annotate(has_usable=Exists(usable))
    names = [_JOINED.get(name, name) for name in StoredSweep._fields]
    sweeps = [StoredSweep(*row) for row in found.values_list(*names)]
    asked = [s for s in sweeps if (s.config_key_id, s.scenario) in keys]
    return sorted(asked, key=lambda s: (s.at, s.github_run_id))


def _standings(sweeps: Sequence[StoredSweep]) -> list[Standing]:
    added = _append_only_keys(sweeps)
    corrections = _sweep_corrections(sweeps)
    standings = [
        Standing(
            sweep=sweep,
            is_append_only=any(
                (run_id, sweep.key, scenario_type(sweep.scenario)) in added
                for run_id in (sweep.run_id, sweep.published_by_id)
            ),
            decision=_decision(corrections.get(sweep.run_id, []), sweep),
        )
        for sweep in sweeps
    ]
    _add_places(standings)
    _add_exclusions(standings)
    return standings


def _add_exclusions(standings: Sequence[Standing]) -> None:
    """Count what people took out of sweeps that lack points: that much did arrive."""
    lacking = {s.sweep.pk: s for s in standings if s.sweep.missing}
    if not lacking:
        return
    points = Point.objects.filter(sweep_id__in=lacking)
    kept = set(points.filter(is_current=True).values_list(*_PLACE))
    for place in set(points.filter(is_excluded=True).values_list(*_PLACE)) - kept:
        lacking[place[0]].excluded += 1


def _append_only_keys(sweeps: Sequence[StoredSweep]) -> set[tuple[int, str, str]]:
    """Return (run id, key, type of scenario) of what was asked for as an addition."""
    merges = {s.published_by_id for s in sweeps if s.published_by_id is not None}
    run_ids = {s.run_id for s in sweeps} | merges
    entries = ChangelogEntry.objects.filter(append_only=True, run_id__in=run_ids)
    names = ("run_id", "expanded_keys", "scenario_types")
    types_of_all = {scenario_type(s.scenario) for s in sweeps}
    return {
        (run_id, key, kind)
        for run_id, keys, types in entries.values_list(*names)
        for key in keys
        for kind in types or types_of_all
    }


def _sweep_corrections(
    sweeps: Sequence[StoredSweep],
) -> dict[int, list[Correction]]:
    """Return active holds and publications by run id, the oldest first."""
    found: dict[int, list[Correction]] = {}
    active = Correction.objects.filter(
        run_id__in={s.run_id for s in sweeps},
        undone_at__isnull=True,
        action__in=[Correction.Action.HOLD, Correction.Action.PUBLISH],
    )
    for correction in active.order_by("made_at", "pk"):
        found.setdefault(correction.run_id, []).append(correction)
    return found


def _decision(corrections: Iterable[Correction], sweep: StoredSweep) -> str:
    """Return the newest decision that reaches a sweep, or an empty text."""
    reaching = [c.action for c in corrections if _is_of(c, sweep)]
    return reaching[-1] if reaching else ""


def _is_of(correction: Correction, sweep: StoredSweep) -> bool:
    """Tell whether a correction of the sweep's run reaches the sweep."""
    return correction.config_key_id in (
        None,
        sweep.config_key_id,
    ) and correction.scenario in ("", sweep.scenario)


def _add_places(standings: Sequence[Standing]) -> None:
    """Add what each sweep measured, for keys that hold a sweep without a plan."""
    keys = {
        (s.sweep.config_key_id, s.sweep.scenario)
        for s in standings
        if s.sweep.planned_count is None
    }
    wanted = {
        s.sweep.pk: s
        for s in standings
        if (s.sweep.config_key_id, s.sweep.scenario) in keys
    }
    points = Point.objects.filter(sweep_id__in=wanted, is_current=True)
    for sweep_id, *place in points.values_list(
        "sweep_id", "deployment_id", "concurrency"
    ):
        wanted[sweep_id].places.add((place[0], place[1]))


def _walk(standings: Iterable[Standing]) -> None:
    current: Standing | None = None
    extensions: list[Standing] = []
    for standing in standings:
        standing.reason = _hold_reason(standing, current, extensions)
        if standing.reason:
            standing.state = Sweep.State.HELD
        elif standing.is_append_only and current is not None:
            standing.state = Sweep.State.CURRENT
            standing.extends_id = current.sweep.pk
            extensions.append(standing)
        else:
            for former in [current, *extensions]:
                if former is not None:
                    former.state = Sweep.State.FORMER
            standing.state = Sweep.State.CURRENT
            current, extensions = standing, []
            if standing.is_incomplete:
                standing.reason = f"incomplete: {standing.sweep.received_of_planned}"


def _hold_reason(
    standing: Standing, current: Standing | None, extensions: list[Standing]
) -> str:
    """Return why a sweep may not become current, or an empty text."""
    if not standing.sweep.has_usable:
        return "no usable point"
    if standing.decision == Correction.Action.HOLD:
        return "held by a person"
    if standing.decision == Correction.Action.PUBLISH or current is None:
        return ""
    return _why_not_current(standing, current, extensions)


def _why_not_current(
    standing: Standing, current: Standing, extensions: list[Standing]
) -> str:
    """Compare a sweep with the one it would replace, or extend."""
    sweep = standing.sweep
    if standing.is_append_only:
        return _why_not_extending(sweep, current.sweep)
    if standing.is_incomplete:
        return f"incomplete: {sweep.received_of_planned}"
    if sweep.planned_count is None:
        return _lost_too_much(standing, current, extensions)
    return ""


def _why_not_extending(sweep: StoredSweep, current: StoredSweep) -> str:
    if sweep.checkpoint_id != current.checkpoint_id:
        return "append-only, but the checkpoint differs from the current sweep"
    # Their order is that of how many points each served.
    if set(sweep.images) != set(current.images):
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


def _write_states(sweeps: Iterable[StoredSweep], standings: list[Standing]) -> int:
    wanted = {s.sweep.pk: s for s in standings}
    changed: dict[int, dict[str, object]] = {}
    for sweep in sweeps:
        new = _columns(wanted.get(sweep.pk))
        if any(getattr(sweep, name) != value for name, value in new.items()):
            changed[sweep.pk] = new
    # The partial unique index looks at each row at once: clear before setting.
    Sweep.objects.filter(pk__in=changed).update(state=None, extends=None)
    for pk, values in changed.items():
        Sweep.objects.filter(pk=pk).update(updated_at=Now(), **values)
    return len(changed)


def _columns(standing: Standing | None) -> dict[str, object]:
    """Return what is stored of a standing, None for a sweep that is not official."""
    return {
        "state": str(standing.state) if standing else None,
        "state_reason": standing.reason if standing else "",
        "extends_id": standing.extends_id if standing else None,
        "official_at": standing.sweep.at if standing else None,
    }
