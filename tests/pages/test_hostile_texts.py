"""Texts that strangers wrote: inert on pages, in the chart, in files and in titles."""

import csv
import io
import json
import re
from typing import Any

import pytest

from tests.factories import IngestRequestFactory
from tests.pages.builders import curve
from tests.pages.test_inference import figure_of
from tests.pages.test_unofficial import KEY, overlaid

pytestmark = pytest.mark.django_db

HOSTILE = {
    "script": "</script><script>alert(1)</script>",
    "image": "<img src=x onerror=alert(1)>",
    "quotes": 'a"b\'c` onmouseover=alert(1) x="',
    "right to left": "\u202egpj.exe\u2066\u2069\u200f",
    "template": "{{ 7|add:7 }}{% now 'Y' %}%{x}${y}",
    "formula": '=HYPERLINK("http://example.org")',
    "lines": "a\r\nSet-Cookie: b\u2028c\td",
    "long": "x" * 10_000,
    "entities": "&lt;b&gt;&#x3c;i&#x3e;",
}
BIDI = set("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


@pytest.fixture(params=list(HOSTILE.values()), ids=list(HOSTILE))
def text(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def asked(text: str) -> Any:
    """Make a run in whose every text somebody wrote something."""
    curve(KEY)
    run = overlaid(
        run_fields={"title": text, "branch": text, "actor": text}, image=text
    )
    run.sweeps.get().points.update(image=text, flags=[["stale", text]])
    return run


def assert_inert(body: str) -> None:
    assert not BIDI & set(body)
    for markup in ("<script>alert", "<img src=x", "<b>&", "x" * 5000):
        assert markup not in body
    for tag in re.findall(r"<[a-z][^>]*>", body):
        assert "onmouseover" not in re.sub(r'"[^"]*"', "", tag)


@pytest.mark.parametrize("path", ["/inference", "/evaluation"])
def test_pages_show_it_inert(client, text, path):
    run = asked(text)
    body = client.get(f"{path}?unofficialRun={run.github_run_id}").content.decode()
    assert_inert(body)
    assert "<bdi>" in body


def test_chart_hover_and_names_are_inert(client, text):
    run = asked(text)
    figure = figure_of(client, f"?unofficialRun={run.github_run_id}")
    written = json.dumps(figure, ensure_ascii=False)
    assert_inert(written)
    # A template within a value is not filled in; within the template it would be.
    assert not any("%{x}$" in trace["hovertemplate"] for trace in figure["data"])


def test_csv_has_one_line_per_point_and_no_formula(client, text):
    run = asked(text)
    body = client.get(f"/inference.csv?unofficialRun={run.github_run_id}")
    rows = list(csv.reader(io.StringIO(body.content.decode())))
    assert len(rows) == 8
    assert not BIDI & set(body.content.decode())
    assert not any(cell.startswith(("=", "+", "@")) for row in rows for cell in row)


def test_error_of_a_fetch_is_inert(client, text):
    IngestRequestFactory(
        kind="run",
        github_run_id=5,
        repository="SemiAnalysisAI/InferenceX",
        state="failed",
        error=text,
        finished_at=curve(KEY).measured_at,
    )
    assert_inert(client.get("/inference?unofficialRun=5").content.decode())


def test_parameter_is_quoted_inert(client, text):
    for path in ("/inference", "/evaluation"):
        answer = client.get(path, {"unofficialRun": text})
        assert answer.status_code == 400
        assert_inert(answer.content.decode())
