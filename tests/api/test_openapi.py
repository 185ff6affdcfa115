"""The document of the interface: kept, complete, and answers are as it says."""

# mypy: allow-untyped-calls

import json
from collections import Counter
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from ninja import Schema

from dashboard.api.application import api
from dashboard.management.commands.write_openapi import DOCUMENT, document
from tests.api.filled import fill

pytestmark = pytest.mark.django_db

SCHEMA = json.loads(document())
READS = {
    path: found["get"] for path, found in SCHEMA["paths"].items() if "get" in found
}
# Answers whose rows come ready from the database, or as lines.
LINES = {"/api/v1/points/{point_id}/requests"}


def refusals(answer: Any, operation: dict[str, Any]) -> list[str]:
    """Return what of an answer is not as the document says."""
    said = operation["responses"][str(answer.status_code)]
    shape = said["content"]["application/json"]["schema"]
    checked = Draft202012Validator({**shape, "components": SCHEMA["components"]})
    body = json.loads(answer.getvalue(), parse_constant=pytest.fail)
    return [f"{e.json_path}: {e.message[:200]}" for e in checked.iter_errors(body)]


def test_the_document_that_is_kept_is_that_of_the_code():
    assert DOCUMENT.read_bytes() == document(), "run `make openapi`"


def test_no_two_objects_share_a_name():
    """The document has one place per name: the second would stand in for the first."""
    found = [Schema]
    for one in found:
        found += [s for s in one.__subclasses__() if s not in found]
    own = [s.__name__ for s in found if s.__module__.startswith("dashboard.api")]
    assert [name for name, count in Counter(own).items() if count > 1] == []


def test_every_operation_says_what_it_does_and_how_it_refuses():
    lacking = []
    for path, operation in READS.items():
        responses = operation["responses"]
        places = {p["in"] for p in operation["parameters"]}
        if not operation.get("description"):
            lacking.append(f"{path} has no description")
        if "query" in places and "400" not in responses:
            lacking.append(f"{path} takes parameters and documents no 400")
        if "path" in places and "404" not in responses:
            lacking.append(f"{path} names a thing and documents no 404")
    assert lacking == []


def test_every_limit_is_stated():
    for path, operation in READS.items():
        for parameter in operation["parameters"]:
            if parameter["name"] == "limit":
                assert {"minimum", "maximum", "default"} <= set(parameter["schema"]), (
                    path
                )


@pytest.mark.parametrize("path", sorted(set(READS) - LINES))
def test_real_answers_are_as_the_document_says(client, path):
    filled = fill()
    address = path.format(**filled._asdict())
    answer = client.get(address, filled.query.get(path, {}))
    assert answer.status_code == 200, answer.content
    assert refusals(answer, READS[path]) == []


@pytest.mark.parametrize(
    ("path", "query"),
    [
        ("/api/v1/points", {"model": "x"}),
        ("/api/v1/points", {"run": "5"}),
        ("/api/v1/config-keys/{key}", {}),
        ("/api/v1/compare", {}),
    ],
)
def test_refusals_are_as_the_document_says(client, path, query):
    answer = client.get(path.format(key="none"), query)
    assert answer.status_code in {400, 404}
    assert refusals(answer, READS[path]) == []


def test_the_document_names_its_version():
    assert SCHEMA["openapi"].startswith("3.1")
    assert SCHEMA["info"]["version"] == api.version
