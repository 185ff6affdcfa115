"""What the page of a key reads of its sweeps: each table once, however many sweeps."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import pandas as pd
from django.db.models import F

from dashboard.analysis.derived import with_derived
from dashboard.analysis.eval_changes import is_unstable, spread
from dashboard.analysis.evals import Outcome, outcome, wilson
from dashboard.analysis.frames import HOT_METRICS
from dashboard.analysis.history import HistorySweep, Pull
from dashboard.analysis.history import Value as Reached
from dashboard.models import ConfigKey, EvalResult, Point, Run, Sweep
from dashboard.queries.eval_standing import repeats_of
from dashboard.queries.floors import day_of, floor_table
from dashboard.queries.inference import SWEEP_FIELDS, sweep_facts
from dashboard.queries.prices import prices_at
from dashboard.vocabulary.floors import FloorTable
from dashboard.vocabulary.links import pull_link
from dashboard.vocabulary.metrics import PRICED, inputs

_HISTORY_FIELDS = (
    *SWEEP_FIELDS,
    "state",
    "markers",
    "is_swap",
    "grid",
    "run__pr_number",
)
# What derived metrics are made of, and what a point is.
_POINT_FIELDS = {
    "sweep_id": "sweep_id",
    "deployment": "deployment__label",
    "concurrency": "concurrency",
    "is_out": "is_out",
    "disagg": "deployment__disagg",
    "gpus": "gpus",
    "prefill_gpus": "prefill_gpus",
    "decode_gpus": "decode_gpus",
    "prefill_hardware": "deployment__prefill_hardware",
    "decode_hardware": "deployment__decode_hardware",
}


def stored_key(text: str) -> ConfigKey | None:
    """Return a config key by its name, None where there is none."""
    # Postgres refuses NUL in text; no key holds one.
    if "\0" in text:
        return None
    found = ConfigKey.objects.filter(key=text)
    return found.select_related("definition__checkpoint").first()


def official_history(key: ConfigKey) -> list[HistorySweep]:
    """Return every official sweep of a key, of all scenarios, held ones too."""
    found = Sweep.objects.filter(
        config_key=key,
        state__isnull=False,
        run__publication=Run.Publication.OFFICIAL,
    )
    return [_history_sweep(row) for row in found.values_list(*_HISTORY_FIELDS)]


def _history_sweep(row: tuple[Any, ...]) -> HistorySweep:
    own = dict(zip(_HISTORY_FIELDS, row, strict=True))
    facts = sweep_facts(row[: len(SWEEP_FIELDS)])
    number = own["run__pr_number"]
    return HistorySweep(
        facts=facts,
        state=own["state"],
        markers=tuple(own["markers"]),
        is_swap=own["is_swap"],
        grid={label: frozenset(places) for label, places in own["grid"]},
        pull=Pull(number, pull_link(facts.run_url, number)) if number else None,
    )


def history_points(
    key: ConfigKey, scenario: str, metrics: Iterable[str]
) -> pd.DataFrame:
    """Return the points of all official sweeps of a key and scenario, in one query.

    Columns sweep_id, deployment (its label), concurrency, ``is_out`` and the metrics,
    NaN where one was not measured. Nothing else: a history is long. What is priced is
    made with the prices of today on all days, so that a step in it was measured.
    """
    names = list(dict.fromkeys(metrics))
    stored = inputs(names)
    values = {
        f"metric_{place}": name if name in HOT_METRICS else F(f"metrics__{name}")
        for place, name in enumerate(stored)
    }
    columns = [
        name if name in HOT_METRICS else f"metric_{place}"
        for place, name in enumerate(stored)
    ]
    found = Point.objects.filter(
        is_current=True,
        sweep__config_key=key,
        sweep__scenario=scenario,
        sweep__state__isnull=False,
    ).annotate(**{n: v for n, v in values.items() if not isinstance(v, str)})
    rows = found.order_by("sweep_id", "id").values_list(
        *_POINT_FIELDS.values(), *columns
    )
    frame = pd.DataFrame.from_records(list(rows), columns=[*_POINT_FIELDS, *stored])
    frame[stored] = frame[stored].astype("float64")
    frame = frame.assign(scenario=scenario, hardware=key.hardware)
    prices = None if PRICED.isdisjoint(names) else prices_at(None)
    return with_derived(frame, names, prices)


@dataclass(frozen=True, slots=True)
class KeyEval:
    """One score of an official run. ``reached`` is what the task is judged by.

    ``sweep_id`` and ``segment`` are of the sweep of the same run, None where it has
    none of this scenario; ``repeats`` are the scores of all results, the newest last.
    """

    result: EvalResult
    sweep_id: int | None
    at: datetime
    floor: float
    outcome: Outcome
    reached: Reached | None
    segment: int | None = None
    repeats: tuple[float, ...] = ()

    @property
    def spread(self) -> float | None:
        """Return how far the repeats lie apart, None for a single result."""
        return spread(self.repeats)

    @property
    def is_unstable(self) -> bool:
        """Tell whether the repeats lie more than two points apart."""
        return is_unstable(self.repeats)

    @property
    def place(self) -> str:
        """Return task and place, as one line of the history."""
        where = self.result.deployment.label
        concurrency = self.result.concurrency
        at = "" if concurrency is None else f" c{concurrency}"
        return f"{self.result.task} {where}{at}"


def official_evals(
    key: ConfigKey, scenario: str, sweeps: Iterable[HistorySweep]
) -> list[KeyEval]:
    """Return the scores of a key's official runs, newest first."""
    of_run = {s.facts.run_id: s for s in sweeps}
    found = EvalResult.objects.filter(
        config_key=key,
        scenario=scenario,
        is_current=True,
        run__publication=Run.Publication.OFFICIAL,
    ).select_related("deployment", "run")
    scores = list(found)
    floors = floor_table() if scores else FloorTable()
    judged = [_judged(result, key.model, of_run, floors) for result in scores]
    by_place = sorted(judged, key=lambda e: (e.place, e.result.pk))
    # The order by place stays within a run.
    return sorted(by_place, key=_age)


def _age(scored: KeyEval) -> tuple[float, int]:
    return -scored.at.timestamp(), -scored.result.run.github_run_id


def _judged(
    result: EvalResult,
    model: str,
    of_run: Mapping[int, HistorySweep],
    floors: FloorTable,
) -> KeyEval:
    scores = {
        "strict": result.strict,
        "flexible": result.flexible,
        "score": result.score,
    }
    needed = floors.at(model, result.task, day_of(result))
    share = scores[needed.decisive]
    sweep = of_run.get(result.run.github_run_id)
    return KeyEval(
        result=result,
        sweep_id=sweep.sweep_id if sweep else None,
        at=result.run.published_at or result.run.created_at,
        floor=needed.minimum,
        outcome=outcome(needed, scores, result.n),
        reached=_reached(share, result.n),
        segment=sweep.segment if sweep else None,
        repeats=repeats_of(result, needed.decisive),
    )


def _reached(share: float | None, n: int | None) -> Reached | None:
    if share is None:
        return None
    low, high = wilson(share, n) if n else (None, None)
    return Reached(share, "", low, high)
