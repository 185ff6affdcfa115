"""What the pages say of recorded runs that a link asks for."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.db import transaction
from django.test import Client

from tests.ingest import golden
from tests.pages.test_inference import figure_of, rows_of

NOTHING_USABLE, FAILED, CANCELLED = 31544080186, 33484262630, 33588417338
AGENTIC, BASELINE, SOURCE, MERGE = 31900000004, 33300000002, 33598359757, 33700000003
RUNS = (NOTHING_USABLE, AGENTIC, BASELINE, FAILED, CANCELLED, SOURCE, MERGE)


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


def page(client: Client, query: str, path: str = "/inference") -> str:
    return " ".join(client.get(f"{path}{query}").content.decode().split())


def overlay_points(client: Client, query: str) -> dict[str, int]:
    counted: dict[str, int] = {}
    for trace in figure_of(client, query)["data"]:
        if trace["meta"]["role"].startswith("overlay"):
            key = trace["meta"]["key"]
            counted[key] = counted.get(key, 0) + len(trace["x"])
    return counted


def test_failed_run_has_13_of_19_points(client: Client, runs: None) -> None:
    query = f"?unofficialRun={FAILED}"
    assert overlay_points(client, query) == {
        f"{golden.SGLANG} of run {FAILED}": 7,
        f"{golden.MTP} of run {FAILED}": 6,
    }
    text = page(client, query)
    assert "13 of 19 points" in text
    assert "failure, 6 missing" in text
    assert "4 of 4 evals passed" in text
    assert "PR" in text


@pytest.mark.parametrize("asked", [f"{MERGE}", f"{MERGE}/attempts/1"])
@pytest.mark.parametrize("path", ["/inference", "/evaluation"])
def test_banner_of_a_merge_counts_what_it_publishes(
    client: Client, runs: None, path: str, asked: str
) -> None:
    text = page(client, f"?unofficialRun={asked}", path)
    assert "13 of 13 points" in text
    assert "4 of 4 evals passed" in text
    assert "no evals" not in text


def test_cancelled_agentic_run_is_drawn_against_the_official_sweep(
    client: Client, runs: None
) -> None:
    query = f"?unofficialRun={CANCELLED}"
    chosen = client.get(f"/inference{query}").context["chosen"]
    assert (chosen.scenario, chosen.x) == ("agentic-traces", "p90_intvty")
    figure = figure_of(client, query)
    official = {t["meta"]["key"] for t in figure["data"]} & {golden.AGENTIC}
    assert official
    assert overlay_points(client, query) == {f"{golden.AGENTIC} of run {CANCELLED}": 8}
    text = page(client, query)
    assert "8 of 16 points" in text
    assert "cancelled, 8 missing" in text
    assert "attempt 3" in text
    rows = [r for r in rows_of(client, query) if r["publication"] == "unofficial"]
    place = [r for r in rows if (r["deployment"], r["concurrency"]) == PLACE]
    assert round(float(place[0]["output_tput_per_gpu_tok_s"]), 1) == 120.8
    assert round(float(place[0]["tput_per_gpu_tok_s"]), 1) == 11023.7


PLACE = ("TP2/EP2 mtp", "4")


@pytest.mark.parametrize(("attempt", "points"), [(1, 2), (2, 3), (3, 6)])
def test_each_attempt_of_it_has_its_own_points(
    client: Client, runs: None, attempt: int, points: int
) -> None:
    query = (
        "?unofficialRun=https://github.com/SemiAnalysisAI/InferenceX"
        f"/actions/runs/{CANCELLED}/attempts/{attempt}"
    )
    assert sum(overlay_points(client, query).values()) == points
    assert f"{points} of 16 points" in page(client, query)


def test_run_without_a_usable_point_says_why(client: Client, runs: None) -> None:
    text = page(client, f"?unofficialRun={NOTHING_USABLE}")
    assert (
        "No usable throughput point: 3 rows with zero successful requests, "
        "38 of 41 jobs without a row."
    ) in text
    assert "It has 26 evals" in text
    assert "agentic" in text
    scores = page(client, f"?unofficialRun={NOTHING_USABLE}", "/evaluation")
    assert "26 scores of the run of this link" in scores


@pytest.mark.parametrize("run_id", [SOURCE, MERGE])
def test_reused_run_is_official_and_drawn_once(
    client: Client, runs: None, run_id: int
) -> None:
    query = f"?unofficialRun={run_id}"
    assert overlay_points(client, query) == {}
    text = page(client, query)
    assert "Drawn once, as the official lines of" in text
    assert "13 of 13 points" in text
    source = page(client, f"?unofficialRun={SOURCE}")
    assert f'by <a href="/runs/{MERGE}">run {MERGE}</a> on 2026-09-03' in source
