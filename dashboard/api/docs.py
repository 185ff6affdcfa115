"""The documentation of the interface as one of our pages, made of its own schema."""

from collections.abc import Iterator, Mapping
from http import HTTPStatus
from typing import Any, NamedTuple

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from ninja import NinjaAPI
from ninja.openapi.docs import DocsBase

METHODS = ("get", "post", "patch")
Json = Mapping[str, Any]


class Parameter(NamedTuple):
    """One parameter: where it stands, what it may be, and what it means."""

    name: str
    place: str
    kind: str
    is_required: bool
    text: str


class Answer(NamedTuple):
    """A status, its word, and the fields of what comes with it."""

    status: str
    word: str
    shape: str


class Described(NamedTuple):
    """One operation of the interface."""

    anchor: str
    method: str
    path: str
    summary: str
    text: str
    parameters: list[Parameter]
    answers: list[Answer]


class Group(NamedTuple):
    """The operations of one tag."""

    name: str
    anchor: str
    operations: list[Described]


class Shape(NamedTuple):
    """One object that answers are made of: its name, meaning and fields."""

    name: str
    text: str
    fields: list[tuple[str, str, str]]


class DocsPage(DocsBase):
    """Server-made: it needs no script, and it looks like every other page."""

    def render_page(
        self, request: HttpRequest, api: NinjaAPI, **kwargs: Any
    ) -> HttpResponse:
        """Return the page."""
        schema = api.get_openapi_schema()
        context = {
            "api_title": schema["info"]["title"],
            "paragraphs": _paragraphs(schema["info"]["description"]),
            "groups": list(_groups(schema)),
            "shapes": list(_shapes(schema)),
            "openapi_url": self.get_openapi_url(api, kwargs),
        }
        return render(request, "api_docs.html", context)


def _groups(schema: Json) -> Iterator[Group]:
    by_tag: dict[str, list[Described]] = {}
    for path, methods in schema["paths"].items():
        for method in METHODS:
            if found := methods.get(method):
                tag = found.get("tags", ["other"])[0]
                by_tag.setdefault(tag, []).append(_operation(path, method, found))
    for tag, operations in by_tag.items():
        yield Group(tag, f"group-{tag.replace(' ', '-')}", operations)


def _operation(path: str, method: str, found: Json) -> Described:
    return Described(
        anchor=found["operationId"],
        method=method.upper(),
        path=path,
        summary=found["summary"],
        text=found.get("description", ""),
        parameters=[_parameter(one) for one in found.get("parameters", ())],
        answers=[_answer(status, one) for status, one in found["responses"].items()],
    )


def _parameter(found: Json) -> Parameter:
    return Parameter(
        found["name"],
        found["in"],
        kind_of(found["schema"]),
        found["required"],
        found.get("description", ""),
    )


def _answer(status: object, found: Json) -> Answer:
    content = found.get("content", {})
    shapes = [f"{kind_of(one['schema'])} ({name})" for name, one in content.items()]
    word = HTTPStatus(int(str(status))).phrase
    return Answer(str(status), word, ", ".join(shapes) or "no body")


def _shapes(schema: Json) -> Iterator[Shape]:
    for name, found in sorted(schema["components"]["schemas"].items()):
        fields = [
            (field, kind_of(one), one.get("description", ""))
            for field, one in found.get("properties", {}).items()
        ]
        yield Shape(name, found.get("description", ""), fields)


def kind_of(schema: Json) -> str:
    """Return in words what a schema takes: "integer from 1 to 1000, or null"."""
    if "$ref" in schema:
        return str(schema["$ref"].rsplit("/", 1)[-1])
    if "anyOf" in schema:
        return " or ".join(kind_of(one) for one in schema["anyOf"])
    if "enum" in schema:
        return "one of " + ", ".join(str(v) or "(empty)" for v in schema["enum"])
    if schema.get("type") == "array":
        return _list(schema)
    extra = schema.get("additionalProperties", True)
    return _plain(schema) if extra is True else f"object of {kind_of(extra)}"


def _list(schema: Json) -> str:
    if parts := schema.get("prefixItems"):
        return f"({', '.join(kind_of(one) for one in parts)})"
    return f"list of {kind_of(schema.get('items', {}))}"


def _plain(schema: Json) -> str:
    kind = str(schema.get("format") or schema.get("type") or "anything")
    if "const" in schema:
        return f"always {schema['const']}"
    low, high = schema.get("minimum"), schema.get("maximum")
    bounds = [f"from {low}"] if low is not None else []
    bounds += [f"to {high}"] if high is not None else []
    return " ".join([kind, *bounds])


def _paragraphs(text: str) -> list[str]:
    return [" ".join(part.split()) for part in text.strip().split("\n\n")]
