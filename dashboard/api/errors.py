"""What an answer says when a request cannot be answered."""

from collections.abc import Iterable
from http import HTTPStatus

from ninja import Schema


class Fault(Schema):
    """Which parameter is at fault, why, and what would have been taken instead."""

    parameter: str
    message: str
    allowed: list[str] | None = None


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
    ) -> None:
        super().__init__(message)
        self.status = status
        self.fault = Fault(
            parameter=parameter,
            # Half a surrogate pair, as JSON may hold one, cannot be sent.
            message=message.encode("utf-8", "replace").decode(),
            allowed=None if allowed is None else list(allowed),
        )


def not_found(parameter: str, message: str) -> RequestFault:
    """Return the fault of a request for something that is not stored."""
    return RequestFault(parameter, message, status=HTTPStatus.NOT_FOUND)
