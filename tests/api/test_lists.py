"""Evals, samples, skips, runs, keys, histories, requests, comparisons and metrics."""

# mypy: allow-untyped-calls

import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from typing import Any

import orjson
import pytest

from dashboard.vocabulary.inputs import LARGEST_ID
from dashboard.vocabulary.metrics import METRICS
from tests import factories
from tests.api.filled import KEY, SWAP, fill, measure, official

pytestmark = pytest.mark.django_db


def get(client: Any, path: str, **query: Any) -> Any:
    answer = client.get(f"/api/v1/{path}", query)
    assert answer.status_code == 200, answer.content
    return json.loads(answer.content, parse_constant=pytest.fail)


def fault(client: Any, path: str, **query: Any) -> Any:
    answer = client.get(f"/api/v1/{path}", query)
    assert answer.status_code in {400, 404}, answer.content
    return {"status": answer.status_code, **answer.json()["error"]}


def walk(client: Any, path: str, name: str, **query: Any) -> list[Any]:
    """Read all pages, a row each."""
    rows = list[Any]()
    cursor: Any = ""
    while cursor is not None:
        page = get(client, path, limit=1, cursor=cursor, **query)
        rows += page[name]
        cursor = page["next_cursor"]
    return rows


def test_the_registry_says_unit_and_direction_of_every_metric(client):
    found = {row["name"]: row for row in get(client, "metrics")}
    assert set(found) == set(METRICS)
    ttft = found["median_ttft"]
    assert (ttft["column"], ttft["unit"], ttft["direction"]) == (
        "median_ttft_s",
        "s",
        "lower",
    )
    assert found["tput_per_gpu"]["direction"] == "higher"
    assert found["duration_seconds"]["is_axis"] is False


@pytest.mark.parametrize(
    ("path", "parameter"),
    [
        (f"config-keys/{KEY}/frontier?scenario=8k/1k&y=x", "y"),
        (f"config-keys/{KEY}/history?scenario=8k/1k&metric=x", "metric"),
        ("points?metrics=x", "metrics"),
    ],
)
def test_an_unknown_metric_is_refused_with_the_registry(client, path, parameter):
    fill()
    error = fault(client, path)
    assert (error["status"], error["parameter"]) == (400, parameter)
    assert "tput_per_gpu" in error["allowed"]


def test_evals_say_floor_and_outcome_and_where_their_documents_are(client):
    filled = fill()
    (row,) = get(client, "evals")["evals"]
    said = {"id": filled.eval_id, "task": "gsm8k", "strict": 0.9697, "n": 1319}
    assert {name: row[name] for name in said} == said
    assert row["outcome"] == "pass"
    assert row["low"] < row["score"] < row["high"]
    assert row["state"] == "current"
    samples = get(client, row["samples"].removeprefix("/api/v1/"))
    assert [s["doc_id"] for s in samples["samples"]] == [0, 1, 2]
    assert samples["next_cursor"] is None


def test_unofficial_evals_are_those_of_a_run_or_of_the_unofficial_record(client):
    filled = fill()
    by_run = get(client, "evals", run=filled.other_run_id)["evals"]
    assert [row["publication"] for row in by_run] == ["unofficial"]
    assert get(client, "evals", publication="unofficial")["evals"] == by_run


def test_documents_come_page_by_page_and_narrowed(client):
    filled = fill()
    path = f"evals/{filled.eval_id}/samples"
    factories.EvalSampleFactory(eval_id=filled.eval_id, doc_id=9, passed=False)
    assert [s["doc_id"] for s in walk(client, path, "samples")] == [0, 1, 2, 9]
    assert [s["doc_id"] for s in walk(client, path, "samples", failed=True)] == [9]
    assert fault(client, "evals/999999/samples")["status"] == 404


def test_skips_are_all_listed(client):
    filled = fill()
    run = factories.SkipFactory(reason="unknown_hardware").run
    assert len(walk(client, "skips", "skips")) == 2
    (one,) = get(client, "skips", run=run.github_run_id)["skips"]
    assert (one["run_id"], one["reason"]) == (run.github_run_id, "unknown_hardware")
    assert get(client, "skips", run=filled.run_id)["skips"][0]["detail"]
    error = fault(client, "skips", reason="x")
    assert error["allowed"] == ["failed_run", "unknown_hardware"]


def test_a_cursor_past_the_end_of_the_calendar_is_before_all_runs(client):
    fill()
    first = get(client, "runs", limit=1)
    digest, *_ = orjson.loads(urlsafe_b64decode(first["next_cursor"] + "=="))
    text = orjson.dumps([digest, LARGEST_ID, 1])
    far = get(client, "runs", limit=1, cursor=urlsafe_b64encode(text).decode())
    assert far["runs"] == first["runs"]


def test_runs_come_newest_first_and_each_once(client):
    fill()
    factories.RunFactory(publication="hidden")
    days = [run["created_at"] for run in walk(client, "runs", "runs")]
    assert len(days) == 4
    assert days == sorted(days, reverse=True)
    (held,) = get(client, "runs", publication="held")["runs"]
    assert held["publication"] == "held"


def test_keys_are_listed_with_what_they_hold_today(client):
    filled = fill()
    factories.ConfigKeyFactory(key="a-key-without-sweep")
    listed = walk(client, "config-keys", "config_keys")
    assert [key["config_key"] for key in listed] == ["a-key-without-sweep", KEY]
    (held,) = listed[1]["scenarios"]
    assert held["current"]["run_id"] == filled.run_id
    assert (held["has_swap"], held["evals_passed"]) == (True, 1)
    assert get(client, "config-keys", q="nothing")["config_keys"] == []
    one = get(client, f"config-keys/{KEY}")
    assert one["measured_scenarios"] == ["8k/1k"]
    assert one["definition"]["checkpoint"] == "org-a/Model-397B-FP4"


def test_an_unknown_key_names_the_nearest(client):
    fill()
    for path in (f"config-keys/{KEY}x", f"config-keys/{KEY}x/history"):
        error = fault(client, path)
        assert (error["status"], error["parameter"]) == (404, "key")
        assert error["allowed"] == [KEY]


def test_a_history_has_breaks_and_best_values_by_the_step_rule(client):
    fill()
    body = get(client, f"config-keys/{KEY}/history", at="50,95", metric="tput_per_gpu")
    assert (body["column"], body["x"]) == ("tput_per_gpu_tok_s", "median_intvty")
    former, current, held = body["sweeps"]
    assert [s["state"] for s in body["sweeps"]] == ["former", "current", "held"]
    assert former["values"] == [
        {"target": 50.0, "value": 900.0, "where": "TP2 c8"},
        {"target": 95.0, "value": None, "where": None},
    ]
    assert current["breaks"] == [SWAP]
    assert (current["segment"], current["is_swap"]) == (2, True)
    assert held["segment"] is None


def test_a_history_of_a_place_is_one_metric_there(client):
    fill()
    body = get(
        client,
        f"config-keys/{KEY}/history",
        metric="median_intvty",
        deployment="TP2",
        concurrency=8,
    )
    assert [s["values"][0]["value"] for s in body["sweeps"]] == [60.0, 60.0, 60.0]
    assert body["x"] is None


@pytest.mark.parametrize(
    ("query", "parameter"),
    [
        ({"at": "x"}, "at"),
        ({"at": "-1"}, "at"),
        ({"scenario": "x"}, "scenario"),
        ({"deployment": "TP2"}, "concurrency"),
        ({"concurrency": 8}, "deployment"),
        ({"x": "duration_seconds"}, "x"),
        ({"x": "median_ttft"}, "at"),
        ({"metric": "duration_seconds"}, "metric"),
        ({"from": "2026-08-09", "to": "2026-08-01"}, "to"),
        ({"limit": 5000}, "limit"),
    ],
)
def test_a_history_refuses_what_it_cannot_read(client, query, parameter):
    fill()
    error = fault(client, f"config-keys/{KEY}/history", **query)
    assert (error["status"], error["parameter"]) == (400, parameter)


def test_a_history_is_cut_at_its_days_and_limit(client):
    fill()
    path = f"config-keys/{KEY}/history"
    body = get(client, path, **{"from": "2026-08-04"})
    assert [s["state"] for s in body["sweeps"]] == ["current", "held"]
    body = get(client, path, limit=1)
    assert (body["total"], [s["state"] for s in body["sweeps"]]) == (3, ["held"])


def test_two_runs_are_compared_as_the_page_does(client):
    filled = fill()
    body = get(client, "compare", base=filled.run_id, head=filled.other_run_id)
    (verdict,) = body["verdicts"]
    assert verdict["config_key"] == KEY
    assert verdict["like_for_like"]["change"] == pytest.approx(-0.27, abs=0.01)
    assert body["head"] == {
        "run_id": filled.other_run_id,
        "attempt": None,
        "measured_in": filled.other_run_id,
        "publication": "unofficial",
    }
    attempt = get(
        client, "compare", base=filled.run_id, head=f"{filled.other_run_id}/attempts/1"
    )
    assert attempt["head"]["attempt"] == 1


def test_what_only_one_run_measured_is_listed(client):
    filled = fill()
    other = official(20, config_key__key="another-key")
    measure(other)
    body = get(client, "compare", base=filled.run_id, head=other.run.github_run_id)
    assert body["verdicts"] == []
    assert body["only_base"] == [{"config_key": KEY, "scenario": "8k/1k"}]
    assert body["only_head"] == [{"config_key": "another-key", "scenario": "8k/1k"}]


@pytest.mark.parametrize(
    ("query", "status", "parameter"),
    [
        ({}, 400, "base"),
        ({"head": ""}, 400, "head"),
        ({"head": "x"}, 400, "head"),
        ({"head": 123}, 404, "head"),
        ({"head_attempt": "x"}, 400, "head_attempt"),
        ({"key": "x"}, 400, "key"),
        ({"scenario": "x"}, 400, "scenario"),
        ({"sort": "worst"}, 400, "sort"),
    ],
)
def test_a_comparison_names_what_it_lacks(client, query, status, parameter):
    filled = fill()
    known = {"base": filled.run_id, "head": filled.other_run_id} if query else {}
    error = fault(client, "compare", **known | query)
    assert (error["status"], error["parameter"]) == (status, parameter)


def test_a_run_is_not_compared_with_itself(client):
    filled = fill()
    error = fault(client, "compare", base=filled.run_id, head=filled.run_id)
    assert (error["status"], error["parameter"]) == (400, "head")


def test_requests_come_newest_first_and_are_never_kept(client):
    fill()
    newest = factories.IngestRequestFactory(state="done", github_run_id=5)
    found = walk(client, "requests", "requests")
    assert len(found) == 2
    assert found[0]["id"] == newest.pk
    assert len(get(client, "requests", state="done")["requests"]) == 1
    answer = client.get("/api/v1/requests")
    assert "ETag" not in answer
    assert "no-store" in answer["Cache-Control"]
