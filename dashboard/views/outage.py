"""What readers get while the database is away: a page that says so."""

from collections.abc import Callable
from http import HTTPStatus

import structlog
from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.template.loader import render_to_string

log = structlog.get_logger(__name__)

RETRY_S = 10
TEXT = "The database cannot answer right now. Nothing is lost: try again in a moment."


class OutageMiddleware:
    """Answers 503 where a view found no database, in the shape of what was asked."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        return self.get_response(request)

    def process_exception(
        self, request: HttpRequest, error: Exception
    ) -> HttpResponseBase | None:
        if not isinstance(error, OperationalError | InterfaceError):
            return None
        log.error("database away", path=request.path, error=str(error).strip())
        answer = _error(request)
        answer["Retry-After"] = str(RETRY_S)
        answer["Cache-Control"] = "no-store"
        return answer


def _error(request: HttpRequest) -> HttpResponse:
    status = HTTPStatus.SERVICE_UNAVAILABLE
    if request.path.startswith("/api/"):
        fault = {"code": "unavailable", "parameter": "database", "message": TEXT}
        return JsonResponse({"error": {**fault, "allowed": None}}, status=status)
    # No request is given: what a page shows of the reader asks the database.
    page = render_to_string("503.html", {"text": TEXT})
    return HttpResponse(page, status=status)
