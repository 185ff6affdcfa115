"""Sweeps and their points as sides of a comparison."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from django.db.models import F, Q, QuerySet

from dashboard.analysis.comparison import LISTED
from dashboard.analysis.frames import HOT_METRICS
from dashboard.analysis.segments import UNTOLD_ACCEPTANCE, SweepIdentity, told
from dashboard.analysis.sides import Side
from dashboard.models import Deployment, Point, Sweep
from dashboard.vocabulary.checkpoints import is_published
from dashboard.vocabulary.metrics import default_axes
from dashboard.vocabulary.scenarios import AGENTIC

IDENTITY_FIELDS = (
    *("id", "official_at", "measured_at", "checkpoint__name", "precision"),
    *("spec_methods", "acceptance_source", "acceptance_length", "harness"),
    *("images", "fingerprints", "pools", "grid", "extends_id"),
)
_SIDE_FIELDS = (
    *IDENTITY_FIELDS,
    *("config_key__key", "scenario", "run__github_run_id", "run__url"),
    *("run__pr_number", "run__publication", "received_count", "planned_count"),
    *("run__repository_id", "run__sha", "segment", "planned"),
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
        plan=_plan(row["planned"]),
        repository_id=row["run__repository_id"],
        sha=row["run__sha"],
        segment=row["segment"],
    )


def _plan(planned: Iterable[Sequence[Any]] | None) -> frozenset[tuple[str, int]] | None:
    if planned is None:
        return None
    return frozenset((label, concurrency) for label, concurrency in planned)


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

    Without an attempt those that count; of an attempt all. What a person excluded is
    among them and out: it was measured, and is neither compared nor lost.
    """
    asked: dict[int | None, set[int]] = {}
    for side in compared:
        ids = asked.setdefault(side.attempt, set())
        ids |= {side.sweep_id, *side.folded}
    chosen = Q(pk__in=[])
    for attempt, ids in asked.items():
        counting = (
            Q(is_current=True) | Q(is_excluded=True)
            if attempt is None
            else Q(attempt=attempt)
        )
        chosen |= counting & Q(sweep_id__in=ids)
    return _frame(Point.objects.filter(chosen))


def points_of_side(frame: pd.DataFrame, side: Side) -> pd.DataFrame:
    """Return a side's rows of ``all_points``; those of folded sweeps stand with it.

    Columns ``deployment`` (its id), ``concurrency``, ``is_out`` and the metrics of
    ``COMPARED``, NaN where missing.
    """
    # Arrays: a run of 200 keys takes its frame apart 400 times.
    is_of = np.isin(frame["sweep_id"].to_numpy(), [side.sweep_id, *side.folded])
    if side.attempt is None:
        is_of &= frame["is_counted"].to_numpy(dtype=np.bool_)
    else:
        is_of &= frame["attempt"].to_numpy() == side.attempt
    return frame[is_of]


def _frame(points: QuerySet[Point]) -> pd.DataFrame:
    stored = [name for name in COMPARED if name not in HOT_METRICS]
    hot = [name for name in COMPARED if name in HOT_METRICS]
    rows = points.annotate(
        **{f"metric_{n}": F(f"metrics__{name}") for n, name in enumerate(stored)}
    ).order_by("pk")
    frame = pd.DataFrame.from_records(
        list(
            rows.values_list(
                *(*_POINT_FIELDS, "attempt", "is_current", "is_excluded", *hot),
                *(f"metric_{n}" for n in range(len(stored))),
            )
        ),
        columns=[
            *(*_POINT_FIELDS, "attempt", "is_current", "is_excluded"),
            *(*hot, *stored),
        ],
    ).rename(columns={"deployment_id": "deployment"})
    frame[[*hot, *stored]] = frame[[*hot, *stored]].astype("float64")
    for name in ("is_out", "is_current", "is_excluded"):
        frame[name] = frame[name].astype(bool)
    frame["is_out"] |= frame["is_excluded"]
    return frame.assign(is_counted=frame["is_current"] | frame["is_excluded"])


def labels_of(points: pd.DataFrame) -> dict[int, str]:
    """Return how the deployments of these points are written, by id."""
    ids = {int(pk) for pk in points["deployment"].unique()}
    return dict(Deployment.objects.filter(pk__in=ids).values_list("pk", "label"))


class Folded(NamedTuple):
    """Sweeps whose points stand with a base's, and how many of them are repeats."""

    sweep_ids: tuple[int, ...] = ()
    repeats: int = 0


def folded_before(
    bases: Sequence[tuple[Side, datetime]], *, repeats: bool = True
) -> list[Folded]:
    """Return what belongs to each base and was official by a time.

    What extends it, and repeats on its commit within its segment: replicates are
    folded, not history. Without ``repeats`` only what extends it, as a base that
    somebody named is to be that run and no other.
    """
    if not bases:
        return []
    belonging = Q(extends_id__in={base.sweep_id for base, _ in bases})
    for key, scenario, sha in {
        (base.config_key, base.scenario, base.sha)
        for base, _ in bases
        if repeats and base.sha
    }:
        belonging |= Q(config_key__key=key, scenario=scenario, run__sha=sha)
    found = Sweep.objects.filter(belonging, segment__isnull=False)
    rows = [_Belonging(*row) for row in found.values_list(*_BELONGING_FIELDS)]
    rows.sort(key=lambda row: (row.at, row.pk))
    return [
        _folded([row for row in rows if row.at < until], base, repeats=repeats)
        for base, until in bases
    ]


def _folded(rows: Iterable["_Belonging"], base: Side, *, repeats: bool) -> Folded:
    rows = [row for row in rows if row.pk != base.sweep_id]
    extending = {row.pk for row in rows if row.extends == base.sweep_id}
    same = {row.pk for row in rows if repeats and row.repeats(base)} - extending
    ids = tuple(row.pk for row in rows if row.pk in extending | same)
    return Folded(ids, len(same))


class _Belonging(NamedTuple):
    """An official sweep that may be a part of another one."""

    pk: int
    config_key: str
    scenario: str
    repository_id: int
    sha: str
    segment: int
    extends: int | None
    at: datetime

    def repeats(self, base: Side) -> bool:
        """Tell whether it measured the same on the same commit, without a break."""
        return bool(base.sha) and (
            self.config_key,
            self.scenario,
            self.repository_id,
            self.sha,
            self.segment,
        ) == (
            base.config_key,
            base.scenario,
            base.repository_id,
            base.sha,
            base.segment,
        )


_BELONGING_FIELDS = (
    *("pk", "config_key__key", "scenario", "run__repository_id", "run__sha"),
    *("segment", "extends_id", "official_at"),
)


def told_identities(bases: Iterable[Side]) -> dict[int, SweepIdentity]:
    """Return what is known of each base with what its segment told before, by sweep id.

    A sweep between two others need not name its checkpoint: what comes after it is
    held against what is known. In one query, and none where every base tells all.
    """
    vague = {side.sweep_id: side for side in bases if not _tells_all(side)}
    wanted = Q(pk__in=[])
    for side in vague.values():
        if side.segment is not None:
            wanted |= Q(
                config_key__key=side.config_key,
                scenario=side.scenario,
                segment=side.segment,
                official_at__lte=side.at,
            )
    if not vague:
        return {}
    before: dict[tuple[str, str, int | None], list[Side]] = {}
    for side in sides(Sweep.objects.filter(wanted, extends__isnull=True)):
        place = (side.config_key, side.scenario, side.segment)
        before.setdefault(place, []).append(side)
    return {
        pk: _told_by(before.get((s.config_key, s.scenario, s.segment), []), s)
        for pk, s in vague.items()
    }


def _told_by(segment: Iterable[Side], side: Side) -> SweepIdentity:
    known: SweepIdentity | None = None
    for sweep in sorted(segment, key=lambda s: (s.at, s.run_id)):
        if sweep.sweep_id == side.sweep_id:
            break
        known = sweep.identity if known is None else told(known, sweep.identity)
    return side.identity if known is None else told(known, side.identity)


def _tells_all(side: Side) -> bool:
    identity = side.identity
    return bool(
        is_published(identity.checkpoint)
        and identity.precision
        and identity.spec_methods
        and (
            identity.acceptance_source not in UNTOLD_ACCEPTANCE
            or identity.spec_methods == {"none"}
        )
        and (identity.harness or side.scenario != AGENTIC)
    )
