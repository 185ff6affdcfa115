"""The history of keys: each official sweep's segment, breaks and markers, stored."""

from collections.abc import Iterable, Sequence
from typing import Any

from django.db.models import Q
from django.db.models.functions import Coalesce, Now

from dashboard.analysis.segments import Placed, StaffMark, SweepIdentity, segments
from dashboard.models import ConfigKey, Notice, Sweep

IN_HISTORY = (Sweep.State.CURRENT, Sweep.State.FORMER)

_FIELDS = (
    *("id", "config_key_id", "scenario", "state", "official_at"),
    *("checkpoint__name", "precision", "spec_methods", "acceptance_source"),
    *("acceptance_length", "harness", "images", "fingerprints", "pools", "grid"),
    *("extends_id", "previous_id", "segment", "breaks", "markers", "is_swap"),
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
    marks = _staff_marks({key_id for key_id, _ in wanted})
    changed = 0
    for (key_id, _), found in rows.items():
        in_history = [row for row in found if row["state"] in IN_HISTORY]
        placed = segments(map(_identity, in_history), marks.get(key_id, []))
        changed += _write(found, placed)
    return changed


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


def _identity(row: dict[str, Any]) -> SweepIdentity:
    return SweepIdentity(
        sweep_id=row["id"],
        at=row["official_at"],
        checkpoint=row["checkpoint__name"] or "",
        precision=row["precision"],
        spec_methods=frozenset(row["spec_methods"]),
        acceptance_source=row["acceptance_source"],
        acceptance_length=row["acceptance_length"],
        harness=row["harness"],
        images=tuple(row["images"]),
        recipes=frozenset(row["fingerprints"]),
        pools=frozenset(row["pools"]),
        grid={label: frozenset(places) for label, places in row["grid"]},
        extends=row["extends_id"],
    )


def _staff_marks(key_ids: set[int]) -> dict[int, list[StaffMark]]:
    """Return what staff put into the history of each key, by its id."""
    notices = list(
        Notice.objects.filter(kind__in=[Notice.Kind.MARKER, Notice.Kind.BREAK])
    )
    if not notices:
        return {}
    keys = ConfigKey.objects.filter(pk__in=key_ids).only("framework", "model")
    return {
        key.pk: [
            StaffMark(n.text, n.at, n.kind == Notice.Kind.BREAK)
            for n in sorted(notices, key=lambda n: (n.at, n.pk))
            if _is_about(n, key)
        ]
        for key in keys
    }


def _is_about(notice: Notice, key: ConfigKey) -> bool:
    scopes = (
        (notice.config_key_id, key.pk),
        (notice.framework, key.framework),
        (notice.model, key.model),
    )
    return all(not asked or asked == found for asked, found in scopes)


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
