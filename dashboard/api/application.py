"""The interface as a whole: version, resources, strict JSON, one shape of error."""

from http import HTTPStatus
from typing import Any

import orjson
from django.http import HttpRequest, HttpResponse
from ninja import NinjaAPI
from ninja.errors import ValidationError
from ninja.renderers import BaseRenderer

from dashboard.api import (
    changes,
    config_keys,
    published,
    regressions,
    requests,
    runs,
    uploads,
    verdicts,
)
from dashboard.api.errors import ErrorBody, Fault, RequestFault

DESCRIPTION = """
Times are ISO 8601 in UTC. Latencies are in s, throughput in tok/s per GPU,
interactivity in tok/s per user, scores and changes are fractions. `null` means not
measured or not known; zero means measured zero. Ids of runs are those of the forge.
"""


class StrictJSON(BaseRenderer):
    """Strict JSON: what is no number is null, never NaN or Infinity."""

    media_type = "application/json"

    def render(
        self,
        request: HttpRequest,  # noqa: ARG002  # ninja's signature
        data: Any,
        *,
        response_status: int,  # noqa: ARG002  # ninja's signature
    ) -> bytes:
        """Write times in UTC with a Z."""
        return orjson.dumps(data, option=orjson.OPT_UTC_Z)


api = NinjaAPI(
    title="Frontierboard",
    version="1",
    description=DESCRIPTION,
    renderer=StrictJSON(),
    docs_url="/docs",
    urls_namespace="api",
)
api.add_router("/runs", runs.router)
api.add_router("/runs", uploads.router)
api.add_router("/runs", verdicts.router)
api.add_router("/regressions", regressions.router)
api.add_router("/requests", requests.router)
api.add_router("/config-keys", config_keys.router)
api.add_router("", changes.router)
api.add_router("", published.router)


@api.exception_handler(RequestFault)
def _fault(request: HttpRequest, error: RequestFault) -> HttpResponse:
    body = ErrorBody(error=error.fault)
    return api.create_response(request, body.model_dump(), status=error.status)


@api.exception_handler(ValidationError)
def _invalid(request: HttpRequest, error: ValidationError) -> HttpResponse:
    """Name the first parameter that could not be read."""
    first = error.errors[0]
    fault = Fault(parameter=str(first["loc"][-1]), message=first["msg"])
    body = ErrorBody(error=fault).model_dump()
    return api.create_response(request, body, status=HTTPStatus.BAD_REQUEST)
