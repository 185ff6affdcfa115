"""Answers to requests that reach no operation: HEAD, OPTIONS, and every 4xx as JSON."""

from collections.abc import Callable
from http import HTTPStatus

import orjson
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase

from dashboard.api.errors import ErrorBody, Fault, code_of

PREFIX = "/api/"
JSON = "application/json"
LONGEST_QUOTE = 200


class ApiAnswers:
    """Middleware: what is asked of the interface is answered by the interface.

    Django and the router know neither HEAD beside GET nor our shape of errors: an
    unknown path would be a page, an unknown method a line of text.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Answer one request."""
        if not request.path_info.startswith(PREFIX):
            return self.get_response(request)
        if request.method == "HEAD":
            request.method = "GET"
            answer = _without_body(_told(request, self.get_response(request)))
            request.method = "HEAD"
            return answer
        return _told(request, self.get_response(request))


def _without_body(answer: HttpResponseBase) -> HttpResponseBase:
    if isinstance(answer, HttpResponse):
        answer.headers.setdefault("Content-Length", str(len(answer.content)))
        answer.content = b""
        return answer
    # What was to be streamed is never begun, so that nothing of it is to be ended.
    headers = dict(answer.items())
    return HttpResponse(status=answer.status_code, headers=headers)


def _told(request: HttpRequest, answer: HttpResponseBase) -> HttpResponseBase:
    """Return the answer, or what it says in the shape of errors."""
    is_fault = 400 <= answer.status_code < 500  # noqa: PLR2004  # HTTP's classes
    if not is_fault or answer.get("Content-Type", "").startswith(JSON):
        return answer
    allowed = _methods(answer)
    if request.method == "OPTIONS" and allowed:
        headers = {"Allow": ", ".join(allowed)}
        return HttpResponse(status=HTTPStatus.NO_CONTENT, headers=headers)
    body = ErrorBody(error=_fault(request, answer.status_code, allowed))
    told = HttpResponse(
        orjson.dumps(body.model_dump()),
        status=answer.status_code,
        content_type=JSON,
    )
    if allowed:
        told["Allow"] = ", ".join(allowed)
    return told


def _methods(answer: HttpResponseBase) -> list[str]:
    named = {name for name in answer.get("Allow", "").split(", ") if name}
    if not named:
        return []
    reads = {"HEAD"} if "GET" in named else set()
    return sorted({*named, *reads, "OPTIONS"})


def _fault(request: HttpRequest, status: int, allowed: list[str]) -> Fault:
    path = request.path_info[:LONGEST_QUOTE]
    if status == HTTPStatus.NOT_FOUND:
        parameter, message = "path", f"There is nothing at {path}: see /api/v1/docs."
    elif status == HTTPStatus.METHOD_NOT_ALLOWED:
        parameter, message = "method", f"{path} does not take {request.method}."
    else:
        parameter, message = "request", f"{HTTPStatus(status).description}."
    return Fault(
        code=code_of(status),
        parameter=parameter,
        message=message.encode("utf-8", "replace").decode(),
        allowed=allowed or None,
    )
