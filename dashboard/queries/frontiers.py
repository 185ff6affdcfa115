"""The points behind one frontier: of today, of a date, or of one run."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

import pandas as pd
from django.db.models.query import QuerySet

from dashboard.analysis.derived import with_derived
from dashboard.analysis.eval_places import EvalPlace, points_of_evals
from dashboard.analysis.frames import HOT_METRICS
from dashboard.models import ConfigKey, EvalResult, Point, Run, Sweep
from dashboard.queries.currency import sweeps_as_of
from dashboard.vocabulary.metrics import inputs
from dashboard.vocabulary.prices import Prices
from dashboard.vocabulary.scenarios import scenario_order


@dataclass(frozen=True, slots=True)
class StoredCurve:
    """A sweep and the append-only sweeps that continue it, oldest first."""

    sweep: Sweep
    extensions: tuple[Sweep, ...] = ()

    @property
    def sweeps(self) -> tuple[Sweep, ...]:
        """Return the sweep and its extensions."""
        return (self.sweep, *self.extensions)


def scenarios_of(key: ConfigKey) -> list[str]:
    """Return the scenarios that any run measured for a key."""
    found = key.sweeps.values_list("scenario", flat=True).distinct()
    return sorted(found, key=scenario_order)


def current_curve(key: ConfigKey, scenario: str) -> StoredCurve | None:
    """Return the current official sweep with its extensions."""
    current = _sweeps(key, scenario).filter(state=Sweep.State.CURRENT)
    return _newest_curve(current)


def curve_as_of(key: ConfigKey, scenario: str, moment: datetime) -> StoredCurve | None:
    """Return what was current at a moment, that moment included; held ones never."""
    return _newest_curve(_of(sweeps_as_of(moment), key, scenario))


def curve_of_run(
    key: ConfigKey, scenario: str, github_run_id: int
) -> StoredCurve | None:
    """Return the sweep of one run, official or not, without what extends it.

    A run that a person hid has none.
    """
    shown = _sweeps(key, scenario).exclude(run__publication=Run.Publication.HIDDEN)
    found = shown.filter(run__github_run_id=github_run_id).first()
    return None if found is None else StoredCurve(found)


def _sweeps(key: ConfigKey, scenario: str) -> QuerySet[Sweep]:
    return _of(Sweep.objects.all(), key, scenario)


def _of(sweeps: QuerySet[Sweep], key: ConfigKey, scenario: str) -> QuerySet[Sweep]:
    return (
        sweeps.filter(config_key=key, scenario=scenario)
        .defer("planned")
        .select_related("run", "checkpoint", "config_key")
        .order_by("official_at", "run__github_run_id")
    )


def _newest_curve(sweeps: Iterable[Sweep]) -> StoredCurve | None:
    found = list(sweeps)
    bases = [sweep for sweep in found if sweep.extends_id is None]
    if not bases:
        return None
    base = bases[-1]
    return StoredCurve(base, tuple(s for s in found if s.extends_id == base.pk))


def curve_points(curve: StoredCurve) -> list[Point]:
    """Return the points that count, and those that a person excluded."""
    stored = Point.objects.filter(sweep__in=curve.sweeps)
    shown = stored.filter(is_current=True) | stored.filter(is_excluded=True)
    found = list(
        shown.select_related("deployment").order_by(
            "deployment__label", "concurrency", "pk"
        )
    )
    # Joined, a sweep with its whole plan would come once per point.
    sweeps = {sweep.pk: sweep for sweep in curve.sweeps}
    for point in found:
        point.sweep = sweeps[point.sweep_id]
    return found


def point_values(
    points: Sequence[Point], names: Iterable[str], prices: Prices | None = None
) -> pd.DataFrame:
    """Return one row per point: ``is_out`` and each named metric, NaN where missing.

    A point that a person excluded is out. Priced metrics need ``prices``.
    """
    wanted = list(dict.fromkeys(names))
    stored = inputs(wanted)
    columns = {name: [stored_value(p, name) for p in points] for name in stored}
    frame = pd.DataFrame(columns, dtype="float64").assign(
        hardware=[p.sweep.config_key.hardware for p in points],
        prefill_hardware=[p.deployment.prefill_hardware for p in points],
        decode_hardware=[p.deployment.decode_hardware for p in points],
        disagg=[p.deployment.disagg for p in points],
        scenario=[p.sweep.scenario for p in points],
        gpus=pd.Series([p.gpus for p in points], dtype="float64"),
        prefill_gpus=pd.Series([p.prefill_gpus for p in points], dtype="float64"),
        decode_gpus=pd.Series([p.decode_gpus for p in points], dtype="float64"),
        is_out=[p.is_out or p.is_excluded for p in points],
    )
    return with_derived(frame, wanted, prices)


def stored_value(point: Point, name: str) -> float | None:
    """Return a metric of a point, None where it was not measured."""
    if name in HOT_METRICS:
        value: float | None = getattr(point, name)
        return value
    found = point.metrics.get(name)
    return None if found is None else float(found)


def point_place(point: Point) -> EvalPlace:
    """Return where a point of a curve was measured."""
    deployment = point.deployment
    return EvalPlace(
        point.sweep.run_id,
        deployment.pk,
        deployment.label,
        deployment.tp,
        point.concurrency,
    )


def curve_evals(
    curve: StoredCurve, points: Iterable[Point]
) -> dict[EvalPlace, list[EvalResult]]:
    """Return the scores of the curve by the place of the point they belong to."""
    found = EvalResult.objects.filter(
        run__in=[sweep.run_id for sweep in curve.sweeps],
        config_key=curve.sweep.config_key_id,
        scenario=curve.sweep.scenario,
        is_current=True,
    )
    placed = [
        (EvalPlace(r.run_id, d.pk, d.label, d.tp, r.concurrency), r)
        for r in found.select_related("deployment").order_by("task", "pk")
        for d in (r.deployment,)
    ]
    belongs = points_of_evals(map(point_place, points), (place for place, _ in placed))
    grouped: dict[EvalPlace, list[EvalResult]] = {}
    for place, result in placed:
        if place in belongs:
            grouped.setdefault(belongs[place], []).append(result)
    return grouped
