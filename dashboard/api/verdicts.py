"""The verdict on a run as JSON."""

from http import HTTPStatus
from typing import Annotated, Any

from django.http import HttpRequest
from ninja import Query, Router, Schema

from dashboard.api.errors import ErrorBody, RequestFault
from dashboard.api.reading import NOT_CHANGED, of_data
from dashboard.forms.verdicts import LARGEST_ATTEMPT
from dashboard.queries.run_verdicts import AskedVerdict, VerdictRefusedError
from dashboard.vocabulary.inputs import LARGEST_ID

router = Router(tags=["runs"])

# A list of [deployment, [concurrencies]].
Places = list[tuple[str, list[int]]]


class Baseline(Schema):
    """What a sweep was held against. ``is_old`` when it is older than 30 days.

    ``repeats`` counts runs on the same commit whose points are folded in.
    """

    run_id: int
    attempt: int | None
    publication: str
    repeats: int
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
    """What only one side measured. ``planned`` is null where no plan is known.

    ``unplanned`` are those of ``lost`` that the head's plan does not name any more.
    """

    lost: Places
    unplanned: Places
    gained: Places
    lost_x_range: list[tuple[float, float]]
    received: int
    planned: int | None
    left_out_base: int
    left_out_head: int


class VerdictPoint(Schema):
    """One metric of one pair. ``gain`` is ``change`` signed so that more is better.

    ``flag`` says what tables do: "worse" and "better" decide, the rest does not.
    """

    deployment: str
    concurrency: int
    metric: str
    base: float
    head: float
    change: float | None
    gain: float | None
    z: float | None
    flagged: bool
    flag: str
    needs_look: bool


class BestAt(Schema):
    """The best y at an interactivity or better; null where a side has none."""

    x: float
    base: float | None
    head: float | None


class VerdictEval(Schema):
    """One eval against the baseline's at the same place; scores are fractions.

    ``difference``, its 95 % interval ``low`` to ``high``, ``z`` and ``p`` are of the
    score ``judged_by``; ``level`` is red from -1.5 pp, amber from -1.0 pp.
    """

    task: str
    deployment: str
    concurrency: int | None
    strict: float | None
    flexible: float | None
    score: float | None
    n: int | None
    floor: float
    state: str
    judged_by: str
    baseline: float | None
    baseline_run_id: int | None
    difference: float | None
    low: float | None
    high: float | None
    z: float | None
    p: float | None
    level: str
    words: str


class Axes(Schema):
    """The metrics of the frontier."""

    x: str
    y: str


class VerdictBody(Schema):
    """One key and scenario. Changes are fractions.

    ``verdict`` is "failed evals" where one fails; ``performance`` is what the points
    alone say.
    """

    config_key: str
    scenario: str
    verdict: str
    performance: str
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
    points: list[VerdictPoint]
    best_at: list[BestAt]
    evals: list[VerdictEval]
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
    response={200: RunVerdictBody, **NOT_CHANGED, 400: ErrorBody, 404: ErrorBody},
)
@of_data
def verdict(
    request: HttpRequest,  # noqa: ARG001  # ninja's signature
    run_id: int,
    base: Annotated[int | None, Query(ge=1, le=LARGEST_ID)] = None,
    attempt: Annotated[int | None, Query(ge=1, le=LARGEST_ATTEMPT)] = None,
    base_attempt: Annotated[int | None, Query(ge=1, le=LARGEST_ATTEMPT)] = None,
) -> dict[str, Any]:
    """Judge a run against the official record, or against the run ``base``."""
    try:
        return AskedVerdict(run_id, attempt, base, base_attempt).answer().as_json
    except VerdictRefusedError as error:
        status = HTTPStatus.NOT_FOUND if error.is_unknown else HTTPStatus.BAD_REQUEST
        raise RequestFault(error.parameter, str(error), status=status) from error
