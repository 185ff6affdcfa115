"""Points as JSON: a page at a time, or all of them as lines."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Annotated, Any, Literal

import orjson
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.utils.cache import patch_vary_headers
from ninja import Query, Router, Schema
from pydantic import Field

from dashboard.analysis.frames import HOT_METRICS
from dashboard.api.cursors import cursor_after, place_of
from dashboard.api.errors import ErrorBody
from dashboard.api.metrics import known_metric
from dashboard.api.reading import JSON, LINES, NOT_CHANGED, kept_of_data, takes_lines
from dashboard.api.selection import Cursor, MeasuredQuery, listed
from dashboard.api.terms import PricedQuery
from dashboard.queries.measured import points_meant
from dashboard.queries.point_derived import add_derived
from dashboard.queries.point_pages import Block, Place, StoredPoint, page, stream
from dashboard.vocabulary import flags
from dashboard.vocabulary.metrics import METRICS
from dashboard.vocabulary.prices import Prices

router = Router(tags=["points"])

FIRST: Place = (0, 0)
MOST = 1000
_COLUMN = {name: metric.column for name, metric in METRICS.items()}
_ALWAYS = tuple(HOT_METRICS)


class PointsQuery(MeasuredQuery, PricedQuery):
    """Filters, and how much of which points is given."""

    metrics: str = Field(
        "",
        description="names or columns of metrics, separated by commas: exactly these "
        "are given, null where not measured; only so are derived ones given, such as "
        "costs. Without it: the usual ones, null where not measured, and whatever else "
        "was measured",
    )
    limit: int = Field(100, ge=1, le=MOST, description="points of a page of JSON")
    cursor: Cursor = ""
    format: Literal["", "json", "ndjson"] = Field(
        "",
        description="ndjson sends all points, a line each, while they are read; so "
        f"does Accept: {LINES}",
    )


class MeasuredFlag(Schema):
    """One doubt about a point; ``is_out`` keeps it off the frontier."""

    code: str
    text: str
    is_out: bool


class MeasuredPoint(Schema):
    """One measurement with where it comes from.

    ``topology`` holds the parts of ``deployment`` that apply to it. ``metrics`` are by
    column, unit in the name, as files have them; `/api/v1/metrics` explains each.
    ``is_current`` is false for what a later upload or attempt superseded. ``state`` is
    that of the sweep, null while the run is unofficial. ``extends_run_id`` is the run
    whose sweep this one only adds points to.
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
    published_by: int | None = Field(description="the merge run of a reused run")
    state: Literal["current", "former", "held"] | None
    extends_run_id: int | None
    segment: int | None = Field(
        description="stretch of the key's history; only within one is comparable"
    )
    checkpoint: str | None
    image: str
    runner: str
    provenance: str = Field(description="artifacts of the run, or published")
    measured_at: datetime
    official_at: datetime | None
    deployment: str
    topology: dict[str, int | bool | str]
    concurrency: int = Field(description="simultaneous requests")
    gpus: int | None
    prefill_gpus: int | None
    decode_gpus: int | None
    is_current: bool
    is_excluded: bool
    is_out: bool
    flags: list[MeasuredFlag]
    metrics: dict[str, float | None]


class PointsBody(Schema):
    """A page of points, sweep by sweep; null is the cursor of the last one."""

    points: list[MeasuredPoint]
    limit: int
    next_cursor: str | None


_LINES = {
    "responses": {
        200: {
            "content": {
                LINES: {
                    "schema": {
                        "type": "string",
                        "description": "a MeasuredPoint as JSON on each line",
                    }
                }
            }
        }
    }
}


@router.get(
    "",
    response={200: PointsBody, **NOT_CHANGED, 400: ErrorBody, 404: ErrorBody},
    openapi_extra=_LINES,
)
@kept_of_data
def list_points(
    request: HttpRequest, asked: Annotated[PointsQuery, Query()]
) -> HttpResponse | StreamingHttpResponse:
    """Return points: official ones, unless `run` or `publication` asks for others.

    As JSON at most 1,000 at once; as lines all of them, as they were when it began.
    """
    names = tuple(known_metric("metrics", n).name for n in listed(asked.metrics))
    filters = asked.filters()
    after: Any = place_of(asked.cursor, filters, FIRST)
    found = points_meant(filters)
    prices = asked.prices(names, filters.moment)
    if _takes_lines(request, asked.format):
        lines = _lines(stream(found, after), names, prices)
        answer: HttpResponse | StreamingHttpResponse = StreamingHttpResponse(
            lines, content_type=LINES
        )
    else:
        block, has_more = page(found, after, asked.limit)
        add_derived(block, names, prices)
        last = cursor_after(block.points[-1].place, filters) if has_more else None
        body = {
            "points": _bodies(block, names),
            "limit": asked.limit,
            "next_cursor": last,
        }
        answer = HttpResponse(
            orjson.dumps(body, option=orjson.OPT_UTC_Z), content_type=JSON
        )
    patch_vary_headers(answer, ["Accept"])
    return answer


def _takes_lines(request: HttpRequest, asked: str) -> bool:
    return asked == "ndjson" or (not asked and takes_lines(request))


def _lines(
    blocks: Iterator[Block], names: Sequence[str], prices: Prices | None
) -> Iterator[bytes]:
    for block in blocks:
        add_derived(block, names, prices)
        yield b"".join(
            orjson.dumps(body, option=orjson.OPT_UTC_Z | orjson.OPT_APPEND_NEWLINE)
            for body in _bodies(block, names)
        )


def _bodies(block: Block, names: Sequence[str]) -> list[dict[str, Any]]:
    return [_body(block, point, names) for point in block.points]


def _body(block: Block, point: StoredPoint, names: Sequence[str]) -> dict[str, Any]:
    own = point.columns
    sweep = block.sweeps[own["sweep_id"]]
    label, topology = block.topologies[own["deployment_id"]]
    body = {**sweep, **own, "deployment": label, "topology": topology}
    body["image"] = own["image"] or sweep["sweep_image"]
    body["flags"] = [
        {"code": code, "text": text, "is_out": flags.is_out(code)}
        for code, text in own["flags"]
    ]
    body["metrics"] = _metrics(point.metrics, names)
    for name in ("sweep_id", "deployment_id", "sweep_image"):
        del body[name]
    return body


def _metrics(
    measured: dict[str, float | None], names: Sequence[str]
) -> dict[str, float | None]:
    """Return metrics by column: those asked for, else the usual and what else is."""
    if names:
        return {_COLUMN[name]: measured.get(name) for name in names}
    return {
        _COLUMN.get(name, name): value
        for name, value in measured.items()
        if value is not None or name in _ALWAYS
    }
