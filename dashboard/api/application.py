"""The interface as a whole: version, resources, strict JSON, one shape of error."""

from http import HTTPStatus
from typing import Any

import orjson
from django.http import HttpRequest, HttpResponse
from ninja import NinjaAPI, Router
from ninja.errors import HttpError, ValidationError
from ninja.openapi.schema import OpenAPISchema
from ninja.renderers import BaseRenderer

from dashboard.api import (
    calculator,
    changes,
    compare,
    config_keys,
    evals,
    job_success,
    key_catalogue,
    key_history,
    metrics,
    point_detail,
    points,
    published,
    regressions,
    requests,
    run_list,
    runs,
    skips,
    uploads,
    verdicts,
)
from dashboard.api.docs import DocsPage
from dashboard.api.errors import INVALID, ErrorBody, Fault, RequestFault, code_of
from dashboard.api.reading import only_known_parameters

DESCRIPTION = """
Everything that the pages show, as strict JSON: no NaN, no Infinity.

Times are ISO 8601 in UTC. Latencies are in s, throughput in tok/s per GPU,
interactivity in tok/s per user, scores and changes are fractions. `null` means not
measured or not known; zero means measured zero. Ids of runs are those of the forge.
`/api/v1/metrics` lists every metric with its unit and which way is better.

Lists are read in pages: `limit` says how many rows, `next_cursor` of an answer is the
`cursor` of the next page, null on the last. A row that is stored meanwhile neither
repeats nor hides another.

Official and unofficial measurements are never in one list: official ones are given
unless `run` or `publication` asks for others.

Answers that depend on the data alone carry an `ETag`; sent back as `If-None-Match` it
is answered with 304 and no body until the data change. Every 4xx has one shape:
`{"error": {"code", "parameter", "message", "allowed"}}`. A parameter that a resource
does not have is refused, except under the official dashboard's paths.
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


class Interface(NinjaAPI):
    """The library's, whose document also says how a change is allowed."""

    _document: OpenAPISchema | None = None

    def get_openapi_schema(self, **asked: Any) -> OpenAPISchema:
        """Return the OpenAPI document, made once: it takes half a second."""
        if self._document is None:
            self._document = self._made_document(**asked)
        return self._document

    def _made_document(self, **asked: Any) -> OpenAPISchema:
        schema = super().get_openapi_schema(**asked)
        token = {
            "type": "http",
            "scheme": "bearer",
            "description": "a token of one repository, made by staff; to change things",
        }
        schema["components"]["securitySchemes"] = {"token": token}
        return schema


api = Interface(
    title="Frontierboard",
    version="1",
    description=DESCRIPTION,
    renderer=StrictJSON(),
    docs=DocsPage(),
    docs_url="/docs",
    urls_namespace="api",
)

# Their operations are on the router of runs: a path has one router.
PARTS_OF_RUNS = (run_list, uploads)

# The catalogue comes after what stands below a key: a key may hold slashes.
RESOURCES: tuple[tuple[str, Router], ...] = (
    ("/metrics", metrics.router),
    ("/points", points.router),
    ("/points", point_detail.router),
    ("/evals", evals.router),
    ("/runs", runs.router),
    ("/runs", verdicts.router),
    ("/skips", skips.router),
    ("/compare", compare.router),
    ("/calculator", calculator.router),
    ("/regressions", regressions.router),
    ("/requests", requests.router),
    ("/job-success", job_success.router),
    ("/config-keys", config_keys.router),
    ("/config-keys", key_history.router),
    ("/config-keys", key_catalogue.router),
    ("", changes.router),
)
for prefix, router in RESOURCES:
    router.add_decorator(only_known_parameters, mode="view")
    api.add_router(prefix, router)
api.add_router("", published.router)


@api.exception_handler(RequestFault)
def _fault(request: HttpRequest, error: RequestFault) -> HttpResponse:
    body = ErrorBody(error=error.fault)
    return api.create_response(request, body.model_dump(), status=error.status)


@api.exception_handler(ValidationError)
def _invalid(request: HttpRequest, error: ValidationError) -> HttpResponse:
    """Name the first parameter that could not be read, and what it may be."""
    first = error.errors[0]
    fault = Fault(
        code=INVALID,
        parameter=str(first["loc"][-1]),
        message=first["msg"],
        allowed=_allowed(first.get("ctx") or {}),
    )
    body = ErrorBody(error=fault).model_dump()
    return api.create_response(request, body, status=HTTPStatus.BAD_REQUEST)


@api.exception_handler(HttpError)
def _refused(request: HttpRequest, error: HttpError) -> HttpResponse:
    """Answer what the library refuses itself, such as a body that is no JSON."""
    fault = Fault(
        code=code_of(error.status_code), parameter="body", message=f"{error}."
    )
    body = ErrorBody(error=fault).model_dump()
    return api.create_response(request, body, status=error.status_code)


def _allowed(context: dict[str, Any]) -> list[str] | None:
    """Return the values or the bounds that pydantic holds a value against."""
    if "expected" in context:
        return [str(context["expected"])]
    bounds = {"ge": ">=", "gt": ">", "le": "<=", "lt": "<", "max_length": "length <="}
    named = [
        f"{sign} {context[name]}" for name, sign in bounds.items() if name in context
    ]
    return named or None
