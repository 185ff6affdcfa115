"""What is written down about each request: an id, one line, how long it took.

Probes are answered here, under whatever host name they are asked: those who ask know
the process by its address only, and the answers hold no name.
"""

import re
import time
import uuid
from collections.abc import Callable

import structlog
from django.conf import settings
from django.http import HttpRequest, HttpResponse

from dashboard.counters import API_ERRORS, OTHER, count_page
from dashboard.views.metrics import metrics
from dashboard.views.operations import healthz, readyz

PROBES = {"/healthz": healthz, "/readyz": readyz, "/metrics": metrics}
LONGEST_PATH = 200
BAD = 400
_REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")

log = structlog.get_logger(__name__)


class ObservationMiddleware:
    """The outermost one: what the others answer is seen as well."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if (probe := PROBES.get(request.path_info)) is not None:
            return probe(request)
        request_id = _request_id(request)
        started = time.monotonic()
        with structlog.contextvars.bound_contextvars(request_id=request_id):
            response = self.get_response(request)
            _observe(request, response, time.monotonic() - started)
        response["X-Request-ID"] = request_id
        return response


def _request_id(request: HttpRequest) -> str:
    """Return the id that a trusted proxy gave, else a new one."""
    given = request.headers.get("X-Request-ID", "")
    if settings.FRONTIERBOARD_TRUST_PROXY and _REQUEST_ID.fullmatch(given):
        return given
    return uuid.uuid4().hex


def _observe(request: HttpRequest, response: HttpResponse, seconds: float) -> None:
    """Count an answer, and write its line unless it is a file of ours."""
    view = _view(request)
    count_page(view, request.method or OTHER, response.status_code, seconds)
    if request.path_info.startswith("/api/") and response.status_code >= BAD:
        API_ERRORS.labels(str(response.status_code)).inc()
    if view == "static":
        return
    log.info(
        "page",
        method=request.method,
        # Without the query: it may hold what is nobody's business.
        path=request.path[:LONGEST_PATH],
        view=view,
        status=response.status_code,
        ms=round(seconds * 1000, 1),
    )


def _view(request: HttpRequest) -> str:
    """Return the name of the address; one that leads nowhere has none."""
    match = request.resolver_match
    if match is None:
        is_static = request.path_info.startswith(settings.STATIC_URL)
        return "static" if is_static else "none"
    return "admin" if match.app_names == ["admin"] else match.view_name
