"""How often a page looks for what became of the runs of its link, and at what cost."""

import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine
from django.test import Client
from django.utils import timezone

from tests.factories import IngestRequestFactory
from tests.pages.builders import curve
from tests.pages.test_unofficial import overlaid

pytestmark = pytest.mark.django_db

NOW = datetime(2026, 9, 1, 12, tzinfo=UTC)
KEY = "qwen3.5-fp4-mi355x-sglang"
PATHS = pytest.mark.parametrize("path", ["/inference", "/evaluation"])


def asked_for(run_id: int, seconds_ago: float, **changes: Any) -> None:
    fields = {
        "kind": "run",
        "github_run_id": run_id,
        "repository": "SemiAnalysisAI/InferenceX",
        "state": "running",
        "requested_at": NOW - timedelta(seconds=seconds_ago),
    }
    IngestRequestFactory(**{**fields, **changes})


def trigger(client: Client, address: str) -> str:
    """Return when the page looks again, empty where it does not."""
    with time_machine.travel(NOW, tick=False):
        text = client.get(address).content.decode()
    section = re.search(r'<section id="asked"[^>]*>', text)
    assert section is not None
    found = re.search(r'hx-trigger="([^"]*)"', section[0])
    return found[1] if found else ""


@PATHS
@pytest.mark.parametrize(
    ("seconds_ago", "expected"),
    [
        (-0.1, "load delay:200ms, every 1s"),  # the database's clock is ahead
        (0, "load delay:200ms, every 1s"),
        (0.8, "load delay:200ms, every 1s"),
        (2, "load delay:500ms, every 1s"),
        (4, "every 1s"),
        (7200, "every 1s"),
    ],
)
def test_page_looks_again_after_a_quarter_of_its_wait(
    client: Client, path: str, seconds_ago: float, expected: str
) -> None:
    asked_for(555, seconds_ago)
    assert trigger(client, f"{path}?unofficialRun=555") == expected


@PATHS
def test_youngest_of_several_runs_says_when(client: Client, path: str) -> None:
    asked_for(555, 60)
    asked_for(556, 2)
    address = f"{path}?unofficialRun=555,556"
    assert trigger(client, address) == "load delay:500ms, every 1s"


@PATHS
def test_run_that_this_page_asked_for_is_looked_for_at_once(
    client: Client, path: str
) -> None:
    assert trigger(client, f"{path}?unofficialRun=557").startswith("load delay:200ms")


@PATHS
def test_page_that_waits_for_nothing_asks_nothing(client: Client, path: str) -> None:
    asked_for(558, 1, state="failed", error="not found", finished_at=NOW)
    assert trigger(client, f"{path}?unofficialRun=558") == ""


def test_looking_reads_no_point_while_nothing_is_stored(
    client: Client, django_assert_num_queries: Any
) -> None:
    curve(KEY)
    asked_for(555, 0, requested_at=timezone.now())
    headers = {"HX-Request": "true", "HX-Target": "asked", "X-Waiting": "555"}
    with django_assert_num_queries(7) as asked:
        answer = client.get("/inference?unofficialRun=555", headers=headers)
    assert "being fetched" in answer.content.decode()
    assert not any("dashboard_point" in query["sql"] for query in asked)


def test_banner_of_a_stored_run_is_whole_while_another_is_awaited(
    client: Client,
) -> None:
    curve(KEY)
    run = overlaid(scenario="1k/1k", run_fields={"github_run_id": 444})
    asked_for(555, 0, requested_at=timezone.now())
    address = f"/inference?unofficialRun={run.github_run_id},555"
    headers = {"HX-Request": "true", "HX-Target": "asked", "X-Waiting": "555"}
    part = client.get(address, headers=headers).content.decode()
    page = client.get(address).content.decode()
    banner = part[part.index('data-run="444"') : part.index('data-run="555"')]
    assert "3 of 3 points" in banner
    assert banner in page
