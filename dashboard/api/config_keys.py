"""Config keys as JSON: the frontier of one key and scenario."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, Literal

from django.http import HttpRequest
from ninja import Query, Router, Schema
from pydantic import Field

from dashboard.analysis import pareto
from dashboard.analysis.eval_places import EvalPlace
from dashboard.api.errors import ErrorBody, RequestFault, not_found
from dashboard.api.key_history import known_key
from dashboard.api.reading import NOT_CHANGED, kept_of_data
from dashboard.api.selection import moment_of
from dashboard.api.terms import AxisNotes, PricedQuery, notes_of
from dashboard.models import ConfigKey, Deployment, EvalResult, Point, Sweep
from dashboard.queries import frontiers
from dashboard.vocabulary import deployments, flags, metrics
from dashboard.vocabulary.prices import Prices
from dashboard.vocabulary.scenarios import AGENTIC

router = Router(tags=["config keys"])


class FrontierQuery(PricedQuery):
    """``run`` asks for the sweep of that run, ``as_of`` for what was current then."""

    scenario: str = Field("", description="such as 8k/1k, 1k/1k or agentic-traces")
    x: str = Field("", description="metric; its default depends on the scenario")
    y: str = Field("", description="metric; tput_per_gpu if left out")
    run: int | None = Field(None, description="run id, official or not")
    as_of: str = Field("", description="date or time in ISO 8601, UTC, inclusive")


class FrontierFlag(Schema):
    """One doubt about a point; ``is_out`` keeps it off the frontier."""

    code: str
    text: str
    is_out: bool


class FrontierEval(Schema):
    """Scores are fractions; null was not measured."""

    task: str
    strict: float | None
    flexible: float | None
    n: int | None


class FrontierPoint(Schema):
    """``topology`` holds the parts of ``deployment`` that apply to it."""

    deployment: str
    topology: dict[str, int | bool | str]
    concurrency: int
    x: float | None
    y: float | None
    metrics: dict[str, float]
    flags: list[FrontierFlag]
    eval: FrontierEval | None
    evals: list[FrontierEval]
    run_id: int
    attempt: int


class ExcludedPoint(Schema):
    """A point that takes no part, and why."""

    point: FrontierPoint
    reason: str


class FrontierSweep(Schema):
    """One sweep; ``planned`` is null where no plan is known.

    ``acceptance`` is null without speculative decoding, as in a run's sweeps.
    ``segment`` counts the stretches of the key's history that can be compared, null
    without a place in it. ``breaks`` says why it began one, ``markers`` what else
    changed against ``previous_run_id``: objects with a ``kind``, mostly ``from`` and
    ``to``.
    """

    run_id: int
    checkpoint: str | None
    image: str
    acceptance: str | None
    acceptance_length: float | None
    acceptance_label: str
    acceptance_evidence: str
    measured_at: datetime
    official_at: datetime | None
    state: Literal["current", "former", "held"] | None
    received: int
    planned: int | None
    segment: int | None
    breaks: list[dict[str, Any]]
    markers: list[dict[str, Any]]
    previous_run_id: int | None


class FrontierBody(Schema):
    """``extensions`` are append-only sweeps whose points are part of the curve."""

    config_key: str
    scenario: str
    x: str
    y: str
    sweep: FrontierSweep
    extensions: list[FrontierSweep]
    notes: AxisNotes
    frontier: list[FrontierPoint]
    dominated: list[FrontierPoint]
    excluded: list[ExcludedPoint]


@dataclass(frozen=True, slots=True)
class Axes:
    """The two metrics of a frontier, and the prices that they are made with."""

    x: str
    y: str
    prices: Prices | None = None


@router.get(
    "/{path:key}/frontier",
    response={200: FrontierBody, **NOT_CHANGED, 400: ErrorBody, 404: ErrorBody},
)
@kept_of_data
def frontier(
    request: HttpRequest,  # noqa: ARG001  # ninja's signature
    key: str,
    asked: Annotated[FrontierQuery, Query()],
) -> dict[str, Any]:
    """Return the points of a key and scenario, by where they stand.

    Without `run` and `as_of`: the current official sweep and what extends it.
    """
    config_key = known_key(key)
    _require_scenario(config_key, asked.scenario)
    axes = _axes(asked)
    curve = _curve(config_key, asked)
    points = frontiers.curve_points(curve)
    return {
        "config_key": config_key.key,
        "scenario": asked.scenario,
        "x": axes.x,
        "y": axes.y,
        "sweep": _sweep(curve.sweep),
        "extensions": [_sweep(sweep) for sweep in curve.extensions],
        **_standings(points, axes, frontiers.curve_evals(curve, points)),
    }


def _require_scenario(key: ConfigKey, scenario: str) -> None:
    known = frontiers.scenarios_of(key)
    if scenario not in known:
        asked = f"{key.key} was not measured for {scenario}." if scenario else ""
        message = asked or "Say which scenario is meant."
        raise RequestFault("scenario", message, allowed=known)


def _axes(asked: FrontierQuery) -> Axes:
    x, y = metrics.default_axes(agentic=asked.scenario == AGENTIC)
    names = (_axis("x", asked.x or x), _axis("y", asked.y or y))
    moment = moment_of("as_of", asked.as_of) if asked.as_of else None
    return Axes(*names, asked.prices(names, moment))


def _axis(parameter: str, name: str) -> str:
    if name not in metrics.AXES:
        message = f"{name} is not a metric that a frontier can be drawn over."
        raise RequestFault(parameter, message, allowed=metrics.AXES)
    return name


def _curve(key: ConfigKey, asked: FrontierQuery) -> frontiers.StoredCurve:
    if asked.run is not None and asked.as_of:
        raise RequestFault("as_of", "Ask for a run or for a date, not for both.")
    if asked.run is not None:
        curve = frontiers.curve_of_run(key, asked.scenario, asked.run)
        lacking = not_found("run", f"Run {asked.run} measured no such sweep.")
    elif asked.as_of:
        curve = frontiers.curve_as_of(
            key, asked.scenario, moment_of("as_of", asked.as_of)
        )
        lacking = not_found("as_of", f"Nothing was official by {asked.as_of}.")
    else:
        curve = frontiers.current_curve(key, asked.scenario)
        lacking = not_found("key", f"{key.key} has no official sweep of this scenario.")
    if curve is None:
        raise lacking
    return curve


def _sweep(sweep: Sweep) -> dict[str, Any]:
    return {
        "run_id": sweep.run.github_run_id,
        "checkpoint": sweep.checkpoint.name if sweep.checkpoint else None,
        "image": sweep.image,
        "acceptance": sweep.acceptance_source or None,
        "acceptance_length": sweep.acceptance_length,
        "acceptance_label": sweep.acceptance_label,
        "acceptance_evidence": sweep.acceptance_evidence,
        "measured_at": sweep.measured_at,
        "official_at": sweep.official_at,
        "state": sweep.state,
        "received": sweep.received_count,
        "planned": sweep.planned_count,
        "segment": sweep.segment,
        "breaks": sweep.breaks,
        "markers": sweep.markers,
        "previous_run_id": sweep.previous.run.github_run_id if sweep.previous else None,
    }


def _standings(
    points: Sequence[Point],
    axes: Axes,
    evals: dict[EvalPlace, list[EvalResult]],
) -> dict[str, Any]:
    names = (axes.x, axes.y)
    values = frontiers.point_values(points, names, axes.prices).assign(curve=0)
    standings = pareto.standings(values, "curve", axes.x, axes.y)
    xs, ys = values[axes.x].tolist(), values[axes.y].tolist()
    shown = values.sort_values([axes.x, axes.y], kind="stable").index
    found: dict[str, list[dict[str, Any]]] = {
        "frontier": [],
        "dominated": [],
        "excluded": [],
    }
    for place in shown:
        body = _point(points[place], xs[place], ys[place], evals)
        standing = standings[place]
        if standing in {"frontier", "dominated"}:
            found[standing].append(body)
        else:
            reason = _reason(points[place], body, axes)
            found["excluded"].append({"point": body, "reason": reason})
    return {**found, "notes": notes_of(values, axes.x, axes.y, axes.prices)}


def _point(
    point: Point,
    x: float,
    y: float,
    evals: dict[EvalPlace, list[EvalResult]],
) -> dict[str, Any]:
    place = frontiers.point_place(point)
    scores = [FrontierEval.from_orm(result) for result in evals.get(place, [])]
    return {
        "deployment": point.deployment.label,
        "topology": _topology(point.deployment),
        "concurrency": point.concurrency,
        "x": _number(x),
        "y": _number(y),
        "metrics": point.all_metrics,
        "flags": [
            {"code": code, "text": text, "is_out": flags.is_out(code)}
            for code, text in point.flags
        ],
        "eval": scores[0] if scores else None,
        "evals": scores,
        "run_id": point.sweep.run.github_run_id,
        "attempt": point.attempt,
    }


def _topology(deployment: Deployment) -> dict[str, int | bool | str]:
    parts = {name: getattr(deployment, name) for name in deployments.Deployment._fields}
    return {name: part for name, part in parts.items() if part not in (None, "")}


def _number(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


def _reason(point: Point, body: dict[str, Any], axes: Axes) -> str:
    """Return why a point takes no part, the most decisive reason first."""
    if point.is_excluded:
        return "excluded by a person"
    if point.is_out:
        texts = [text for code, text in point.flags if flags.is_out(code)]
        return "; ".join(texts) or "kept off the frontier"
    missing = [getattr(axes, axis) for axis in ("x", "y") if body[axis] is None]
    if missing:
        return f"{' and '.join(missing)} not measured"
    return f"{axes.x} is not above 0"
