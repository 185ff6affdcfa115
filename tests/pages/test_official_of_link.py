"""Runs of a link that are official by now: drawn once, and told from the record."""

import csv
import io
import re
from datetime import UTC, datetime
from typing import Any

import pytest
from django.test import Client

from tests.factories import (
    ConfigKeyFactory,
    EvalResultFactory,
    RunFactory,
    SweepFactory,
)
from tests.pages.builders import add_points, curve, official_sweep

pytestmark = pytest.mark.django_db

KEY, OTHER = "qwen3.5-fp4-mi355x-sglang", "qwen3.5-fp4-b200-sglang"
SIGN = "run of this link</span>"
POINTS = [(4, 190.0, 320.0), (16, 130.0, 950.0)]


def body(client: Client, path: str) -> str:
    return " ".join(client.get(path).content.decode().split())


def marked(page: str) -> list[bool]:
    """Tell of each row of a table, in order, whether it has the sign of the link."""
    rows: list[str] = re.findall(r"<tr data-point=.*?</tr>", page)
    return [SIGN in row for row in rows]


def told(client: Client, path: str) -> list[tuple[str, str]]:
    rows = csv.DictReader(io.StringIO(client.get(path).content.decode()))
    return [(row["run_id"], row["run_of_link"]) for row in rows]


def test_points_of_an_official_run_of_the_link_come_first_with_a_sign(client: Client):
    first = curve(OTHER)
    asked = curve(KEY)
    run_id = asked.run.github_run_id
    page = body(client, f"/inference?unofficialRun={run_id}")
    assert marked(page) == [True] * 4 + [False] * 4
    assert f'The 4 points with the sign <span class="badge badge-asked">{SIGN}' in page
    assert told(client, f"/inference.csv?unofficialRun={run_id}") == [
        *[(str(run_id), "True")] * 4,
        *[(str(first.run.github_run_id), "False")] * 4,
    ]
    plain = body(client, "/inference")
    assert marked(plain) == [False] * 8
    assert SIGN not in plain


def test_the_sign_stays_first_under_any_order(client: Client):
    curve(OTHER)
    asked = curve(KEY)
    query = f"?unofficialRun={asked.run.github_run_id}&sort=config_key"
    answer = client.get(f"/inference{query}")
    keys = [row.point["config_key"] for row in answer.context["rows"]]
    assert keys == [KEY] * 4 + [OTHER] * 4


def test_a_merge_marks_what_its_source_measured(client: Client):
    source = official_sweep(KEY)
    add_points(source, POINTS)
    merge = RunFactory(official=True, reuse_source_run_id=source.run.github_run_id)
    page = body(client, f"/inference?unofficialRun={merge.github_run_id}")
    assert marked(page) == [True] * 2


def test_only_points_of_the_attempt_that_was_asked_for_have_the_sign(client: Client):
    asked = official_sweep(KEY)
    add_points(asked, POINTS)
    asked.points.filter(concurrency=16).update(attempt=2)
    answer = client.get(
        f"/inference?unofficialRun={asked.run.github_run_id}/attempts/2"
    )
    rows = answer.context["rows"]
    assert [(r.point["concurrency"], r.is_asked) for r in rows] == [
        (16, True),
        (4, False),
    ]


def former_and_current() -> tuple[Any, Any]:
    former = SweepFactory(
        config_key=ConfigKeyFactory(key=KEY),
        run=RunFactory(official=True),
        state="former",
        official_at=datetime(2026, 7, 1, tzinfo=UTC),
    )
    add_points(former, POINTS)
    return former, curve(KEY)


def test_rows_of_a_former_official_run_have_the_sign_beside_official(client: Client):
    former, current = former_and_current()
    run_id = former.run.github_run_id
    page = body(client, f"/inference?unofficialRun={run_id}")
    assert marked(page) == [True] * 2 + [False] * 4
    assert told(client, f"/inference.csv?unofficialRun={run_id}") == [
        *[(str(run_id), "True")] * 2,
        *[(str(current.run.github_run_id), "False")] * 4,
    ]


def test_scores_of_an_official_run_of_the_link_have_the_sign(client: Client):
    known = EvalResultFactory(run=RunFactory(official=True))
    other = EvalResultFactory(
        run=RunFactory(official=True), config_key=ConfigKeyFactory(key=OTHER)
    )
    run_id = known.run.github_run_id
    page = body(client, f"/evaluation?unofficialRun={run_id}")
    assert marked(page) == [True, False]
    assert told(client, f"/evaluation.csv?unofficialRun={run_id}") == [
        (str(run_id), "True"),
        (str(other.run.github_run_id), "False"),
    ]
    answer = client.get(f"/evaluation.json?unofficialRun={run_id}").json()
    assert [row["run_of_link"] for row in answer["rows"]] == [True, False]
    assert marked(body(client, "/evaluation")) == [False, False]
