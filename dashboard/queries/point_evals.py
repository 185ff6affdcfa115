"""What the evals say of each point of a frame, in one query."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
from django.db.models.functions import Coalesce

from dashboard.analysis.eval_gate import gate
from dashboard.analysis.eval_places import EvalPlace, join_text, points_of_evals
from dashboard.analysis.evals import Outcome, outcome, worst
from dashboard.models import EvalResult
from dashboard.queries.floors import floor_table
from dashboard.vocabulary.floors import FILTERS, FloorTable

_PLACE = (
    *("run_id", "config_key", "scenario"),
    *("deployment_id", "deployment", "tp", "concurrency"),
)
_FIELDS = (
    "run__github_run_id",
    "config_key__key",
    "scenario",
    "deployment_id",
    "deployment__label",
    "deployment__tp",
    "concurrency",
    "config_key__model",
    "task",
    Coalesce("measured_at", "run__created_at"),
    "n",
    "strict",
    "flexible",
    "score",
)


def with_evals(points: pd.DataFrame) -> pd.DataFrame:
    """Return the points frame with ``eval``: the worst outcome of each point's tasks.

    A point without a current score of its run is ``not measured``. ``eval_join`` says
    where a score was found by less than the whole deployment, else ``""``;
    ``is_gated_in`` whether the point stays behind the gate of evals.
    """
    if points.empty:
        empty = pd.Series(dtype=object)
        return points.assign(
            eval=empty, eval_join=empty, is_gated_in=pd.Series(dtype=bool)
        )
    places = _places(points)
    stored = _stored(points)
    belongs = points_of_evals(places, stored)
    judged: dict[EvalPlace, list[Outcome]] = {}
    texts: dict[EvalPlace, str] = {}
    for place, point in belongs.items():
        judged.setdefault(point, []).extend(stored[place])
        texts[point] = texts.get(point, "") or join_text(place, point)
    told = {place: worst(outcomes) for place, outcomes in judged.items()}
    unmeasured = worst(())
    return points.assign(
        eval=[told.get(place, unmeasured) for place in places],
        eval_join=[texts.get(place, "") for place in places],
        is_gated_in=_gated_in(points, places, stored, belongs),
    )


def _gated_in(
    points: pd.DataFrame,
    places: Sequence[EvalPlace],
    stored: Mapping[EvalPlace, list[Outcome]],
    belongs: Mapping[EvalPlace, EvalPlace],
) -> list[bool]:
    """Tell of each point whether its key and checkpoint passed; see `gate`.

    An eval that was joined to a point is one of that point's deployment.
    """
    checkpoints = {
        place.curve: checkpoint
        for place, checkpoint in zip(places, points["checkpoint"].tolist(), strict=True)
    }
    lines = {
        curve: (*curve[1:], checkpoint)  # type: ignore[index]  # run, key, scenario
        for curve, checkpoint in checkpoints.items()
    }
    arms = [(lines[place.curve], place.deployment) for place in places]
    judged = [
        ((lines[place.curve], belongs.get(place, place).deployment), outcomes)
        for place, outcomes in stored.items()
        if place.curve in lines
    ]
    return gate(arms, judged)


def _stored(points: pd.DataFrame) -> dict[EvalPlace, list[Outcome]]:
    found = EvalResult.objects.filter(
        is_current=True,
        run__github_run_id__in=set(points["run_id"].tolist()),
        config_key__key__in=set(points["config_key"]),
        scenario__in=set(points["scenario"]),
    )
    rows = list(found.values_list(*_FIELDS))
    floors = floor_table() if rows else FloorTable()
    grouped: dict[EvalPlace, list[Outcome]] = {}
    for row in rows:
        model, task, at, n, *measured = row[len(_PLACE) :]
        scores = dict(zip(FILTERS, measured, strict=True))
        judged = outcome(floors.at(model, task, at.date()), scores, n)
        grouped.setdefault(_place(row[: len(_PLACE)]), []).append(judged)
    return grouped


def _places(points: pd.DataFrame) -> list[EvalPlace]:
    """Return where each point was measured; those of one curve share its name."""
    columns = (points[name].tolist() for name in _PLACE)
    run_ids, keys, scenarios, deployments, labels, tps, concurrencies = columns
    curves = list(zip(run_ids, keys, scenarios, strict=True))
    one_of = {curve: curve for curve in curves}
    tps = [None if tp is None or math.isnan(tp) else int(tp) for tp in tps]
    return [
        EvalPlace(one_of[curve], int(deployment), label, tp, concurrency)
        for curve, deployment, label, tp, concurrency in zip(
            curves, deployments, labels, tps, concurrencies, strict=True
        )
    ]


def _place(row: tuple[Any, ...]) -> EvalPlace:
    *curve, deployment, label, tp, concurrency = row
    return EvalPlace(tuple(curve), deployment, label, tp, concurrency)
