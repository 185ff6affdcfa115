"""What an answer says when a request cannot be answered."""

from collections.abc import Iterable
from http import HTTPStatus

from ninja import Schema
from pydantic import Field

INVALID = "invalid_parameter"
UNKNOWN = "unknown_parameter"
_CODES = {
    HTTPStatus.UNAUTHORIZED: "unauthorized",
    HTTPStatus.FORBIDDEN: "forbidden",
    HTTPStatus.NOT_FOUND: "not_found",
    HTTPStatus.METHOD_NOT_ALLOWED: "method_not_allowed",
    HTTPStatus.CONFLICT: "conflict",
    HTTPStatus.LENGTH_REQUIRED: "length_required",
    HTTPStatus.PRECONDITION_FAILED: "precondition_failed",
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE: "too_large",
    HTTPStatus.SERVICE_UNAVAILABLE: "unavailable",
}


class Fault(Schema):
    """Which parameter is at fault, why, and what would have been taken instead."""

    code: str = Field(
        default=INVALID,
        description="for programs, and stable: "
        + ", ".join(sorted({INVALID, UNKNOWN, *_CODES.values()})),
    )
    parameter: str = Field(
        description="the parameter, header or part of the path that is at fault"
    )
    message: str = Field(description="for people; its wording may change")
    allowed: list[str] | None = Field(
        default=None,
        description="what would be taken; null where that cannot be listed",
    )


class ErrorBody(Schema):
    """The one shape of every 4xx answer."""

    error: Fault


class RequestFault(Exception):  # noqa: N818  # a fault of the request, not of ours
    """Ends a request with a 4xx answer."""

    def __init__(
        self,
        parameter: str,
        message: str,
        *,
        allowed: Iterable[str] | None = None,
        status: HTTPStatus = HTTPStatus.BAD_REQUEST,
        code: str = "",
    ) -> None:
        super().__init__(message)
        self.status = status
        self.fault = Fault(
            code=code or code_of(status),
            parameter=_sendable(parameter),
            message=_sendable(message),
            allowed=None if allowed is None else list(map(_sendable, allowed)),
        )


def code_of(status: int) -> str:
    """Return the code of an answer where nothing more exact is known."""
    return _CODES.get(HTTPStatus(status), INVALID)


def not_found(
    parameter: str, message: str, *, allowed: Iterable[str] | None = None
) -> RequestFault:
    """Return the fault of a request for something that is not stored."""
    return RequestFault(
        parameter, message, allowed=allowed, status=HTTPStatus.NOT_FOUND
    )


def _sendable(text: str) -> str:
    # Half a surrogate pair, as JSON may hold one, cannot be sent.
    return text.encode("utf-8", "replace").decode()
