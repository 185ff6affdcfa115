"""Requests for work as resources: how far they came, and how they ended."""

from datetime import datetime
from typing import Annotated, Any, Literal

from django.http import HttpRequest
from django.views.decorators.cache import never_cache
from ninja import Query, Router, Schema
from ninja.decorators import decorate_view
from pydantic import Field

from dashboard.api.cursors import cursor_after, place_of
from dashboard.api.errors import ErrorBody, not_found
from dashboard.api.selection import Cursor
from dashboard.models import IngestRequest
from dashboard.queries.listed_pages import request_slice
from dashboard.queries.requests import one_request
from dashboard.vocabulary.inputs import LARGEST_ID

router = Router(tags=["requests"])

MOST = 200
FIRST = (0,)
# Progress is no part of the data that an ETag names.
changes_always = decorate_view(never_cache)


class RequestBody(Schema):
    """A request; ``counts`` is empty until it ended, ``error`` while all is well."""

    id: int
    kind: str
    run_id: int | None
    repository: str
    state: str
    step: str
    done: int
    total: int
    error: str
    counts: dict[str, Any]
    requested_at: datetime
    finished_at: datetime | None
    url: str
    page: str


class IngestRequestsQuery(Schema):
    """Which requests, and how many."""

    run: int | None = Field(None, ge=1, le=LARGEST_ID, description="a run id")
    state: list[Literal["queued", "running", "done", "partly", "failed"]] = Field(
        default_factory=list, description="may be given several times"
    )
    limit: int = Field(50, ge=1, le=MOST)
    cursor: Cursor = ""


class IngestRequestsBody(Schema):
    """A page of requests, newest first."""

    requests: list[RequestBody]
    limit: int
    next_cursor: str | None


@router.get("", response={200: IngestRequestsBody, 400: ErrorBody})
@changes_always
def list_requests(
    request: HttpRequest, asked: Annotated[IngestRequestsQuery, Query()]
) -> dict[str, Any]:
    """Return requests for work, newest first; at most 200 at once."""
    states = tuple(sorted(asked.state))
    question = (asked.run, states)
    place = place_of(asked.cursor, question, FIRST)
    before = None if place is None else int(place[0])
    rows, has_more = request_slice(asked.run, states, before, asked.limit)
    return {
        "requests": [request_body(request, row) for row in rows],
        "limit": asked.limit,
        "next_cursor": cursor_after((rows[-1].pk,), question) if has_more else None,
    }


@router.get("/{int:request_id}", response={200: RequestBody, 404: ErrorBody})
@changes_always
def request(request: HttpRequest, request_id: int) -> RequestBody:
    """How far a request came."""
    found = one_request(request_id) if request_id <= LARGEST_ID else None
    if found is None:
        raise not_found("request_id", f"There is no request {request_id}.")
    return request_body(request, found)


def request_body(request: HttpRequest, asked: IngestRequest) -> RequestBody:
    """Return a request as the interface shows it, with whole addresses."""
    return RequestBody(
        id=asked.pk,
        kind=asked.kind,
        run_id=asked.github_run_id,
        repository=asked.repository,
        state=asked.state,
        step=asked.step,
        done=asked.progress_done,
        total=asked.progress_total,
        error=asked.error,
        counts=asked.counts,
        requested_at=asked.requested_at,
        finished_at=asked.finished_at,
        url=request.build_absolute_uri(f"/api/v1/requests/{asked.pk}"),
        page=request.build_absolute_uri(asked.get_absolute_url()),
    )
