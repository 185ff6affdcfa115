"""The history of keys: each official sweep's segment, breaks and markers, stored."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from django.db.models import Q
from django.db.models.functions import Coalesce, Now

from dashboard.analysis.segments import Placed, StaffMark, segments
from dashboard.models import ConfigKey, Notice, Sweep
from dashboard.queries.sides import IDENTITY_FIELDS, identity

IN_HISTORY = (Sweep.State.CURRENT, Sweep.State.FORMER)

_FIELDS = (
    *IDENTITY_FIELDS,
    *("config_key_id", "scenario", "run_id", "state"),
    *("previous_id", "segment", "breaks", "markers", "is_swap"),
)
_DERIVED = ("previous_id", "segment", "breaks", "markers", "is_swap")
_NOWHERE: dict[str, Any] = {
    "previous_id": None,
    "segment": None,
    "breaks": [],
    "markers": [],
    "is_swap": False,
}


def derive_segments(keys: Iterable[tuple[int, str]]) -> int:
    """Place the sweeps of these (config key id, scenario); return how many changed.

    Held sweeps and those of unofficial runs have no place. In as many queries for a
    thousand sweeps as for two, but for those that are written.
    """
    wanted = set(keys)
    rows: dict[tuple[int, str], list[dict[str, Any]]] = {}
    for row in _rows(wanted):
        rows.setdefault((row["config_key_id"], row["scenario"]), []).append(row)
    notices = _notices({key_id for key_id, _ in wanted})
    changed = 0
    for (key_id, _), found in rows.items():
        in_history = [row for row in found if row["state"] in IN_HISTORY]
        marks = _staff_marks(notices.get(key_id, []), in_history)
        placed = segments(map(identity, in_history), marks)
        changed += _write(found, placed)
    return changed


def keys_in_scope(scope: Mapping[str, str]) -> set[tuple[int, str]]:
    """Return the (config key id, scenario) that a notice of this scope is about."""
    columns = {
        "config_key": "config_key__key",
        "framework": "config_key__framework",
        "model": "config_key__model",
        "run": "run__github_run_id",
    }
    asked = {columns[name]: value for name, value in scope.items()}
    found = Sweep.objects.filter(state__isnull=False, **asked)
    return set(found.order_by().values_list("config_key_id", "scenario").distinct())


class Replaced(NamedTuple):
    """How many sweeps were placed otherwise, and at which runs breaks came or went."""

    changed: int
    broken: set[int]


def replace_sweeps(keys: Iterable[tuple[int, str]]) -> Replaced:
    """Place the sweeps of these keys anew.

    What a history breaks at can change with a sweep that is not its neighbour: whoever
    judges has to look at those runs again.
    """
    keys = set(keys)
    before = breaks_of(keys)
    changed = derive_segments(keys)
    return Replaced(changed, {run_id for run_id, _ in before ^ breaks_of(keys)})


def breaks_of(keys: Iterable[tuple[int, str]]) -> set[tuple[int, str]]:
    """Return (run id, breaks) of every sweep at which one of these histories breaks."""
    wanted = set(keys)
    broke = Sweep.objects.filter(config_key_id__in={key_id for key_id, _ in wanted})
    rows = broke.exclude(breaks=[]).values_list(
        "config_key_id", "scenario", "run_id", "breaks"
    )
    return {(run, str(breaks)) for key, of, run, breaks in rows if (key, of) in wanted}


def _rows(keys: set[tuple[int, str]]) -> list[dict[str, Any]]:
    """Return what is stored of the sweeps, oldest first."""
    found = Sweep.objects.filter(
        Q(state__isnull=False) | Q(segment__isnull=False),
        config_key_id__in={key_id for key_id, _ in keys},
        scenario__in={scenario for _, scenario in keys},
    )
    # The order of derive_states: an extension stands after what it extends.
    ordered = found.order_by(
        Coalesce("official_at", "measured_at"), "run__github_run_id"
    )
    rows = [
        dict(zip(_FIELDS, row, strict=True)) for row in ordered.values_list(*_FIELDS)
    ]
    return [r for r in rows if (r["config_key_id"], r["scenario"]) in keys]


def _notices(key_ids: set[int]) -> dict[int, list[Notice]]:
    """Return what staff put into the history of each key, by its id."""
    notices = list(
        Notice.objects.filter(
            Q(config_key__isnull=True) | Q(config_key_id__in=key_ids),
            kind__in=[Notice.Kind.MARKER, Notice.Kind.BREAK],
        ).order_by("at", "pk")
    )
    if not notices:
        return {}
    keys = ConfigKey.objects.filter(pk__in=key_ids).only("framework", "model")
    return {
        key.pk: [notice for notice in notices if notice.is_about(key)] for key in keys
    }


def _staff_marks(
    notices: Iterable[Notice], rows: Iterable[Mapping[str, Any]]
) -> list[StaffMark]:
    """Return the marks of a history; one about a run stands at the run's sweep."""
    of_runs = {row["run_id"]: row["official_at"] for row in rows}
    found = []
    for notice in notices:
        at = notice.at if notice.run_id is None else of_runs.get(notice.run_id)
        if at is not None:
            is_break = notice.kind == Notice.Kind.BREAK
            found.append(StaffMark(notice.text, at, is_break))
    return found


def _write(rows: Sequence[dict[str, Any]], placed: Iterable[Placed]) -> int:
    places = {place.sweep_id: place for place in placed}
    changed = 0
    for row in rows:
        place = places.get(row["id"])
        wanted = _columns(place) if place else _NOWHERE
        if any(row[name] != wanted[name] for name in _DERIVED):
            changed += Sweep.objects.filter(pk=row["id"]).update(
                updated_at=Now(), **wanted
            )
    return changed


def _columns(place: Placed) -> dict[str, Any]:
    return {
        "previous_id": place.previous,
        "segment": place.segment,
        "breaks": list(place.breaks),
        "markers": list(place.markers),
        "is_swap": place.is_swap,
    }
