"""The calculator as JSON: each key at a target, by the step rule and by the spline."""

from datetime import datetime
from typing import Annotated, Any, Literal

import pandas as pd
from django.http import HttpRequest
from ninja import Query, Router, Schema
from pydantic import Field

from dashboard.analysis.calculator import Reading, read_at
from dashboard.analysis.curves import Curve, curves
from dashboard.analysis.interpolation import OF_FRONTIER, interpolated
from dashboard.analysis.pareto import goodness
from dashboard.api.errors import ErrorBody, RequestFault
from dashboard.api.reading import NOT_CHANGED, kept_of_data
from dashboard.api.selection import moment_of, require_stored
from dashboard.api.terms import AxisNotes, PricedQuery, notes_of
from dashboard.queries.inference import current_sweeps, points
from dashboard.vocabulary.metrics import AXES, METRICS, TOKENS_PER_USER, default_axes
from dashboard.vocabulary.models import model_group
from dashboard.vocabulary.scenarios import AGENTIC, scenario_order

router = Router(tags=["calculator"])

TARGETS = tuple(name for name in AXES if METRICS[name].unit == TOKENS_PER_USER)


class CalculatorQuery(PricedQuery):
    """The keys of a model and scenario, and the target."""

    model: str = Field(
        min_length=1, description="a model family, or its group's display name"
    )
    scenario: str = Field(
        min_length=1, description="such as 8k/1k, 1k/1k or agentic-traces"
    )
    at: float = Field(
        gt=0, allow_inf_nan=False, description="the interactivity that is asked for"
    )
    x: str = Field("", description="which interactivity; its default as in a frontier")
    y: str = Field("", description="metric; tput_per_gpu if left out")
    as_of: str = Field("", description="date or time in ISO 8601, UTC, inclusive")


class KeyAtTarget(Schema):
    """One config key. ``value`` is the step rule's and was measured, all of it."""

    config_key: str
    hardware: str
    framework: str
    precision: str
    value: float | None = Field(
        description="the best y of the points with at least this x; null above the "
        "highest measured x"
    )
    interpolated: float | None = Field(
        description="what the official page's spline says there, to compare with; "
        "not measured, and shown on no page"
    )
    is_clamped: bool = Field(
        description="the target is outside of the spline, which then stays at its end"
    )
    reaches: float | None = Field(description="the highest x measured with y")
    x: float | None = Field(description="the x of the point that has the value")
    deployment: str | None
    concurrency: int | None
    run_id: int | None
    attempt: int | None
    measured_at: datetime | None
    checkpoint: str | None
    image: str | None
    terms: str | None = Field(
        description="the price or power that it is made with, or why there is none"
    )


class CalculatorBody(Schema):
    """The keys at the target, best first, those without a value last."""

    model: str
    scenario: str
    x: str
    y: str
    unit: str
    direction: Literal["higher", "lower"]
    at: float
    notes: AxisNotes
    keys: list[KeyAtTarget]


@router.get("", response={200: CalculatorBody, **NOT_CHANGED, 400: ErrorBody})
@kept_of_data
def calculator(
    request: HttpRequest,  # noqa: ARG001  # ninja's signature
    asked: Annotated[CalculatorQuery, Query()],
) -> dict[str, Any]:
    """Return what each official config key gives at a target.

    `value` is the best measured point that is at least that fast, `interpolated` what
    the official page would read off its curve.
    """
    moment = moment_of("as_of", asked.as_of) if asked.as_of else None
    drawn = _curves(asked, moment)
    x, y = _axes(asked)
    prices = asked.prices((x, y), moment)
    found = points(drawn, (x, y, OF_FRONTIER), prices=prices)
    readings = read_at(found, x, [y], asked.at)[y]
    metric = METRICS[y]
    keys = [
        _key(curve, found, readings[curve.config_key], (x, y), asked.at)
        for curve in drawn
        if curve.config_key in readings
    ]
    return {
        "model": model_group(asked.model),
        "scenario": asked.scenario,
        "x": x,
        "y": y,
        "unit": metric.unit,
        "direction": metric.direction,
        "at": asked.at,
        "notes": notes_of(found, x, y, prices),
        "keys": sorted(keys, key=lambda key: _order(y, key)),
    }


def _curves(asked: CalculatorQuery, moment: datetime | None) -> list[Curve]:
    require_stored("model", asked.model)
    group = model_group(asked.model)
    sweeps = [s for s in current_sweeps(moment) if model_group(s.model) == group]
    here = [sweep for sweep in sweeps if sweep.scenario == asked.scenario]
    if not here:
        known = sorted({sweep.scenario for sweep in sweeps}, key=scenario_order)
        said = f"Nothing of {group} is current for {asked.scenario[:80]!r}."
        raise RequestFault("scenario", said, allowed=known)
    return curves(here)


def _axes(asked: CalculatorQuery) -> tuple[str, str]:
    x, y = default_axes(agentic=asked.scenario == AGENTIC)
    x, y = asked.x or x, asked.y or y
    if x not in TARGETS:
        said = f"{x[:80]!r} is no interactivity."
        raise RequestFault("x", said, allowed=TARGETS)
    if y not in AXES:
        said = f"{y[:80]!r} is no metric of which one value is better than another."
        raise RequestFault("y", said, allowed=AXES)
    return x, y


def _key(
    curve: Curve,
    found: pd.DataFrame,
    reading: Reading,
    axes: tuple[str, str],
    at: float,
) -> dict[str, Any]:
    x, y = axes
    sweep = curve.sweep
    own = found[found["config_key"].eq(sweep.config_key)]
    spline = interpolated(own, x, y, at)
    point = reading.point or {}
    names = ("deployment", "concurrency", "run_id", "attempt", "checkpoint", "image")
    measured_at = point.get("measured_at")
    return {
        "config_key": sweep.config_key,
        "hardware": sweep.hardware,
        "framework": sweep.framework,
        "precision": sweep.precision,
        "value": reading.value,
        "interpolated": spline and spline.value,
        "is_clamped": spline is not None and spline.is_clamped,
        "reaches": reading.reaches,
        "x": point.get(x),
        **{name: point.get(name) for name in names},
        # A frame's own kind of time is none that JSON takes.
        "measured_at": measured_at and measured_at.to_pydatetime(),
        "terms": _terms(own, f"{y}_terms", point),
    }


def _terms(own: pd.DataFrame, column: str, point: Any) -> str | None:
    """Return what a value is made with; without one, what its points say."""
    if column not in own:
        return None
    return str(point.get(column) or own[column].iloc[0])


def _order(y: str, key: dict[str, Any]) -> tuple[bool, float, str]:
    value = key["value"]
    best = 0.0 if value is None else -float(goodness(y, [value])[0])
    return value is None, best, key["config_key"]
