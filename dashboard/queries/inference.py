"""What the inference page reads: current sweeps, then the points of those drawn."""

from collections.abc import Iterable, Sequence
from typing import Any

import pandas as pd
from django.db.models import FloatField, QuerySet
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Cast

from dashboard.analysis.curves import Curve, SweepFacts, by_sweep
from dashboard.analysis.frames import HOT_METRICS
from dashboard.analysis.rates import with_cluster_output
from dashboard.models import ConfigKey, Point, Run, Sweep
from dashboard.vocabulary.metrics import DERIVED

SWEEP_FIELDS = (
    "id",
    "config_key__key",
    "config_key__model",
    "precision",
    "config_key__hardware",
    "config_key__framework",
    "scenario",
    "checkpoint__name",
    "image",
    "run__github_run_id",
    "run__url",
    "measured_at",
    "official_at",
    "received_count",
    "planned_count",
    "extends_id",
    "spec_methods",
    "acceptance_source",
    "acceptance_length",
)

# Names of the frame's columns, in the order of the fields read.
POINT_FIELDS = {
    "point_id": "id",
    "sweep_id": "sweep_id",
    "deployment": "deployment__label",
    "disagg": "deployment__disagg",
    "concurrency": "concurrency",
    "attempt": "attempt",
    "gpus": "gpus",
    "prefill_gpus": "prefill_gpus",
    "decode_gpus": "decode_gpus",
    "image": "image",
    "is_out": "is_out",
    "flags": "flags",
    **{name: name for name in HOT_METRICS},
}


# What a point inherits of its sweep.
PROVENANCE = (
    "sweep_id",
    "config_key",
    "scenario",
    "run_id",
    "run_url",
    "measured_at",
    "checkpoint",
)


def current_sweeps() -> list[SweepFacts]:
    """Return the current sweep of every config key and scenario, and its extensions.

    At most a few per key, whatever the number of runs and points.
    """
    return _facts(Sweep.objects.filter(state=Sweep.State.CURRENT))


def held_sweeps(drawn: Sequence[Curve]) -> list[SweepFacts]:
    """Return the held sweeps that are newer than the curve drawn for their key."""
    newest = {curve.config_key: curve.sweeps[-1].official_at for curve in drawn}
    held = Sweep.objects.filter(
        state=Sweep.State.HELD,
        config_key__key__in=newest,
        scenario__in={curve.sweep.scenario for curve in drawn},
    )
    return [
        sweep for sweep in _facts(held) if sweep.official_at > newest[sweep.config_key]
    ]


def known_keys(keys: Iterable[str]) -> set[str]:
    """Return those of ``keys`` that are config keys, measured or not."""
    # Postgres refuses NUL in text; no key holds one.
    askable = [key for key in keys if "\0" not in key]
    known = ConfigKey.objects.filter(key__in=askable)
    return set(known.values_list("key", flat=True))


def points(drawn: Sequence[Curve], metrics: Iterable[str]) -> pd.DataFrame:
    """Return the current points of the curves, one row each.

    Columns are ``frames.POINT_COLUMNS``, ``frames.HOT_METRICS``, the derived metrics
    and ``metrics``; a value that was not measured is NaN.
    """
    sweeps = by_sweep(drawn)
    stored = [
        name for name in metrics if name not in POINT_FIELDS and name not in DERIVED
    ]
    chosen = Point.objects.filter(sweep_id__in=sweeps, is_current=True)
    rows = (
        chosen.annotate(
            **{f"metric_{n}": _metric(name) for n, name in enumerate(stored)}
        )
        .order_by("sweep_id", "id")
        .values_list(
            *POINT_FIELDS.values(), *(f"metric_{n}" for n in range(len(stored)))
        )
    )
    frame = pd.DataFrame.from_records(list(rows), columns=[*POINT_FIELDS, *stored])
    floats = [*HOT_METRICS, *stored]
    frame[floats] = frame[floats].astype("float64")
    return with_cluster_output(_with_sweep(frame, sweeps.values()))


def runs_stored() -> bool:
    """Tell whether any run was ingested at all."""
    return Run.objects.exists()


def _metric(name: str) -> Cast:
    return Cast(KeyTextTransform(name, "metrics"), FloatField())


def _facts(sweeps: QuerySet[Sweep]) -> list[SweepFacts]:
    official = sweeps.filter(run__publication=Run.Publication.OFFICIAL)
    return [_sweep_facts(row) for row in official.values_list(*SWEEP_FIELDS)]


def _sweep_facts(row: tuple[Any, ...]) -> SweepFacts:
    values = dict(zip(SWEEP_FIELDS, row, strict=True))
    return SweepFacts(
        sweep_id=values["id"],
        config_key=values["config_key__key"],
        model=values["config_key__model"],
        precision=values["precision"],
        hardware=values["config_key__hardware"],
        framework=values["config_key__framework"],
        scenario=values["scenario"],
        checkpoint=values["checkpoint__name"] or "",
        image=values["image"],
        run_id=values["run__github_run_id"],
        run_url=values["run__url"],
        measured_at=values["measured_at"],
        official_at=values["official_at"],
        received=values["received_count"],
        planned=values["planned_count"],
        extends=values["extends_id"],
        spec_methods=tuple(values["spec_methods"]),
        acceptance_source=values["acceptance_source"],
        acceptance_length=values["acceptance_length"],
    )


def _with_sweep(frame: pd.DataFrame, sweeps: Iterable[SweepFacts]) -> pd.DataFrame:
    rows = [tuple(getattr(sweep, name) for name in PROVENANCE) for sweep in sweeps]
    provenance = pd.DataFrame.from_records(rows, columns=list(PROVENANCE))
    return frame.merge(provenance, on="sweep_id", how="left", validate="many_to_one")
