"""Sweeps and their points as sides of a comparison."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

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


def sides_of_runs(asked: Sequence[tuple[int, int | None]]) -> list[list[Side]]:
    """Return what each run, by its primary key, or an attempt of it, measured.

    In one query. What only extends a sweep is left out: it has nothing to be held
    against. Of an attempt all sweeps of the run are given.
    """
    measured = Sweep.objects.filter(
        run__in={pk for pk, _ in asked}, extends__isnull=True
    ).order_by("config_key__key", "scenario", "pk")
    rows = list(measured.values("run_id", *_SIDE_FIELDS))
    return [
        [
            _side(row, attempt)
            for row in rows
            if row["run_id"] == pk and (attempt is not None or row["received_count"])
        ]
        for pk, attempt in asked
    ]


def points_of(compared: Iterable[Side]) -> dict[tuple[int, int | None], pd.DataFrame]:
    """Return the points of each side by (sweep id, attempt), in one query.

    As :func:`points_of_side` gives them.
    """
    compared = list(compared)
    frame = all_points(compared)
    return {
        (side.sweep_id, side.attempt): points_of_side(frame, side) for side in compared
    }


def all_points(compared: Iterable[Side]) -> pd.DataFrame:
    """Return the points of some sides in one frame, to be taken apart again.

    Without an attempt those that count; of an attempt all that nobody excluded.
    """
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
    return _frame(Point.objects.filter(chosen))


def points_of_side(frame: pd.DataFrame, side: Side) -> pd.DataFrame:
    """Return a side's rows of ``all_points``; those of folded sweeps stand with it.

    Columns ``deployment`` (its id), ``concurrency``, ``is_out`` and the metrics of
    ``COMPARED``, NaN where missing.
    """
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


def labels_of(points: pd.DataFrame) -> dict[int, str]:
    """Return how the deployments of these points are written, by id."""
    ids = {int(pk) for pk in points["deployment"].unique()}
    return dict(Deployment.objects.filter(pk__in=ids).values_list("pk", "label"))


def folded_before(bases: Sequence[tuple[Side, datetime]]) -> list[tuple[int, ...]]:
    """Return what belongs to each base and was official by a time, as sweep ids.

    What extends it, and repeats on its commit: replicates are folded, not history.
    """
    if not bases:
        return []
    belonging = Q(extends_id__in={base.sweep_id for base, _ in bases})
    for key, scenario, sha in {
        (base.config_key, base.scenario, base.sha) for base, _ in bases if base.sha
    }:
        belonging |= Q(config_key__key=key, scenario=scenario, run__sha=sha)
    found = Sweep.objects.filter(belonging, segment__isnull=False)
    rows = [_Belonging(*row) for row in found.values_list(*_BELONGING_FIELDS)]
    rows.sort(key=lambda row: (row.at, row.pk))
    return [
        tuple(row.pk for row in rows if row.at < until and row.belongs_to(base))
        for base, until in bases
    ]


class _Belonging(NamedTuple):
    """An official sweep that may be a part of another one."""

    pk: int
    config_key: str
    scenario: str
    sha: str
    extends: int | None
    at: datetime

    def belongs_to(self, base: Side) -> bool:
        if self.pk == base.sweep_id:
            return False
        is_same = (self.config_key, self.scenario) == (base.config_key, base.scenario)
        is_repeat = is_same and bool(base.sha) and self.sha == base.sha
        return is_repeat or self.extends == base.sweep_id


_BELONGING_FIELDS = (
    *("pk", "config_key__key", "scenario", "run__sha", "extends_id"),
    "official_at",
)
