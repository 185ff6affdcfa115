"""What the inference page reads: current sweeps, then the points of those drawn."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

import pandas as pd
from django.contrib.postgres.fields import ArrayField
from django.db.models import Aggregate, BigIntegerField, F, Q, QuerySet, Window
from django.db.models.functions import RowNumber

from dashboard.analysis.curves import Curve, SweepFacts, by_sweep
from dashboard.analysis.derived import with_derived
from dashboard.analysis.frames import HOT_METRICS
from dashboard.models import ConfigKey, Point, Run, Sweep
from dashboard.queries.currency import official_sweeps, sweeps_as_of
from dashboard.vocabulary.metrics import DERIVED, METRICS, inputs
from dashboard.vocabulary.prices import Prices
from dashboard.vocabulary.stored_metrics import STORED_METRICS

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
    "state",
    "state_reason",
    "segment",
    "breaks",
)

# How many former, and how many held, sweeps of a key are named at most.
LONGEST_HISTORY = 6

KIND_FILTERS = {
    "single": Q(deployment__multinode=False),
    "multinode": Q(deployment__multinode=True, deployment__disagg=False),
    "disaggregated": Q(deployment__disagg=True),
}

# Names of the frame's columns, in the order of the fields read.
POINT_FIELDS = {
    "point_id": "id",
    "sweep_id": "sweep_id",
    "deployment": "deployment__label",
    "deployment_id": "deployment_id",
    "tp": "deployment__tp",
    "disagg": "deployment__disagg",
    "concurrency": "concurrency",
    "attempt": "attempt",
    "gpus": "gpus",
    "prefill_gpus": "prefill_gpus",
    "decode_gpus": "decode_gpus",
    "prefill_hardware": "deployment__prefill_hardware",
    "decode_hardware": "deployment__decode_hardware",
    "image": "image",
    "is_out": "is_out",
    "flags": "flags",
    **{name: name for name in HOT_METRICS},
}


# Of several uploads and attempts the newest usable one counts.
COUNTING = Q(is_current=True)

# What a point inherits of its sweep.
PROVENANCE = (
    "sweep_id",
    "config_key",
    "hardware",
    "scenario",
    "run_id",
    "run_url",
    "measured_at",
    "checkpoint",
)


def current_sweeps(moment: datetime | None = None) -> list[SweepFacts]:
    """Return the sweep of each config key and scenario that was current then.

    With its extensions; None is now. At most a few per key, whatever the number of
    runs and points.
    """
    if moment is not None:
        return _facts(sweeps_as_of(moment))
    return _facts(official_sweeps().filter(state=Sweep.State.CURRENT))


def overlaid_sweeps(run_ids: Sequence[int]) -> dict[int, list[SweepFacts]]:
    """Return what each of these runs measured, official or not, by the id asked for.

    A run that publishes another one's measurements has those. Hidden runs, and runs
    that are not stored, have none.
    """
    if not run_ids:
        return {}
    asked = Run.objects.filter(github_run_id__in=run_ids).values_list(
        "github_run_id", "reuse_source_run_id"
    )
    measured_in = {run_id: source or run_id for run_id, source in asked}
    stored = Sweep.objects.filter(run__github_run_id__in=measured_in.values())
    by_run: dict[int, list[SweepFacts]] = {}
    for sweep in _facts(stored.exclude(run__publication=Run.Publication.HIDDEN)):
        by_run.setdefault(sweep.run_id, []).append(sweep)
    return {run_id: by_run.get(source, []) for run_id, source in measured_in.items()}


def history(
    drawn: Sequence[Curve], moment: datetime | None, of_model: Iterable[str] = ()
) -> list[SweepFacts]:
    """Return the newest official sweeps of the keys drawn, held ones among them.

    And those at which their history broke, each with the last one before it; and
    every swap of the keys ``of_model``, whatever the scenario.
    """
    known = official_sweeps()
    if moment is not None:
        known = known.filter(official_at__lte=moment)
    of_drawn = Q(
        config_key__key__in={curve.config_key for curve in drawn},
        scenario__in={curve.sweep.scenario for curve in drawn},
    )
    swaps = Q(is_swap=True, config_key__key__in=set(of_model))
    broke = known.filter(of_drawn).exclude(breaks=[])
    last = broke.values("previous_id")
    place = Window(
        RowNumber(),
        partition_by=[F("config_key_id"), F("scenario"), F("state")],
        order_by=[F("official_at").desc(), F("run__github_run_id").desc()],
    )
    newest = known.filter(of_drawn).alias(place=place)
    newest = newest.filter(place__lte=LONGEST_HISTORY)
    # Of a segment before: what was extended, and what extended it.
    at_breaks = Q(pk__in=broke.values("pk")) | Q(pk__in=last) | Q(extends_id__in=last)
    return _facts(known.filter(Q(pk__in=newest.values("pk")) | at_breaks | swaps))


def official_moment(github_run_id: int) -> datetime | None:
    """Return the date under which a run counts, None where there is no such run."""
    run = Run.objects.filter(github_run_id=github_run_id).first()
    return None if run is None else run.published_at or run.created_at


def places(
    kinds: Iterable[str] = (), offload: str = "", methods: Sequence[str] = ()
) -> Q:
    """Return the condition on points of these deployments; nothing asked is all."""
    chosen = Q()
    for kind in kinds:
        chosen |= KIND_FILTERS[kind]
    if offload:
        without = Q(deployment__kv_offloading="none")
        chosen &= without if offload == "without" else ~without
    if methods:
        chosen &= Q(deployment__spec_method__in=methods)
    return chosen


class _Measured(Aggregate):
    """How many points have each of the stored metrics, in their order."""

    template = "ARRAY[{}]".format(
        ", ".join(
            f"COUNT(%(expressions)s[{n + 1}])" for n in range(len(STORED_METRICS))
        )
    )
    output_field = ArrayField(BigIntegerField())


def measured_metrics(drawn: Sequence[Curve]) -> set[str]:
    """Return the metrics that some point of the curves has, or that are made of them.

    Whether there is a price of a GPU takes no part in it.
    """
    if not drawn:
        # The database would not be asked, and nothing would be counted.
        return set()
    stored = Point.objects.filter(sweep_id__in=by_sweep(drawn), is_current=True)
    counts = stored.aggregate(told=_Measured("metrics"))["told"]
    found = {name for name, n in zip(STORED_METRICS, counts, strict=True) if n}
    made = {name for name in DERIVED if found.issuperset(inputs([name]))}
    return (found & METRICS.keys()) | made


def known_keys(keys: Iterable[str]) -> set[str]:
    """Return those of ``keys`` that are config keys, measured or not."""
    # Postgres refuses NUL in text; no key holds one.
    askable = [key for key in keys if "\0" not in key]
    known = ConfigKey.objects.filter(key__in=askable)
    return set(known.values_list("key", flat=True))


def points(
    drawn: Sequence[Curve],
    metrics: Iterable[str],
    where: Q | None = None,
    counting: Q = COUNTING,
    prices: Prices | None = None,
) -> pd.DataFrame:
    """Return the points of the curves that count, one row each, as ``where`` narrows.

    Columns are ``frames.POINT_COLUMNS``, ``frames.HOT_METRICS``, output over all GPUs
    and ``metrics``, which need ``prices`` where they are priced; a value that was not
    measured is NaN.
    """
    sweeps = by_sweep(drawn)
    wanted = list(dict.fromkeys(["output_tput_per_cluster_gpu", *metrics]))
    stored = [name for name in inputs(wanted) if name not in POINT_FIELDS]
    chosen = Point.objects.filter(where or Q(), counting, sweep_id__in=sweeps)
    rows = (
        chosen.annotate(
            **{f"metric_{n}": F(f"metrics__{name}") for n, name in enumerate(stored)}
        )
        .order_by("sweep_id", "id")
        .values_list(
            *POINT_FIELDS.values(), *(f"metric_{n}" for n in range(len(stored)))
        )
    )
    frame = pd.DataFrame.from_records(list(rows), columns=[*POINT_FIELDS, *stored])
    floats = [*HOT_METRICS, *stored]
    frame[floats] = frame[floats].astype("float64")
    return with_derived(_with_sweep(frame, sweeps.values()), wanted, prices)


def runs_stored() -> bool:
    """Tell whether any run was ingested at all."""
    return Run.objects.exists()


def _facts(sweeps: QuerySet[Sweep]) -> list[SweepFacts]:
    return [sweep_facts(row) for row in sweeps.values_list(*SWEEP_FIELDS)]


def sweep_facts(row: tuple[Any, ...]) -> SweepFacts:
    """Return what is known of one sweep, read as ``SWEEP_FIELDS``."""
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
        # An unofficial sweep has no such date; it stands at its own.
        official_at=values["official_at"] or values["measured_at"],
        received=values["received_count"],
        planned=values["planned_count"],
        extends=values["extends_id"],
        spec_methods=tuple(values["spec_methods"]),
        acceptance_source=values["acceptance_source"],
        acceptance_length=values["acceptance_length"],
        is_held=values["state"] == Sweep.State.HELD,
        state_reason=values["state_reason"],
        segment=values["segment"],
        breaks=tuple(values["breaks"]),
    )


def _with_sweep(frame: pd.DataFrame, sweeps: Iterable[SweepFacts]) -> pd.DataFrame:
    rows = [tuple(getattr(sweep, name) for name in PROVENANCE) for sweep in sweeps]
    provenance = pd.DataFrame.from_records(rows, columns=list(PROVENANCE))
    return frame.merge(provenance, on="sweep_id", how="left", validate="many_to_one")
