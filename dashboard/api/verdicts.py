"""The verdict on a run as JSON."""

from typing import Annotated, Any

from django.http import HttpRequest
from ninja import Query, Router, Schema

from dashboard.analysis.verdict_json import verdict_json
from dashboard.api.errors import ErrorBody, not_found
from dashboard.models import Run
from dashboard.queries.run_verdicts import run_verdict, stored_run

router = Router(tags=["runs"])

# A list of [deployment, [concurrencies]].
Places = list[tuple[str, list[int]]]


class Baseline(Schema):
    """What a sweep was held against. ``is_old`` from 30 days on."""

    run_id: int
    attempt: int | None
    publication: str
    measured_at: str
    official_at: str
    age_days: int
    is_old: bool


class LikeForLike(Schema):
    """Change of the area under the paired points, with its 95 % interval."""

    change: float
    low: float | None
    high: float | None
    pairs: int


class WorstLocal(Schema):
    """Where the head falls behind most; a negative loss is a gain everywhere."""

    loss: float
    deployment: str
    concurrency: int
    x: float


class Coverage(Schema):
    """What only one side measured. ``planned`` is null where no plan is known."""

    lost: Places
    gained: Places
    lost_x_range: list[tuple[float, float]]
    received: int
    planned: int | None
    left_out_base: int
    left_out_head: int


class PointBody(Schema):
    """One metric of one pair. ``gain`` is ``change`` signed so that more is better."""

    deployment: str
    concurrency: int
    metric: str
    base: float
    head: float
    change: float | None
    gain: float | None
    z: float | None
    flagged: bool
    needs_look: bool


class BestAt(Schema):
    """The best y at an interactivity or better; null where a side has none."""

    x: float
    base: float | None
    head: float | None


class Axes(Schema):
    """The metrics of the frontier."""

    x: str
    y: str


class VerdictBody(Schema):
    """One key and scenario. Changes are fractions."""

    config_key: str
    scenario: str
    verdict: str
    reason: str
    headline: str
    sentence: str
    partial: str | None
    strong: bool
    axes: Axes
    baseline: Baseline | None
    like_for_like: LikeForLike | None
    raw_hypervolume_change: float | None
    worst_local: WorstLocal | None
    coverage: Coverage | None
    points: list[PointBody]
    best_at: list[BestAt]
    evals: list[dict[str, Any]]
    differences: list[dict[str, Any]]


class RunVerdictBody(Schema):
    """``line`` is what is to be known first."""

    run_id: int
    attempt: int | None
    measured_in: int | None
    line: str
    verdicts: list[VerdictBody]


@router.get(
    "/{int:run_id}/verdict",
    response={200: RunVerdictBody, 400: ErrorBody, 404: ErrorBody},
)
def verdict(
    request: HttpRequest,  # noqa: ARG001  # ninja's signature
    run_id: int,
    base: Annotated[int | None, Query(ge=1)] = None,
    attempt: Annotated[int | None, Query(ge=1)] = None,
) -> dict[str, Any]:
    """Judge a run against the official record, or against the run ``base``."""
    run = _stored("run_id", run_id)
    against = None if base is None else _stored("base", base)
    found = run_verdict(run, base=against, attempt=attempt)
    return {
        "run_id": run_id,
        "attempt": attempt,
        "measured_in": found.facts.measured_in,
        "line": found.line,
        "verdicts": [verdict_json(verdict) for verdict in found.verdicts],
    }


def _stored(name: str, run_id: int) -> Run:
    run = stored_run(run_id)
    if run is None:
        raise not_found(name, f"Run {run_id} is not stored here.")
    return run
