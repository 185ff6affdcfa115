"""The official dashboard's own paths and shapes, so that its scripts find them here."""

import re
from collections.abc import Iterable
from datetime import date
from http import HTTPStatus
from typing import Annotated, Any

import orjson
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.views.decorators.http import condition, require_safe
from ninja import Query, Router, Schema
from ninja.decorators import decorate_view
from pydantic import Field

from dashboard.api.errors import ErrorBody, Fault, RequestFault, code_of
from dashboard.api.ready import array, ready_etag, streamed, whole
from dashboard.forms.unofficial import MOST_RUNS, read_run
from dashboard.models import Run
from dashboard.queries import published, published_days
from dashboard.vocabulary.models import MODELS, models_of_group
from dashboard.vocabulary.scenarios import scenario_text

LARGEST_LENGTH = 2**31 - 1
LARGEST_ID = 2**63 - 1
LONGEST_QUOTE = 80
MOST_IDS = 100

router = Router(tags=["as the official dashboard"])
unchanged = decorate_view(condition(etag_func=ready_etag))

_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
# By display name of a group, by that of a family, by a family's short name.
_MODELS = {
    name.lower(): models
    for model in MODELS.values()
    for name, models in (
        (model.name, [model.name]),
        (model.label, [model.name]),
    )
} | {model.group.lower(): models_of_group(model.group) for model in MODELS.values()}
_GROUPS = sorted({model.group for model in MODELS.values()})

Answer = HttpResponse | StreamingHttpResponse


class Worker(Schema):
    """Power of one worker, where it was measured."""

    role: str
    hosts: list[str]
    num_gpus: int


class HistoryRow(Schema):
    """One point. Latencies in s, throughput in tok/s per GPU, by metric name.

    On a single node both roles repeat the same sizes and counts. Input and output
    throughput of rows with roles are per GPU of their role, the total per all GPUs.
    """

    hardware: str
    framework: str
    model: str
    precision: str
    spec_method: str
    disagg: bool
    is_multinode: bool
    prefill_tp: int
    prefill_ep: int
    prefill_dp_attention: bool
    prefill_num_workers: int
    decode_tp: int
    decode_ep: int
    decode_dp_attention: bool
    decode_num_workers: int
    num_prefill_gpu: int | None
    num_decode_gpu: int | None
    isl: int | None
    osl: int | None
    conc: int
    metrics: dict[str, float]
    workers: list[Worker] | None
    date: str
    run_url: str


class BenchmarkRow(HistoryRow):
    """A point with the image it was measured with, null where that is not known."""

    image: str | None


class AvailableRow(Schema):
    """A configuration that was measured on a day."""

    model: str
    isl: int | None
    osl: int | None
    precision: str
    hardware: str
    framework: str
    spec_method: str
    disagg: bool
    date: str


class ReliabilityRow(Schema):
    """Jobs of one run on one GPU, and how many succeeded."""

    hardware: str
    date: str
    n_success: int
    total: int


class EvalRow(Schema):
    """One score; fractions. ``id`` is below zero where it was measured here."""

    id: str
    config_id: int
    hardware: str
    framework: str
    model: str
    precision: str
    task: str
    conc: int | None
    metrics: dict[str, float]
    date: str
    timestamp: str
    run_url: str


class WorkflowBody(Schema):
    """Official runs of a day, their changelog entries, and what was measured."""

    runs: list[dict[str, Any]]
    changelogs: list[dict[str, Any]]
    configs: list[dict[str, Any]]


class BenchmarksQuery(Schema):
    """``exact`` takes rows of that day only, not the newest by then."""

    model: str = Field("", description="display name, such as DeepSeek-R1-0528")
    date: str = Field("", description="YYYY-MM-DD, UTC, inclusive")
    exact: bool = False
    run_id: int | None = Field(None, alias="runId", ge=1, le=LARGEST_ID)


class HistoryQuery(Schema):
    """Lengths in tokens; without them rows of all lengths."""

    model: str = Field("", description="display name, such as DeepSeek-R1-0528")
    isl: int | None = Field(None, ge=1, le=LARGEST_LENGTH)
    osl: int | None = Field(None, ge=1, le=LARGEST_LENGTH)


@router.get("/benchmarks", response={200: list[BenchmarkRow], 400: ErrorBody})
@unchanged
def benchmarks(
    request: HttpRequest, asked: Annotated[BenchmarksQuery, Query()]
) -> HttpResponse:
    """Return a model's newest row per configuration, lengths and concurrency."""
    day = _day("date", asked.date)
    if asked.exact and day is None and asked.run_id is None:
        raise RequestFault("date", "exact asks for the rows of a date: name one.")
    moment = published.Moment(day=day, exact=asked.exact, run_id=asked.run_id)
    models = _models(asked.model)
    return array(
        request, (models, moment), lambda: published.newest_rows(models, moment)
    )


@router.get("/benchmarks/history", response={200: list[HistoryRow], 400: ErrorBody})
@unchanged
def benchmarks_history(
    request: HttpRequest, asked: Annotated[HistoryQuery, Query()]
) -> Answer:
    """Return every row of a model, oldest first, sent while it is read."""
    models = _models(asked.model)
    if (asked.isl is None) != (asked.osl is None):
        missing = "isl" if asked.isl is None else "osl"
        raise RequestFault(missing, "isl and osl go together: name both, or none.")
    scenario = None
    if asked.isl is not None and asked.osl is not None:
        scenario = scenario_text(asked.isl, asked.osl)
    rows = published.history_rows(models, scenario)
    return streamed(request, (models, scenario), rows)


@router.get("/availability", response=list[AvailableRow])
@unchanged
def availability(request: HttpRequest) -> HttpResponse:
    """Return which configurations were measured on which day."""
    return array(request, "", published_days.available_rows)


@router.get("/evaluations", response=list[EvalRow])
@unchanged
def evaluations(request: HttpRequest) -> HttpResponse:
    """Return all official evals."""
    return array(request, "", published.eval_rows)


@router.get("/reliability", response=list[ReliabilityRow])
@unchanged
def reliability(request: HttpRequest) -> HttpResponse:
    """Return how jobs fared, a row per run and GPU."""
    return array(request, "", published_days.reliability_rows)


@router.get("/workflow-info", response={200: WorkflowBody, 400: ErrorBody})
@unchanged
def workflow_info(
    request: HttpRequest,  # noqa: ARG001  # ninja's signature
    asked: Annotated[
        str, Query(alias="date", description="YYYY-MM-DD, UTC; the newest if left out")
    ] = "",
) -> HttpResponse:
    """Return the official runs of a day, their changelogs, and what was measured."""
    day = _day("date", asked) or published_days.newest_day()
    nothing: dict[str, Any] = {"runs": [], "changelogs": [], "configs": []}
    told = published_days.workflows(day) if day else nothing
    return whole(orjson.dumps(told))


@require_safe
@condition(etag_func=ready_etag)
def unofficial_run(request: HttpRequest) -> HttpResponse:
    """Return what single runs measured, official or not, and which are not stored.

    One bad id never takes the others away: `missing` says what became of it. Nothing
    is fetched: the page with the same ids asks for runs that are not here.
    """
    parts = request.GET.get("runId", "").split(",")
    asked = list(dict.fromkeys(part.strip() for part in parts if part.strip()))
    if not 0 < len(asked) <= MOST_IDS:
        some = f"1 to {MOST_IDS} run ids, separated by commas"
        return _refused(f"Name {some}.", HTTPStatus.BAD_REQUEST)
    runs, missing = _asked_runs(asked)
    if not runs:
        is_bad = all(read_run(part) is None for part in asked)
        message = " ".join(str(one["reason"]) for one in missing)
        status = HTTPStatus.BAD_REQUEST if is_bad else HTTPStatus.NOT_FOUND
        return _refused(message, status)
    return whole(_unofficial_body(runs, missing))


def _asked_runs(asked: list[str]) -> tuple[list[Run], list[dict[str, object]]]:
    """Return the stored runs, each once, and why the others are not among them."""
    runs: dict[int, Run] = {}
    missing = list[dict[str, object]]()
    for part in asked:
        found = read_run(part)
        run = published.asked_run(found.run_id) if found else None
        if found is None:
            reason = f"{part[:LONGEST_QUOTE]} is no run id."
        elif run is None:
            page = f"/inference?unofficialruns={found.run_id}"
            reason = f"Run {found.run_id} is not stored here; {page} fetches it."
        elif len(runs) == MOST_RUNS and found.run_id not in runs:
            reason = f"At most {MOST_RUNS} runs are answered at once."
        else:
            runs[found.run_id] = run
            continue
        missing.append({"runId": part[:LONGEST_QUOTE], "reason": reason})
    return list(runs.values()), missing


def _unofficial_body(runs: Iterable[Run], missing: list[dict[str, object]]) -> bytes:
    infos, points, evals = [], list[str](), list[str]()
    for run in runs:
        measuring = published.measuring_run(run)
        infos.append(_run_info(run))
        points += published.run_rows(measuring)
        evals += published.run_evals(measuring)
    parts = (
        b'{"runInfos":' + orjson.dumps(infos),
        b'"benchmarks":[' + ",".join(points).encode() + b"]",
        b'"evaluations":[' + ",".join(evals).encode() + b"]",
        b'"missing":' + orjson.dumps(missing) + b"}",
    )
    return b",".join(parts)


def _run_info(run: Run) -> dict[str, object]:
    return {
        "id": run.github_run_id,
        "name": run.title,
        "branch": run.branch,
        "sha": run.sha,
        "createdAt": run.created_at.isoformat().replace("+00:00", "Z"),
        "url": run.url,
        "conclusion": run.conclusion or None,
        "status": run.status or None,
        "isNonMainBranch": run.publication != Run.Publication.OFFICIAL,
    }


def _refused(message: str, status: HTTPStatus) -> HttpResponse:
    fault = Fault(code=code_of(status), parameter="runId", message=message)
    body = ErrorBody(error=fault).model_dump()
    return HttpResponse(
        orjson.dumps(body), status=status, content_type="application/json"
    )


def _models(name: str) -> list[str]:
    """Return the families that a name means; raises RequestFault."""
    found = _MODELS.get(name.lower())
    if found is None:
        said = f"{name[:LONGEST_QUOTE]!r} is no model." if name else "Name a model."
        raise RequestFault("model", said, allowed=_GROUPS)
    return found


def _day(parameter: str, text: str) -> date | None:
    """Return a day, None where none is asked for; raises RequestFault."""
    if not text:
        return None
    try:
        if _DAY.fullmatch(text):
            return date.fromisoformat(text)
    except ValueError:
        pass
    shown = text[:LONGEST_QUOTE]
    raise RequestFault(
        parameter, f"{shown!r} is no day.", allowed=["YYYY-MM-DD, such as 2026-08-01"]
    )
