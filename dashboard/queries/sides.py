"""Sweeps and their points as sides of a comparison."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

import pandas as pd
from django.db.models import FloatField, Q, QuerySet
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Cast

from dashboard.analysis.comparison import LISTED
from dashboard.analysis.frames import HOT_METRICS
from dashboard.analysis.segments import SweepIdentity
from dashboard.analysis.sides import Side
from dashboard.models import Deployment, Point, Sweep
from dashboard.vocabulary.metrics import default_axes

IDENTITY_FIELDS = (
    *("id", "official_at", "measured_at", "checkpoint__name", "precision"),
    *("spec_methods", "acceptance_source", "acceptance_length", "harness"),
    *("images", "fingerprints", "pools", "grid", "extends_id"),
)
_SIDE_FIELDS = (
    *IDENTITY_FIELDS,
    *("config_key__key", "scenario", "run__github_run_id", "run__url"),
    *("run__pr_number", "run__publication", "received_count", "planned_count"),
    "run__sha",
)

# Every metric that a comparison looks at, whatever the scenario's axes.
COMPARED = tuple(
    dict.fromkeys((*default_axes(agentic=False), *default_axes(agentic=True), *LISTED))
)
_POINT_FIELDS = ("sweep_id", "deployment_id", "concurrency", "is_out")


def identity(row: Mapping[str, Any]) -> SweepIdentity:
    """Read what a sweep served and measured from a row of ``IDENTITY_FIELDS``."""
    return SweepIdentity(
        sweep_id=row["id"],
        at=row["official_at"] or row["measured_at"],
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


def sides(sweeps: QuerySet[Sweep], attempt: int | None = None) -> list[Side]:
    """Return the sweeps as sides, by key and scenario; with an attempt, that one's."""
    ordered = sweeps.order_by("config_key__key", "scenario", "pk")
    return [_side(row, attempt) for row in ordered.values(*_SIDE_FIELDS)]


def _side(row: Mapping[str, Any], attempt: int | None) -> Side:
    return Side(
        sweep_id=row["id"],
        config_key=row["config_key__key"],
        scenario=row["scenario"],
        run_id=row["run__github_run_id"],
        run_url=row["run__url"],
        pr_number=row["run__pr_number"],
        attempt=attempt,
        publication=row["run__publication"],
        at=row["official_at"] or row["measured_at"],
        measured_at=row["measured_at"],
        received=row["received_count"],
        planned=row["planned_count"],
        identity=identity(row),
        sha=row["run__sha"],
    )


def points_of(compared: Iterable[Side]) -> dict[tuple[int, int | None], pd.DataFrame]:
    """Return the points of each side by (sweep id, attempt), in one query.

    Columns ``deployment`` (its id), ``concurrency``, ``is_out`` and the metrics of
    ``COMPARED``, NaN where missing. Points of folded sweeps stand with the side.
    Without an attempt those that count; of an attempt all that nobody excluded.
    """
    compared = list(compared)
    asked: dict[int | None, set[int]] = {}
    for side in compared:
        ids = asked.setdefault(side.attempt, set())
        ids |= {side.sweep_id, *side.folded}
    chosen = Q(pk__in=[])
    for attempt, ids in asked.items():
        counting = (
            Q(is_current=True)
            if attempt is None
            else Q(attempt=attempt, is_excluded=False)
        )
        chosen |= counting & Q(sweep_id__in=ids)
    frame = _frame(Point.objects.filter(chosen))
    return {(side.sweep_id, side.attempt): _of_side(frame, side) for side in compared}


def _of_side(frame: pd.DataFrame, side: Side) -> pd.DataFrame:
    is_of = frame["sweep_id"].isin([side.sweep_id, *side.folded])
    if side.attempt is None:
        is_of &= frame["is_current"]
    else:
        is_of &= frame["attempt"] == side.attempt
    return frame[is_of]


def _frame(points: QuerySet[Point]) -> pd.DataFrame:
    stored = [name for name in COMPARED if name not in HOT_METRICS]
    hot = [name for name in COMPARED if name in HOT_METRICS]
    rows = points.annotate(
        **{f"metric_{n}": _metric(name) for n, name in enumerate(stored)}
    ).order_by("pk")
    frame = pd.DataFrame.from_records(
        list(
            rows.values_list(
                *(*_POINT_FIELDS, "attempt", "is_current", *hot),
                *(f"metric_{n}" for n in range(len(stored))),
            )
        ),
        columns=[*_POINT_FIELDS, "attempt", "is_current", *hot, *stored],
    ).rename(columns={"deployment_id": "deployment"})
    frame[[*hot, *stored]] = frame[[*hot, *stored]].astype("float64")
    for name in ("is_out", "is_current"):
        frame[name] = frame[name].astype(bool)
    return frame


def _metric(name: str) -> Cast:
    return Cast(KeyTextTransform(name, "metrics"), FloatField())


def labels_of(frames: Iterable[pd.DataFrame]) -> dict[int, str]:
    """Return how the deployments of these points are written, by id."""
    ids = {int(pk) for frame in frames for pk in frame["deployment"].unique()}
    return dict(Deployment.objects.filter(pk__in=ids).values_list("pk", "label"))


def folded_before(
    bases: Sequence[tuple[Side, datetime]],
) -> dict[int, tuple[int, ...]]:
    """Return, by its sweep id, what belongs to each base and was official by a time.

    What extends it, and repeats on its commit: replicates are folded, not history.
    """
    if not bases:
        return {}
    belonging = Q(extends_id__in=[base.sweep_id for base, _ in bases])
    for base, _ in bases:
        if base.sha:
            belonging |= Q(
                config_key__key=base.config_key,
                scenario=base.scenario,
                run__sha=base.sha,
            )
    rows = Sweep.objects.filter(belonging, segment__isnull=False).values_list(
        *("pk", "config_key__key", "scenario", "run__sha", "extends_id"), "official_at"
    )
    found: dict[int, list[int]] = {base.sweep_id: [] for base, _ in bases}
    for pk, key, scenario, sha, extends, at in rows.order_by("official_at", "pk"):
        for base, until in bases:
            is_repeat = sha == base.sha and bool(sha)
            is_same = (key, scenario) == (base.config_key, base.scenario) and is_repeat
            if (extends == base.sweep_id or is_same) and at < until:
                found[base.sweep_id].append(pk)
    return {
        base.sweep_id: tuple(pk for pk in found[base.sweep_id] if pk != base.sweep_id)
        for base, _ in bases
    }
