"""The history of a config key as JSON: its official sweeps, and what each reached."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any, Literal

from django.core.exceptions import ValidationError
from django.http import HttpRequest
from ninja import Query, Router, Schema
from pydantic import Field

from dashboard.analysis.history import (
    History,
    HistorySweep,
    Series,
    best_series,
    default_targets,
    history_of,
    place_series,
)
from dashboard.api.errors import ErrorBody, RequestFault, not_found
from dashboard.api.metrics import known_metric
from dashboard.api.reading import NOT_CHANGED, kept_of_data
from dashboard.api.selection import day_range, listed
from dashboard.forms.keys import MOST_TARGETS, TargetsField
from dashboard.models import ConfigKey
from dashboard.queries.key_history import (
    history_points,
    official_history,
    stored_key,
)
from dashboard.queries.keys import nearest_keys
from dashboard.vocabulary.metrics import AXES, Metric, default_axes
from dashboard.vocabulary.scenarios import AGENTIC, scenario_order

router = Router(tags=["config keys"])

MOST = 2000
LARGEST_CONCURRENCY = 2**31 - 1


class KeyHistoryQuery(Schema):
    """Which scenario, and what is read off each sweep.

    Without a place: the best `metric` at each target by the step rule, which takes the
    best value among points whose `x` is at least as good as the target. With
    `deployment` and `concurrency`: `metric` as it was measured there.
    """

    scenario: str = Field("", description="such as 8k/1k; may be left out if only one")
    metric: str = Field("tput_per_gpu", description="a metric's name or column")
    x: str = Field("", description="what targets are values of: a metric")
    at: str = Field(
        "",
        max_length=200,
        description=f"targets, up to {MOST_TARGETS} with commas; without them round "
        "values of the current frontier",
    )
    deployment: str = Field("", description="a label, such as TP4")
    concurrency: int | None = Field(None, ge=1, le=LARGEST_CONCURRENCY)
    since: str = Field("", alias="from", description="first official day, UTC")
    until: str = Field("", alias="to", description="last official day, UTC")
    limit: int = Field(500, ge=1, le=MOST, description="the newest so many sweeps")


class HistoryValue(Schema):
    """What a sweep reached; null where no point is as good as the target.

    ``target`` is null for a metric at one place. ``where`` is deployment and
    concurrency.
    """

    target: float | None
    value: float | None
    where: str | None


class HistoryEntry(Schema):
    """One official sweep. Values of two sweeps compare only within one ``segment``.

    ``segment`` is null while a sweep is held. ``breaks`` says why it began one,
    ``markers`` what else changed; objects with a ``kind``, mostly ``from`` and ``to``.
    A sweep that only adds points (``extends_run_id``) counts with what it adds to.
    """

    run_id: int
    run_url: str
    state: Literal["current", "former", "held"]
    official_at: datetime
    measured_at: datetime
    checkpoint: str | None
    image: str
    received: int
    planned: int | None
    segment: int | None
    is_swap: bool
    breaks: list[dict[str, Any]]
    markers: list[dict[str, Any]]
    extends_run_id: int | None
    pr: int | None
    pr_url: str | None
    values: list[HistoryValue]


class KeyHistoryBody(Schema):
    """Sweeps oldest first; ``total`` counts those that the days leave."""

    config_key: str
    scenario: str
    metric: str
    column: str = Field(description="the metric with its unit")
    unit: str
    direction: Literal["higher", "lower", "none"]
    x: str | None = Field(description="null for a metric at one place")
    x_unit: str | None
    total: int
    limit: int
    sweeps: list[HistoryEntry]


@router.get(
    "/{path:key}/history",
    response={200: KeyHistoryBody, **NOT_CHANGED, 400: ErrorBody, 404: ErrorBody},
)
@kept_of_data
def key_history(
    request: HttpRequest,  # noqa: ARG001  # ninja's signature
    key: str,
    asked: Annotated[KeyHistoryQuery, Query()],
) -> dict[str, Any]:
    """Return every official sweep of a key and scenario, and its best values.

    Held sweeps are listed too, with their values. At most the newest 2,000.
    """
    stored = known_key(key)
    every = official_history(stored)
    scenario = _scenario(stored, every, asked.scenario)
    history = history_of(s for s in every if s.facts.scenario == scenario)
    y = known_metric("metric", asked.metric)
    x = _x(asked, scenario)
    series = _series(stored, history, asked, (x, y))
    since, until = day_range(asked.since, asked.until)
    within = [
        sweep
        for sweep in history.sweeps
        if (since is None or sweep.at.date() >= since)
        and (until is None or sweep.at.date() <= until)
    ]
    is_place = bool(asked.deployment)
    return {
        "config_key": stored.key,
        "scenario": scenario,
        "metric": y.name,
        "column": y.column,
        "unit": y.unit,
        "direction": y.direction,
        "x": None if is_place else x.name,
        "x_unit": None if is_place else x.unit,
        "total": len(within),
        "limit": asked.limit,
        "sweeps": _entries(within[-asked.limit :], history, series),
    }


def known_key(key: str) -> ConfigKey:
    """Return a config key; raises RequestFault that names the nearest ones."""
    found = stored_key(key)
    if found is None:
        near = [] if "\0" in key else nearest_keys(key)
        said = f"There is no config key {key[:200]}; these are the nearest."
        raise not_found("key", said, allowed=near)
    return found


def _scenario(key: ConfigKey, sweeps: Sequence[HistorySweep], asked: str) -> str:
    known = sorted({s.facts.scenario for s in sweeps}, key=scenario_order)
    if not known:
        raise not_found("key", f"{key.key} has no official sweep.")
    if not asked and len(known) == 1:
        return known[0]
    if asked not in known:
        said = f"{key.key} has no official sweep of {asked[:80]}."
        message = said if asked else "Say which scenario is meant."
        raise RequestFault("scenario", message, allowed=known)
    return asked


def _x(asked: KeyHistoryQuery, scenario: str) -> Metric:
    usual, _ = default_axes(agentic=scenario == AGENTIC)
    found = known_metric("x", asked.x or usual)
    if found.direction == "none":
        said = f"Of {found.name} no value is better than another."
        raise RequestFault("x", said, allowed=AXES)
    return found


def _series(
    key: ConfigKey,
    history: History,
    asked: KeyHistoryQuery,
    axes: tuple[Metric, Metric],
) -> list[tuple[float | None, Series]]:
    """Return what is read off the sweeps, each with its target."""
    x, y = axes
    if asked.deployment or asked.concurrency is not None:
        if not asked.deployment or asked.concurrency is None:
            lacking = "concurrency" if asked.deployment else "deployment"
            raise RequestFault(lacking, "deployment and concurrency go together.")
        points = history_points(key, scenario_of(history), [y.name])
        place = place_series(points, y.name, asked.deployment, asked.concurrency)
        return [(None, place)]
    if y.direction == "none":
        said = f"Of {y.name} no value is better than another: name a place."
        raise RequestFault("metric", said, allowed=AXES)
    points = history_points(key, scenario_of(history), [x.name, y.name])
    targets = _targets(asked.at)
    if not targets and x.direction != "higher":
        raise RequestFault("at", f"Name the values of {x.name} that are meant.")
    if not targets and history.current is not None:
        current = points[points["sweep_id"].isin(_ids(history))]
        targets = default_targets(current, x.name, y.name)
    found = best_series(points, history, x.name, y.name, targets)
    return list(zip(targets, found, strict=True))


def scenario_of(history: History) -> str:
    """Return the scenario of a history that has sweeps."""
    return history.sweeps[-1].facts.scenario


def _ids(history: History) -> list[int]:
    current = history.current
    return [s.sweep_id for s in current.sweeps] if current else []


def _targets(text: str) -> tuple[float, ...]:
    try:
        found: tuple[float, ...] = TargetsField(required=False).to_python(
            ",".join(listed(text))
        )
    except ValidationError as error:
        said = error.messages[0]
        raise RequestFault("at", said[:1].upper() + said[1:]) from None
    return found


def _entries(
    sweeps: Sequence[HistorySweep],
    history: History,
    series: Sequence[tuple[float | None, Series]],
) -> list[dict[str, Any]]:
    runs = {sweep.sweep_id: sweep.facts.run_id for sweep in history.sweeps}
    return [_entry(sweep, runs, series) for sweep in sweeps]


def _entry(
    sweep: HistorySweep,
    runs: Mapping[int, int],
    series: Sequence[tuple[float | None, Series]],
) -> dict[str, Any]:
    facts = sweep.facts
    base = facts.extends
    return {
        "run_id": facts.run_id,
        "run_url": facts.run_url,
        "state": sweep.state,
        "official_at": sweep.at,
        "measured_at": facts.measured_at,
        "checkpoint": facts.checkpoint or None,
        "image": facts.image,
        "received": facts.received,
        "planned": facts.planned,
        "segment": sweep.segment,
        "is_swap": sweep.is_swap,
        "breaks": sweep.breaks,
        "markers": sweep.markers,
        "extends_run_id": runs.get(base) if base is not None else None,
        "pr": sweep.pull.number if sweep.pull else None,
        "pr_url": (sweep.pull.address or None) if sweep.pull else None,
        "values": [_value(target, one, sweep) for target, one in series],
    }


def _value(target: float | None, series: Series, sweep: HistorySweep) -> dict[str, Any]:
    found = series.values.get(sweep.sweep_id)
    return {
        "target": target,
        "value": found.value if found else None,
        "where": found.where if found else None,
    }
