"""The pages of keys over the recorded runs, ingested in the order of their time."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.db import transaction
from django.test import Client

from tests.ingest import golden
from tests.ingest.golden import AGENTIC, ATOM, MTP, SGLANG

BUMP, SOURCE = 33300000002, 33598359757
RUNS = (31900000004, 33100000001, BUMP, SOURCE, 33700000003, 33500000006, 33600000007)


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


def page(client: Client, key: str, query: str = "") -> Any:
    answer = client.get(f"/keys/{key}{query}")
    assert answer.status_code == 200
    return answer


def history(client: Client, key: str, query: str = "") -> Any:
    body = page(client, key, query).content.decode()
    found = re.search(r'<script id="history-figure"[^>]*>(.*?)</script>', body)
    assert found
    return json.loads(found.group(1))


@pytest.mark.parametrize(
    ("key", "swaps"), [(SGLANG, 1), (MTP, 1), (ATOM, 0), (AGENTIC, 0)]
)
def test_exactly_the_recorded_swaps_are_ruled(
    client: Client, runs: None, key: str, swaps: int
) -> None:
    layout = history(client, key)["layout"]
    assert len(layout["shapes"]) == len(page(client, key).context["swaps"]) == swaps
    words = [
        "swap: Qwen3.5-397B-A17B-MXFP4<br>\u2192 Qwen3.5-397B-A17B-MXFP4-AttnFP8-V2"
    ]
    assert [a["text"] for a in layout["annotations"]] == words * swaps


@pytest.mark.parametrize("key", [SGLANG, MTP])
@pytest.mark.parametrize("show", ["best", "area", "point", "evals"])
def test_no_line_joins_the_segments(
    client: Client, runs: None, key: str, show: str
) -> None:
    traces = history(client, key, f"?show={show}")["data"]
    drawn = [t for t in traces if t["meta"]["role"] in {"series", "segment"}]
    measured = [{point[1] for point in trace["customdata"]} for trace in drawn]
    before = {33100000001, BUMP}
    assert measured
    assert all(runs <= before or runs.isdisjoint(before) for runs in measured)
    assert any(runs == before for runs in measured)


@pytest.mark.parametrize("key", [SGLANG, MTP])
def test_the_image_bump_is_a_marker_of_its_run(
    client: Client, runs: None, key: str
) -> None:
    (marker,) = [
        t for t in history(client, key)["data"] if t["meta"]["label"] == "image"
    ]
    ((_, run_id, day, words),) = marker["customdata"]
    assert (run_id, day) == (BUMP, "2026-08-30")
    assert words.startswith("image changed from lmsysorg/sglang-rocm:v0.5.16")


@pytest.mark.parametrize(("key", "label"), [(SGLANG, "TP4"), (MTP, "TP4 mtp")])
def test_the_band_is_dropped_with_the_swap(
    client: Client, runs: None, key: str, label: str
) -> None:
    grid = page(client, key).context["shown"].grid
    dropped = [c for c in grid.cells if not c.is_current]
    assert [(c.deployment, c.concurrency) for c in dropped] == [
        (label, 4),
        (label, 8),
        (label, 16),
    ]
    assert all(c.by.is_swap and c.by.facts.run_id == SOURCE for c in dropped)


def test_the_reused_run_stands_at_the_merge_with_its_pull_request(
    client: Client, runs: None
) -> None:
    rows = page(client, SGLANG).context["shown"].rows
    (row,) = [r for r in rows if r.sweep.facts.run_id == SOURCE]
    assert f"{row.sweep.at:%Y-%m-%d}" == "2026-09-03"
    assert row.sweep.pull.number == 2801


def test_the_catalogue_has_the_measured_keys_first(client: Client, runs: None) -> None:
    rows = client.get("/keys").context["page"].object_list
    measured = [(r.key, r.has_swap) for r in rows if r.curve]
    assert measured == [(ATOM, False), (SGLANG, True), (AGENTIC, False), (MTP, True)]
    assert [r.curve is None for r in rows[:5]] == [False] * 4 + [True]
