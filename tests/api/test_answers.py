"""What every answer has: an ETag, its packing, who may read it, one shape of error."""

# mypy: allow-untyped-calls

import gzip
import json
from typing import Any

import brotli
import pytest

from dashboard.models import Generation
from tests.api.filled import fill

pytestmark = pytest.mark.django_db

POINTS = "/api/v1/points"
SITE = "https://lab.example.org"
READS = [
    POINTS,
    "/api/v1/metrics",
    "/api/v1/evals",
    "/api/v1/skips",
    "/api/v1/runs",
    "/api/v1/config-keys",
    "/api/v1/changes",
    "/api/v1/swaps",
    "/api/v1/regressions",
]


@pytest.mark.parametrize("path", READS)
def test_an_etag_holds_until_the_data_change(client, path):
    fill()
    first = client.get(path)
    again = client.get(path, headers={"if-none-match": first["ETag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert again["ETag"] == first["ETag"]
    Generation.bump()
    later = client.get(path, headers={"if-none-match": first["ETag"]})
    assert later.status_code == 200
    assert later["ETag"] != first["ETag"]


def test_an_answer_is_asked_about_each_time_and_kept_apart_by_packing(client, settings):
    answer = client.get(POINTS)
    assert answer["Cache-Control"] == "no-cache"
    assert {"Accept", "Accept-Encoding"} <= set(answer["Vary"].split(", "))


def test_a_refusal_has_no_etag(client):
    assert "ETag" not in client.get(POINTS, {"limit": "x"})


@pytest.mark.parametrize(
    ("coding", "unpack"), [("gzip", gzip.decompress), ("br", brotli.decompress)]
)
def test_answers_are_packed_as_the_reader_takes_them(client, coding, unpack):
    fill()
    plain = client.get(POINTS)
    packed = client.get(POINTS, headers={"accept-encoding": coding})
    assert packed["Content-Encoding"] == coding
    assert json.loads(unpack(packed.content)) == plain.json()
    assert packed["ETag"] == f"W/{plain['ETag']}"
    again = client.get(
        POINTS,
        headers={"accept-encoding": coding, "if-none-match": packed["ETag"]},
    )
    assert again.status_code == 304


@pytest.mark.parametrize(
    ("coding", "unpack"), [("gzip", gzip.decompress), ("br", brotli.decompress)]
)
def test_lines_are_packed_while_they_are_sent(client, coding, unpack):
    fill()
    asked = {"format": "ndjson"}
    answer = client.get(POINTS, asked, headers={"accept-encoding": coding})
    assert answer.streaming
    assert answer["Content-Encoding"] == coding
    plain = client.get(POINTS, asked).getvalue()
    assert unpack(answer.getvalue()) == plain


def test_pages_are_packed_too(client):
    answer = client.get("/help", headers={"accept-encoding": "gzip"})
    assert answer["Content-Encoding"] == "gzip"


def test_head_is_get_without_a_body(client):
    fill()
    for path in (POINTS, f"{POINTS}?format=ndjson", "/api/v1/benchmarks"):
        head, get = client.head(path), client.get(path)
        assert head.status_code == get.status_code
        assert head.getvalue() == b""
        assert head["Content-Type"] == get["Content-Type"]


@pytest.mark.parametrize(
    "path", ["/api/v1/nothing", "/api/v1/runs/x", "/api/nothing", "/api/v1/points/"]
)
def test_an_unknown_path_is_a_404_in_json(client, path):
    answer = client.get(path)
    assert answer.status_code == 404
    error = answer.json()["error"]
    assert (error["code"], error["parameter"]) == ("not_found", "path")
    assert path in error["message"]


def test_an_unknown_method_is_a_405_that_lists_the_others(client):
    answer = client.delete(POINTS)
    assert answer.status_code == 405
    error = answer.json()["error"]
    assert error["code"] == "method_not_allowed"
    assert error["allowed"] == ["GET", "HEAD", "OPTIONS"]
    assert answer["Allow"] == "GET, HEAD, OPTIONS"


def test_options_lists_the_methods(client):
    answer = client.options("/api/v1/runs")
    assert (answer.status_code, answer.content) == (204, b"")
    assert answer["Allow"] == "GET, HEAD, OPTIONS, POST"


def test_a_body_that_is_no_json_is_refused_in_json(client):
    filled = fill()
    path = f"/api/v1/regressions/{filled.pk}"
    answer = client.patch(path, b"{", content_type="application/json")
    assert answer.status_code == 400
    assert answer.json()["error"]["parameter"] == "body"


def test_who_has_to_log_in_is_told_so_in_json(client, settings):
    settings.FRONTIERBOARD_LOGIN_REQUIRED = True
    answer = client.get(POINTS)
    assert answer.status_code == 401
    assert answer.json()["error"]["code"] == "unauthorized"


def test_answers_to_people_who_logged_in_are_private(admin_client, settings):
    settings.FRONTIERBOARD_LOGIN_REQUIRED = True
    answer = admin_client.get(POINTS)
    assert answer["Cache-Control"] == "private, no-cache"
    assert "Cookie" in answer["Vary"]


def cross(client: Any, path: str = POINTS, method: str = "get", **headers: str) -> Any:
    return getattr(client, method)(path, headers={"origin": SITE} | headers)


def test_no_other_site_may_read_unless_it_is_named(client):
    assert "Access-Control-Allow-Origin" not in cross(client)


def test_a_named_site_may_read_without_cookies(client, settings):
    settings.CORS_ALLOWED_ORIGINS = [SITE]
    answer = cross(client)
    assert answer["Access-Control-Allow-Origin"] == SITE
    assert "Access-Control-Allow-Credentials" not in answer
    assert "origin" in answer["Vary"]
    assert answer["Access-Control-Expose-Headers"] == "etag"
    assert "Access-Control-Allow-Origin" not in cross(client, "/runs")
    other = client.get(POINTS, headers={"origin": "https://elsewhere.example"})
    assert "Access-Control-Allow-Origin" not in other


def test_every_site_may_read_where_all_are_named(client, settings):
    settings.CORS_ALLOW_ALL_ORIGINS = True
    assert cross(client)["Access-Control-Allow-Origin"] == "*"


def test_another_site_may_ask_to_read_and_not_to_change(client, settings):
    settings.CORS_ALLOWED_ORIGINS = [SITE]
    asked = {"access-control-request-method": "PATCH"}
    answer = cross(client, "/api/v1/regressions/1", "options", **asked)
    assert answer["Access-Control-Allow-Methods"] == "GET, HEAD, OPTIONS"
    assert "authorization" not in answer["Access-Control-Allow-Headers"]
