"""The catalogue of config keys as JSON, and one key of it with its definition."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from itertools import groupby
from typing import Annotated, Any

from django.http import HttpRequest
from ninja import Query, Router, Schema
from pydantic import Field

from dashboard.analysis.catalogue import KeyFilters, KeyRow
from dashboard.analysis.curves import SweepFacts
from dashboard.api.cursors import cursor_after, place_of
from dashboard.api.errors import ErrorBody
from dashboard.api.key_history import known_key
from dashboard.api.reading import NOT_CHANGED, of_data
from dashboard.api.selection import Cursor, require_stored
from dashboard.models import ConfigDefinition, ConfigKey
from dashboard.queries.frontiers import scenarios_of
from dashboard.queries.keys import catalogue
from dashboard.vocabulary.frameworks import canonical_framework
from dashboard.vocabulary.models import model_group

router = Router(tags=["config keys"])

MOST = 500
FIRST = ("",)


class KeysQuery(Schema):
    """Filters of the catalogue, and how many keys are given."""

    q: str = Field(
        "", max_length=200, description="words in key, scenario, checkpoint or image"
    )
    model: str = Field("", description="a model family, or its group's display name")
    hardware: str = ""
    framework: str = ""
    precision: str = ""
    swap: bool | None = Field(None, description="whether a checkpoint was ever swapped")
    limit: int = Field(100, ge=1, le=MOST)
    cursor: Cursor = ""


class CurrentSweep(Schema):
    """The sweep of a scenario that is current, and the runs that add points to it."""

    run_id: int
    run_url: str
    checkpoint: str | None
    image: str
    measured_at: datetime
    official_at: datetime
    received: int
    planned: int | None
    segment: int | None
    added_by: list[int]


class LastChanged(Schema):
    """The newest break, marker or changelog entry of a scenario."""

    at: datetime
    text: str
    run_id: int


class KeyScenario(Schema):
    """What a key holds of one scenario today."""

    scenario: str
    current: CurrentSweep
    has_swap: bool
    last_change: LastChanged | None
    open_regressions: int
    evals_passed: int
    evals_scored: int


class CatalogueKey(Schema):
    """A config key. ``checkpoint`` and ``image`` are what its config says today.

    ``scenarios`` are those with a current official sweep. A synthetic key was made
    for rows that map to no published one.
    """

    config_key: str
    model: str
    precision: str
    hardware: str
    framework: str
    is_synthetic: bool
    checkpoint: str | None
    image: str | None
    scenarios: list[KeyScenario]


class CatalogueBody(Schema):
    """A page of keys in the order of their names."""

    config_keys: list[CatalogueKey]
    limit: int
    next_cursor: str | None


class Definition(Schema):
    """One version of what the master config says; ``entry`` is all of it."""

    checkpoint: str
    image: str
    runner: str
    first_seen_sha: str
    first_seen_at: datetime
    last_seen_sha: str
    last_seen_at: datetime
    entry: dict[str, Any]


class KeyDetail(CatalogueKey):
    """A key with every scenario that any run measured, and its definition today."""

    scenario_kind: str
    measured_scenarios: list[str]
    definition: Definition | None


@router.get("", response={200: CatalogueBody, **NOT_CHANGED, 400: ErrorBody})
@of_data
def list_keys(
    request: HttpRequest,  # noqa: ARG001  # ninja's signature
    asked: Annotated[KeysQuery, Query()],
) -> dict[str, Any]:
    """Return config keys with what each holds today; at most 500 at once."""
    for name in ("model", "hardware", "framework", "precision"):
        require_stored(name, getattr(asked, name))
    filters = _filters(asked)
    place = place_of(asked.cursor, filters, FIRST)
    after = "" if place is None else str(place[0])
    rows = (row for row in catalogue() if filters.take(row) and row.key > after)
    found = _grouped(rows)
    shown = found[: asked.limit]
    has_more = len(found) > asked.limit
    last = cursor_after((shown[-1]["config_key"],), filters) if has_more else None
    return {"config_keys": shown, "limit": asked.limit, "next_cursor": last}


def _filters(asked: KeysQuery) -> KeyFilters:
    swap = {None: "", True: "yes", False: "no"}[asked.swap]
    return KeyFilters(
        text=asked.q,
        model=model_group(asked.model),
        hardware=asked.hardware,
        framework=canonical_framework(asked.framework),
        precision=asked.precision,
        swap=swap,
    )


@router.get("/{path:key}", response={200: KeyDetail, **NOT_CHANGED, 404: ErrorBody})
@of_data
def key_detail(
    request: HttpRequest,  # noqa: ARG001  # ninja's signature
    key: str,
) -> dict[str, Any]:
    """Return one config key, its definition, and what it holds today."""
    stored = known_key(key)
    (found,) = _grouped(row for row in catalogue() if row.key == stored.key)
    return {
        **found,
        "scenario_kind": stored.scenario_kind,
        "measured_scenarios": scenarios_of(stored),
        "definition": _definition(stored),
    }


def _grouped(rows: Iterable[KeyRow]) -> list[dict[str, Any]]:
    """Return a body per key; the rows of one stand together, in order of names."""
    ordered = sorted(rows, key=lambda row: row.key)
    return [_key(list(found)) for _, found in groupby(ordered, key=lambda r: r.key)]


def _key(rows: Sequence[KeyRow]) -> dict[str, Any]:
    first = rows[0]
    return {
        "config_key": first.key,
        **{name: getattr(first, name) for name in _SAME},
        "checkpoint": first.defined.checkpoint or None,
        "image": first.defined.image or None,
        "scenarios": [_scenario(row) for row in rows if row.curve is not None],
    }


_SAME = ("model", "precision", "hardware", "framework", "is_synthetic")


def _scenario(row: KeyRow) -> dict[str, Any]:
    change, curve = row.last_change, row.curve
    added = [sweep.run_id for sweep in curve.extensions] if curve else []
    return {
        "scenario": row.scenario,
        "current": _sweep(curve.sweep, added) if curve else None,
        "has_swap": row.has_swap,
        "last_change": _change(change) if change else None,
        "open_regressions": row.regressions,
        "evals_passed": row.evals.passed,
        "evals_scored": row.evals.scored,
    }


def _change(change: Any) -> Mapping[str, Any]:
    return {"at": change.at, "text": change.words, "run_id": change.run_id}


def _sweep(sweep: SweepFacts, added: list[int]) -> dict[str, Any]:
    return {
        "run_id": sweep.run_id,
        "run_url": sweep.run_url,
        "checkpoint": sweep.checkpoint or None,
        "image": sweep.image,
        "measured_at": sweep.measured_at,
        "official_at": sweep.official_at,
        "received": sweep.received,
        "planned": sweep.planned,
        "segment": sweep.segment,
        "added_by": added,
    }


def _definition(key: ConfigKey) -> dict[str, Any] | None:
    found: ConfigDefinition | None = key.definition
    if found is None:
        return None
    names = ("image", "runner", "entry", "first_seen_sha", "first_seen_at")
    told = {name: getattr(found, name) for name in (*names, *_LAST)}
    return {"checkpoint": found.checkpoint.name, **told}


_LAST = ("last_seen_sha", "last_seen_at")
