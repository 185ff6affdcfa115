"""Requests for work as resources: how far they came, and how they ended."""

from datetime import datetime
from typing import Any

from django.http import HttpRequest
from ninja import Router, Schema

from dashboard.api.errors import ErrorBody, not_found
from dashboard.models import IngestRequest
from dashboard.queries.requests import one_request
from dashboard.vocabulary.inputs import LARGEST_ID

router = Router(tags=["requests"])


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


@router.get("/{int:request_id}", response={200: RequestBody, 404: ErrorBody})
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
