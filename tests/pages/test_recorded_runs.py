"""What the pages and the interface say of recorded runs, ingested by the pipeline."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.db import transaction
from django.test import Client

from dashboard.models import RunAttempt
from dashboard.queries.run_report import run_report
from tests.ingest import golden

NOTHING_USABLE, FAILED, CANCELLED = 31544080186, 33484262630, 33588417338
SOURCE, MERGE, TWO_ATTEMPTS = 33598359757, 33700000003, 33400000005
RUNS = (NOTHING_USABLE, FAILED, CANCELLED, SOURCE, MERGE, TWO_ATTEMPTS)


@pytest.fixture(scope="module")
def loaded(
    shared_data: Path, django_db_setup: None, django_db_blocker: Any
) -> Iterator[None]:
    """The runs ingested once for the module, and rolled back after it."""
    with django_db_blocker.unblock(), transaction.atomic():
        golden.import_masters(shared_data)
        for run_id in RUNS:
            golden.ingest(shared_data, run_id)
        yield
        transaction.set_rollback(True)


@pytest.fixture
def runs(loaded: None, db: None) -> None:
    """The runs, inside the test's own savepoint."""


def page(client: Client, run_id: int) -> str:
    return " ".join(client.get(f"/runs/{run_id}").content.decode().split())


def body(client: Client, run_id: int, query: str = "") -> dict[str, Any]:
    found: dict[str, Any] = client.get(f"/api/v1/runs/{run_id}{query}").json()
    return found


def test_run_without_a_usable_point_says_why(client: Client, runs: None) -> None:
    assert (
        "No usable throughput point: 3 rows with zero successful requests, "
        "38 of 41 jobs without a row"
    ) in page(client, NOTHING_USABLE)
    assert body(client, NOTHING_USABLE)["evals"]["received"] == 26


@pytest.mark.parametrize(
    ("run_id", "received", "planned", "word"),
    [
        (NOTHING_USABLE, 26, 41, "partly measured"),
        (SOURCE, 4, 4, "intact"),
        (TWO_ATTEMPTS, 17, 17, "intact"),
        (FAILED, 4, 4, "intact"),
        (CANCELLED, 0, 1, "not measured"),
    ],
)
def test_accuracy_is_intact_only_where_every_planned_eval_came(
    runs: None, run_id: int, received: int, planned: int, word: str
) -> None:
    report = run_report(run_id)
    assert report is not None
    found = report.accuracy
    assert (found.received, found.planned, found.word) == (received, planned, word)


def test_evals_that_left_no_score_are_said_to_be_missing(
    client: Client, runs: None
) -> None:
    assert "26 of 41 received, 15 missing;" in page(client, NOTHING_USABLE)
    listed = " ".join(client.get("/runs").content.decode().split())
    assert "26 of 41 </td>" in listed


def test_failed_run_names_its_jobs_and_missing_points(
    client: Client, runs: None
) -> None:
    found = body(client, FAILED)
    assert found["points"] == {"received": 13, "planned": 19}
    assert len(found["failed_jobs"]) == 6
    assert all("TP4" in job["name"] for job in found["failed_jobs"])
    text = page(client, FAILED)
    assert "missing: TP4 c4, c8, c16" in text
    assert "missing: TP4 mtp c4, c8, c16" in text
    assert "PR unknown" not in text
    assert "PR #2801" in text
    assert "placeholder" in text


def test_cancelled_run_shows_its_attempts_and_what_they_replaced(
    client: Client, runs: None
) -> None:
    text = page(client, CANCELLED)
    assert "cancelled, 8 missing" in text
    assert "no fixed-length results in this run" in text
    assert "11 points, 3 of them superseded by a later upload or attempt" in text
    received = [
        body(client, CANCELLED, f"?attempt={n}")["points"]["received"]
        for n in (1, 2, 3)
    ]
    assert received == [2, 3, 6]


def test_cancelled_jobs_are_no_failures_and_some_succeeded_elsewhere(
    client: Client, runs: None
) -> None:
    text = page(client, CANCELLED)
    assert '0 <span class="muted">and 11 cancelled</span>' in text
    assert "2 succeeded in another attempt" in text
    assert text.count("succeeded in attempt 1") == 1
    assert text.count("succeeded in attempt 2") == 1


def test_dropped_requests_are_counted_on_the_first_screen(
    client: Client, runs: None
) -> None:
    assert "3 request errors" in page(client, CANCELLED)


def test_every_attempt_of_every_run_has_a_page(client: Client, runs: None) -> None:
    for attempt in RunAttempt.objects.select_related("run"):
        path = f"/runs/{attempt.run.github_run_id}/attempts/{attempt.attempt}"
        assert client.get(path).status_code == 200, path


def test_merge_and_source_name_each_other(client: Client, runs: None) -> None:
    assert body(client, MERGE)["measured_in"] == SOURCE
    assert body(client, MERGE)["points"]["received"] == 0
    text = page(client, MERGE)
    assert text.count(f"measured in {SOURCE}") == 2
    assert f'The scores are those of <a href="/runs/{SOURCE}">' in text
    for path in ("/", "/runs"):
        listed = client.get(path).content.decode()
        assert listed.count(f"measured in {SOURCE}") == 2
    source = body(client, SOURCE)
    assert source["published_by"] == MERGE
    assert source["publication"] == "official"
    assert source["points"]["received"] == 13


def test_retried_job_is_no_failed_job(client: Client, runs: None) -> None:
    found = body(client, TWO_ATTEMPTS)
    assert found["points"] == {"received": 33, "planned": 33}
    assert found["failed_jobs"] == []
    assert len(body(client, TWO_ATTEMPTS, "?attempt=1")["failed_jobs"]) == 1


@pytest.mark.parametrize(
    ("query", "run_id"),
    [("", SOURCE), (f"&run={FAILED}", FAILED), ("&as_of=2026-09-03", SOURCE)],
)
def test_frontier_is_that_of_the_run_asked_for(
    client: Client, runs: None, query: str, run_id: int
) -> None:
    path = "/api/v1/config-keys/qwen3.5-fp4-mi355x-sglang/frontier"
    found = client.get(f"{path}?scenario=8k/1k{query}").json()
    assert found["sweep"]["run_id"] == run_id
    assert [p["concurrency"] for p in found["frontier"]] == [256, 128, 64, 32, 16, 8, 4]


def test_source_is_not_official_before_it_was_published(
    client: Client, runs: None
) -> None:
    path = "/api/v1/config-keys/qwen3.5-fp4-mi355x-sglang/frontier"
    found = client.get(f"{path}?scenario=8k/1k&as_of=2026-09-02")
    assert found.status_code == 404
