"""One point in full, and the single requests of a replayed one."""

import csv
import io
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Annotated, Any, Literal

import orjson
from django.http import HttpRequest, StreamingHttpResponse
from django.urls import reverse
from ninja import Query, Router, Schema

from dashboard.api.errors import ErrorBody, not_found
from dashboard.models import RequestTrace
from dashboard.queries.point_detail import (
    Neighbour,
    PointEval,
    PointReport,
    point_report,
)
from dashboard.queries.point_requests import COLUMNS, requests_of
from dashboard.vocabulary.inputs import LARGEST_ID
from dashboard.vocabulary.metrics import METRICS
from dashboard.vocabulary.texts import FORMULA_STARTS

router = Router(tags=["points"])

LINES = "application/x-ndjson"


class DetailFlag(Schema):
    """One doubt about the point; ``is_out`` keeps it off the frontier."""

    code: str
    text: str
    is_out: bool


class DetailEval(Schema):
    """A score of the point's deployment; scores and the floor are fractions.

    ``join`` says where the eval names another deployment and can only mean this one.
    """

    id: int
    task: str
    concurrency: int | None
    outcome: str
    strict: float | None
    flexible: float | None
    score: float | None
    n: int | None
    floor: float
    join: str


class Acceptance(Schema):
    """Where the acceptance length comes from; ``is_configured`` means not measured."""

    source: str
    length: float | None
    label: str
    is_configured: bool
    evidence: str


class RawRecordBody(Schema):
    """The record that the point was made of, and where it is downloaded as stored."""

    sha256: str
    artifact: str
    member: str
    index: int
    path: str


class SamePlace(Schema):
    """An official point of the same key, scenario, deployment and concurrency."""

    id: int
    run_id: int
    official_at: datetime
    state: Literal["current", "former", "held"] | None
    segment: int | None
    is_swap: bool
    checkpoint: str | None
    image: str


class DerivedBody(Schema):
    """A metric made of others; ``made_with`` names the price or power."""

    value: float | None
    made_with: str


class RequestsBody(Schema):
    """How far the single requests are known.

    ``state`` is ``done``, ``queued``, ``running``, ``failed``, ``new`` (nobody asked)
    or ``none`` (``why_none`` says why). ``kept`` of the requests are stored one by one.
    Distributions are by quantity: latencies in s, interactivity in tok/s per user.
    """

    state: str
    why_none: str
    member: str | None
    kept: int | None
    counts: dict[str, Any] | None
    distributions: dict[str, Any] | None


class PointDetail(Schema):
    """One stored point. ``metrics`` and ``derived`` are by column, unit in the name.

    ``metrics`` are as stored, null where not measured. ``accounting`` is that of the
    aggregate: ``records_total`` holds warm-up, so that successful / total is no success
    rate. ``same_place`` lists the newest 200.
    """

    id: int
    config_key: str
    scenario: str
    run_id: int
    run_url: str
    repository: str
    attempt: int
    publication: str
    published_by: int | None
    state: Literal["current", "former", "held"] | None
    standing: Literal["current", "superseded", "excluded"]
    provenance: str
    checkpoint: str | None
    image: str
    runner: str
    fingerprint: str
    deployment: str
    topology: dict[str, int | bool | str]
    concurrency: int
    gpus: int | None
    prefill_gpus: int | None
    decode_gpus: int | None
    measured_at: datetime
    official_at: datetime | None
    acceptance: Acceptance | None
    flags: list[DetailFlag]
    evals: list[DetailEval]
    metrics: dict[str, float | None]
    derived: dict[str, DerivedBody]
    accounting: dict[str, Any]
    record: RawRecordBody | None
    same_place: list[SamePlace]
    requests: RequestsBody | None


class RequestsQuery(Schema):
    """How the requests are written."""

    format: Literal["ndjson", "csv"] = "ndjson"


@router.get(
    "/{int:point_id}", response={200: PointDetail, 400: ErrorBody, 404: ErrorBody}
)
def point_detail(
    request: HttpRequest,  # noqa: ARG001  # ninja's signature
    point_id: int,
) -> dict[str, Any]:
    """Return one point: what it is, what was measured, and how far to trust it."""
    report = _report(point_id)
    return {**_identity(report), **_contents(report)}


@router.get(
    "/{int:point_id}/requests",
    response={200: None, 400: ErrorBody, 404: ErrorBody},
    openapi_extra={
        "responses": {
            200: {
                "description": "a request per line, by its start; times in s since the "
                "first start, null or blank where missing",
                "content": {
                    LINES: {"schema": {"type": "string"}},
                    "text/csv": {"schema": {"type": "string"}},
                },
            }
        }
    },
)
def point_requests(
    request: HttpRequest,  # noqa: ARG001  # ninja's signature
    point_id: int,
    asked: Annotated[RequestsQuery, Query()],
) -> StreamingHttpResponse:
    """Return the requests of a replayed point that are stored one by one.

    404 where nobody had them read: the page of the point asks for that. The header
    X-Total-Requests says how many there were, of which the lines are an even sample.
    """
    trace = _report(point_id).requests.trace
    if trace is None:
        raise not_found("point_id", f"No requests of point {point_id} are stored.")
    is_csv = asked.format == "csv"
    parts = _csv(trace) if is_csv else _lines(trace)
    kind = "text/csv; charset=utf-8" if is_csv else LINES
    answer = StreamingHttpResponse(parts, content_type=kind)
    answer["X-Total-Requests"] = str(trace.counts["requests"])
    return answer


def _report(point_id: int) -> PointReport:
    report = point_report(point_id) if point_id <= LARGEST_ID else None
    if report is None:
        raise not_found("point_id", f"Point {point_id} is not stored here.")
    return report


def _identity(report: PointReport) -> dict[str, Any]:
    point, sweep, run = report.point, report.sweep, report.run
    return {
        "id": point.pk,
        "config_key": sweep.config_key.key,
        "scenario": sweep.scenario,
        "run_id": run.github_run_id,
        "run_url": run.url,
        "repository": run.repository.full_name,
        "attempt": point.attempt,
        "publication": run.publication,
        "published_by": run.published_by.github_run_id if run.published_by else None,
        "state": sweep.state,
        "standing": report.standing,
        "provenance": report.provenance,
        "checkpoint": sweep.checkpoint.name if sweep.checkpoint else None,
        "image": point.image,
        "runner": point.runner,
        "fingerprint": point.fingerprint,
        "deployment": point.deployment.label,
        "topology": report.topology,
        "concurrency": point.concurrency,
        "gpus": point.gpus,
        "prefill_gpus": point.prefill_gpus,
        "decode_gpus": point.decode_gpus,
        "measured_at": sweep.measured_at,
        "official_at": sweep.official_at,
    }


def _contents(report: PointReport) -> dict[str, Any]:
    metrics = report.point.metrics
    return {
        "acceptance": _acceptance(report),
        "flags": [
            {"code": f.code, "text": f.text, "is_out": f.is_out} for f in report.flags
        ],
        "evals": [_eval(item) for item in report.evals],
        "metrics": {
            metric.column: metrics.get(name)
            for name, metric in METRICS.items()
            if metric.derivation is None
        },
        "derived": {
            METRICS[name].column: {"value": made.value, "made_with": made.terms}
            for name, made in report.derived.items()
        },
        "accounting": report.accounting,
        "record": _record(report),
        "same_place": [_same_place(row) for row in report.neighbours],
        "requests": _requests(report) if report.is_agentic else None,
    }


def _acceptance(report: PointReport) -> dict[str, Any] | None:
    sweep = report.sweep
    if not report.is_speculative:
        return None
    return {
        "source": sweep.acceptance_source,
        "length": sweep.acceptance_length,
        "label": report.acceptance_label,
        "is_configured": report.is_configured,
        "evidence": sweep.acceptance_evidence,
    }


def _eval(item: PointEval) -> dict[str, Any]:
    result = item.judged.result
    return {
        "id": result.pk,
        "task": result.task,
        "concurrency": result.concurrency,
        "outcome": item.judged.outcome,
        "strict": result.strict,
        "flexible": result.flexible,
        "score": result.score,
        "n": result.n,
        "floor": item.judged.floor,
        "join": item.join,
    }


def _record(report: PointReport) -> dict[str, Any] | None:
    record = report.point.raw_record
    if record is None:
        return None
    return {
        "sha256": record.sha256,
        "artifact": record.artifact.name,
        "member": record.member,
        "index": record.index,
        "path": reverse("point_record", args=[report.point.pk]),
    }


def _same_place(row: Neighbour) -> dict[str, Any]:
    return {
        "id": row.point_id,
        "run_id": row.run_id,
        "official_at": row.at,
        "state": row.state,
        "segment": row.segment,
        "is_swap": row.is_swap,
        "checkpoint": row.checkpoint,
        "image": row.image,
    }


def _requests(report: PointReport) -> dict[str, Any]:
    known = report.requests
    trace = known.trace
    return {
        "state": known.state,
        "why_none": known.why_none,
        "member": known.kept.file.member if known.kept else None,
        "kept": trace.kept if trace else None,
        "counts": trace.counts if trace else None,
        "distributions": trace.distributions if trace else None,
    }


def _lines(trace: RequestTrace) -> Iterator[bytes]:
    for row in requests_of(trace):
        yield orjson.dumps(dict(zip(COLUMNS, row, strict=True))) + b"\n"


def _csv(trace: RequestTrace) -> Iterator[str]:
    yield _csv_line(COLUMNS)
    for row in requests_of(trace):
        yield _csv_line(map(_cell, row))


def _cell(value: object) -> object:
    """Blank what is missing; keep a spreadsheet from running text as a formula."""
    if isinstance(value, str) and value.startswith(FORMULA_STARTS):
        return f"'{value}"
    return "" if value is None else value


def _csv_line(values: Iterable[object]) -> str:
    written = io.StringIO()
    csv.writer(written).writerow(values)
    return written.getvalue()
