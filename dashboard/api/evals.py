"""Eval scores as JSON, page by page, and the documents that a score counts."""

from datetime import datetime
from typing import Annotated, Any, Literal

from django.http import HttpRequest
from ninja import Query, Router, Schema
from pydantic import Field

from dashboard.analysis.evals import wilson
from dashboard.api.cursors import cursor_after, place_of
from dashboard.api.errors import ErrorBody, RequestFault, not_found
from dashboard.api.reading import NOT_CHANGED, kept_of_data, of_data
from dashboard.api.selection import Cursor, MeasuredQuery
from dashboard.queries.eval_samples import documents_after
from dashboard.queries.listed_pages import PlacedEval, eval_slice, shown_eval
from dashboard.queries.measured import evals_meant
from dashboard.queries.point_pages import topologies
from dashboard.vocabulary.inputs import LARGEST_ID

router = Router(tags=["evals"])

MOST, MOST_DOCUMENTS = 500, 200
LONGEST_SEARCH = 200
FIRST = (0,)


class EvalsQuery(MeasuredQuery):
    """Filters, and how many scores are given."""

    task: str = Field("", max_length=100, description="such as gsm8k")
    limit: int = Field(100, ge=1, le=MOST)
    cursor: Cursor = ""


class ScoredFlag(Schema):
    """One doubt about a score."""

    code: str
    text: str


class ScoredEval(Schema):
    """One score; fractions, null where not measured.

    ``outcome`` holds the score against ``floor``: pass, thin margin, borderline, fail,
    too few questions, not measured. ``low`` and ``high`` are the 95 % Wilson interval
    of ``score``. ``samples`` is where its documents are, null where none are stored.
    """

    id: int
    config_key: str
    model: str
    precision: str
    hardware: str
    framework: str
    scenario: str
    run_id: int
    run_url: str
    attempt: int
    publication: Literal["official", "unofficial"]
    published_by: int | None
    state: Literal["current", "former", "held"] | None
    segment: int | None
    checkpoint: str | None
    image: str | None
    measured_at: datetime | None
    official_at: datetime | None
    deployment: str
    topology: dict[str, int | bool | str]
    concurrency: int | None
    task: str
    strict: float | None
    strict_se: float | None
    flexible: float | None
    flexible_se: float | None
    score: float | None
    low: float | None
    high: float | None
    n: int | None = Field(description="questions")
    floor: float
    outcome: str
    lm_eval_version: str
    is_current: bool
    flags: list[ScoredFlag]
    samples: str | None


class EvalsBody(Schema):
    """A page of scores in the order of their ids."""

    evals: list[ScoredEval]
    limit: int
    next_cursor: str | None


class SamplesQuery(Schema):
    """Which documents of an eval."""

    failed: bool = Field(
        default=False, description="only those that some filter did not pass"
    )
    q: str = Field(
        "", max_length=LONGEST_SEARCH, description="a text that the document holds"
    )
    limit: int = Field(20, ge=1, le=MOST_DOCUMENTS)
    cursor: Cursor = ""


class SampleResult(Schema):
    """What one filter made of the answer; ``score`` is null where there is none."""

    filter: str
    extracted: str
    score: float | None
    passed: bool


class SampleBody(Schema):
    """One document: the question, what was expected, what was answered."""

    doc_id: int
    prompt: str
    target: str
    answer: str
    results: list[SampleResult]


class SamplesBody(Schema):
    """A page of documents in the order of their numbers."""

    eval_id: int
    samples: list[SampleBody]
    limit: int
    next_cursor: str | None


@router.get(
    "", response={200: EvalsBody, **NOT_CHANGED, 400: ErrorBody, 404: ErrorBody}
)
@kept_of_data
def list_evals(
    request: HttpRequest,  # noqa: ARG001  # ninja's signature
    asked: Annotated[EvalsQuery, Query()],
) -> dict[str, Any]:
    """Return eval scores: official ones, unless `run` or `publication` asks for others.

    At most 500 at once.
    """
    filters = asked.filters()
    found = evals_meant(filters)
    if asked.task:
        if "\0" in asked.task:
            raise RequestFault("task", "No task has such a name.")
        found = found.filter(task=asked.task)
    question = (filters, asked.task)
    place = place_of(asked.cursor, question, FIRST) or FIRST
    rows, has_more = eval_slice(found, int(place[0]), asked.limit)
    last = rows[-1].judged.result.pk if has_more else 0
    places = topologies({row.judged.result.deployment_id for row in rows})
    return {
        "evals": [_eval(row, places) for row in rows],
        "limit": asked.limit,
        "next_cursor": cursor_after((last,), question) if has_more else None,
    }


@router.get(
    "/{int:eval_id}/samples",
    response={200: SamplesBody, **NOT_CHANGED, 400: ErrorBody, 404: ErrorBody},
)
@of_data
def list_samples(
    request: HttpRequest,  # noqa: ARG001  # ninja's signature
    eval_id: int,
    asked: Annotated[SamplesQuery, Query()],
) -> dict[str, Any]:
    """Return the stored documents of an eval with what each filter made of the answer.

    At most 200 at once. Not of every eval documents are stored.
    """
    if eval_id > LARGEST_ID or shown_eval(eval_id) is None:
        raise not_found("eval_id", f"There is no eval {eval_id}.")
    question = (eval_id, asked.failed, asked.q)
    place = place_of(asked.cursor, question, FIRST)
    after = -1 if place is None else int(place[0])
    documents, has_more = documents_after(
        eval_id, after, asked.limit, failed_only=asked.failed, search=asked.q
    )
    last = cursor_after((documents[-1].doc_id,), question) if has_more else None
    return {
        "eval_id": eval_id,
        "samples": [SampleBody.from_orm(document) for document in documents],
        "limit": asked.limit,
        "next_cursor": last,
    }


def _eval(row: PlacedEval, places: dict[int, tuple[str, Any]]) -> dict[str, Any]:
    result, sweep = row.judged.result, row.sweep or {}
    label, topology = places[result.deployment_id]
    return {
        **_origin(row),
        "deployment": label,
        "topology": topology,
        **{name: getattr(result, name) for name in _SAME},
        **_interval(result.score, result.n),
        "floor": row.judged.floor,
        "outcome": str(row.judged.outcome),
        "flags": [{"code": code, "text": text} for code, text in result.flags],
        "measured_at": result.measured_at or sweep.get("measured_at"),
        "samples": f"/api/v1/evals/{result.pk}/samples" if row.has_samples else None,
    }


_SAME = (
    *("id", "attempt", "scenario", "concurrency", "task", "strict", "strict_se"),
    *("flexible", "flexible_se", "score", "n", "lm_eval_version", "is_current"),
)


def _origin(row: PlacedEval) -> dict[str, Any]:
    result, sweep = row.judged.result, row.sweep or {}
    key, run = result.config_key, result.run
    publisher = run.published_by
    return {
        "config_key": key.key,
        "model": key.model,
        "precision": key.precision,
        "hardware": key.hardware,
        "framework": key.framework,
        "run_id": run.github_run_id,
        "run_url": run.url,
        "publication": run.publication,
        "published_by": publisher.github_run_id if publisher else None,
        "state": sweep.get("state"),
        "segment": sweep.get("segment"),
        "checkpoint": sweep.get("checkpoint_name"),
        "image": sweep.get("image"),
        "official_at": sweep.get("official_at"),
    }


def _interval(score: float | None, n: int | None) -> dict[str, float | None]:
    low, high = wilson(score, n) if score is not None and n else (None, None)
    return {"low": low, "high": high}
