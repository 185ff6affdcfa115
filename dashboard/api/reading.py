"""What all reads have in common: known parameters, and answers named by an ETag."""

import inspect
from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any

from django.conf import settings
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils.cache import get_conditional_response, patch_vary_headers
from ninja.decorators import decorate_view
from ninja.operation import Operation

from dashboard.api.errors import UNKNOWN, ErrorBody, RequestFault
from dashboard.caching import data_etag
from dashboard.kept import kept

Run = Callable[..., HttpResponseBase]
LONGEST_QUOTE = 80

JSON, LINES = "application/json", "application/x-ndjson"

# What a read may answer beside its own shape; 304 has no body.
NOT_CHANGED = {304: None}
BAD = {400: ErrorBody}
UNKNOWN_THING = {404: ErrorBody}


def only_known_parameters(run: Run) -> Run:
    """Refuse a query with a parameter that the operation does not have.

    A filter with a typing error would otherwise narrow nothing, and nobody would see.
    """
    operation: Operation = inspect.unwrap(run).__self__
    known = sorted(parameters_of(operation))

    @wraps(run)
    def checked(request: HttpRequest, *args: Any, **asked: Any) -> HttpResponseBase:
        unknown = [name for name in request.GET if name not in known]
        if not unknown:
            return run(request, *args, **asked)
        fault = RequestFault(
            unknown[0][:LONGEST_QUOTE],
            f"{unknown[0][:LONGEST_QUOTE]!r} is no parameter of this resource.",
            allowed=known,
            code=UNKNOWN,
        )
        return operation.api.on_exception(request, fault)

    return checked


def parameters_of(operation: Operation) -> Iterable[str]:
    """Return the names of an operation's query parameters, as an address has them."""
    for model in operation.models:
        if model.__ninja_param_source__ == "query":
            yield from model.__ninja_flatten_map__


def named_by_data(run: Run) -> Run:
    """Give the answer an ETag of the data, and 304 to who has it already.

    Only for answers that depend on nothing but the data and the address.
    """

    @wraps(run)
    def answered(request: HttpRequest, *args: Any, **asked: Any) -> HttpResponseBase:
        # Made before the data are read: an answer may be newer than it says.
        etag = _etag(request)
        found = get_conditional_response(request, etag=etag)
        response: HttpResponseBase = found or run(request, *args, **asked)
        if response.status_code in {200, 304}:
            response.headers.setdefault("ETag", etag)
            # Kept, but asked about each time: the data may change at any moment.
            private = "private, " if settings.FRONTIERBOARD_LOGIN_REQUIRED else ""
            response.headers.setdefault("Cache-Control", f"{private}no-cache")
            patch_vary_headers(response, ["Accept-Encoding"])
        return response

    return answered


def _etag(request: HttpRequest) -> str:
    """Return the ETag of data, address, day and form."""
    form = "lines" if takes_lines(request) else "json"
    return f'{data_etag(request)[:-1]}-{form}"'


def takes_lines(request: HttpRequest) -> bool:
    """Tell whether a request prefers lines of JSON to JSON."""
    return request.get_preferred_type([JSON, LINES]) == LINES


def kept_answers(run: Run) -> Run:
    """Keep answers in JSON, packed, as pages are kept; lines are sent as they are read.

    They lie on a shelf of their own: who reads a long list page by page pushes no page
    of the site out.
    """
    keeping = kept(shelf="answer")(run)

    @wraps(run)
    def answered(request: HttpRequest, *args: Any, **asked: Any) -> HttpResponseBase:
        if takes_lines(request):
            return run(request, *args, **asked)
        response = keeping(request, *args, **asked)
        # It is named by the data, as it is while nothing is kept.
        response.headers.pop("ETag", None)
        return response

    return answered


of_data = decorate_view(named_by_data)
# Of long answers, which cost more to make than to keep.
kept_of_data = decorate_view(kept_answers, named_by_data)
