"""Points as pages and as lines: whose they are, what they say, where a page ends."""

# mypy: allow-untyped-calls

import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.db import connection

from dashboard.models import Generation, Point, Sweep
from tests import factories
from tests.api.filled import KEY, day, fill, measure, official

pytestmark = pytest.mark.django_db
PATH = "/api/v1/points"


def get(client: Any, **query: Any) -> Any:
    answer = client.get(PATH, query)
    assert answer.status_code == 200, answer.content
    return json.loads(answer.content, parse_constant=pytest.fail)


def fault(client: Any, **query: Any) -> Any:
    answer = client.get(PATH, query)
    assert answer.status_code in {400, 404}, answer.content
    return answer.json()["error"]


def lines(client: Any, **query: Any) -> list[Any]:
    answer = client.get(PATH, {"format": "ndjson"} | query)
    assert answer["Content-Type"] == "application/x-ndjson"
    return [json.loads(line) for line in answer.getvalue().splitlines()]


def test_official_points_that_count_are_given_unless_others_are_asked_for(client):
    filled = fill()
    states = {p["state"] for p in get(client)["points"]}
    assert states == {"current", "former"}
    assert {p["publication"] for p in get(client)["points"]} == {"official"}
    others = get(client, publication="unofficial")["points"]
    assert {(p["run_id"], p["state"]) for p in others} == {(filled.other_run_id, None)}
    of_run = get(client, run=filled.other_run_id)["points"]
    assert of_run == others
    assert {p["state"] for p in get(client, state="held")["points"]} == {"held"}


def test_current_and_as_of_ask_for_one_sweep_of_a_key(client):
    filled = fill()
    assert {p["run_id"] for p in get(client, current=True)["points"]} == {filled.run_id}
    (then,) = {p["run_id"] for p in get(client, as_of="2026-08-04")["points"]}
    assert then != filled.run_id
    assert get(client, as_of="2026-08-01")["points"] == []


def test_days_are_inclusive(client):
    fill()
    assert len(get(client, **{"from": "2026-08-09", "to": "2026-08-09"})["points"]) == 3
    assert get(client, **{"from": "2026-08-10"})["points"] == []


def test_a_point_says_where_it_comes_from(client):
    filled = fill()
    point = get(client, current=True)["points"][0]
    said = {
        "config_key": KEY,
        "scenario": "8k/1k",
        "run_id": filled.run_id,
        "attempt": 1,
        "publication": "official",
        "state": "current",
        "segment": 2,
        "checkpoint": "org-a/Model-397B-FP4",
        "image": "img/sglang:1",
        "provenance": "artifacts",
        "deployment": "TP2",
        "measured_at": "2026-08-09T20:00:00Z",
        "official_at": "2026-08-09T20:00:00Z",
        "flags": [],
    }
    assert {name: point[name] for name in said} == said
    assert point["topology"]["tp"] == 2


def test_a_metric_has_its_unit_in_its_name_and_missing_is_null_not_zero(client):
    sweep = official(3)
    factories.PointFactory(sweep=sweep, concurrency=1, median_ttft=0.3, p90_ttft=None)
    factories.PointFactory(sweep=sweep, concurrency=2, extra={"p99_ttft": 0.0})
    one, two = (p["metrics"] for p in get(client)["points"])
    assert one["median_ttft_s"] == 0.3
    assert one["p90_ttft_s"] is None
    assert "p99_ttft_s" not in one
    assert two["p99_ttft_s"] == 0.0
    asked = get(client, metrics="p99_ttft,tput_per_gpu_tok_s")["points"]
    assert [p["metrics"] for p in asked] == [
        {"p99_ttft_s": None, "tput_per_gpu_tok_s": 3156.8},
        {"p99_ttft_s": 0.0, "tput_per_gpu_tok_s": 3156.8},
    ]


def test_metrics_that_the_registry_does_not_know_are_given_by_their_name(client):
    others = {"p42_ttft": 0.25}
    factories.PointFactory(sweep=official(3), metrics={}, more_metrics=others)
    (point,) = get(client)["points"]
    assert point["metrics"]["p42_ttft"] == 0.25


@pytest.mark.parametrize("large", [1e20, 1.7e308])
def test_a_metric_beyond_the_integers_of_json_hides_no_point(client, large):
    sweep = official(3)
    factories.PointFactory(sweep=sweep, more_metrics={"p42_ttft": large})
    factories.PointFactory(sweep=sweep, concurrency=8)
    for points in (get(client)["points"], lines(client)):
        assert [p["metrics"].get("p42_ttft") for p in points] == [large, None]
    stored = Point.objects.order_by("pk").first()
    assert stored is not None
    assert type(stored.all_metrics["p42_ttft"]) is float


def test_derived_metrics_are_given_where_they_are_asked_for(client):
    sweep = official(3)
    shape = factories.DeploymentFactory(
        multinode=True,
        disagg=True,
        **dict.fromkeys(["tp", "pp", "dcp", "pcp", "ep", "dp_attention"]),
        prefill_workers=1,
        prefill_tp=4,
        decode_workers=5,
        decode_tp=4,
    )
    factories.PointFactory(
        sweep=sweep,
        deployment=shape,
        gpus=24,
        prefill_gpus=4,
        decode_gpus=20,
        output_tput_per_gpu=200,
    )
    (point,) = get(client, metrics="output_tput_per_cluster_gpu")["points"]
    (value,) = point["metrics"].values()
    assert value == pytest.approx(166.67, abs=0.01)


def test_pages_hold_every_point_once_whatever_is_stored_meanwhile(client):
    first = official(3, state="former", segment=1)
    second = official(9)
    expected = [p.pk for sweep in (first, second) for p in measure(sweep)]
    seen = list[int]()
    cursor: Any = ""
    while cursor is not None:
        page = get(client, limit=2, cursor=cursor)
        seen += [p["id"] for p in page["points"]]
        cursor = page["next_cursor"]
        factories.PointFactory(sweep=first, concurrency=1000 + len(seen))
    assert [pk for pk in seen if pk in expected] == expected
    assert len(seen) == len(set(seen))


def test_lines_are_the_same_points_as_pages(client):
    fill()
    assert lines(client) == get(client)["points"]
    answer = client.get(PATH, headers={"accept": "application/x-ndjson"})
    assert answer["Content-Type"] == "application/x-ndjson"
    assert "Accept" in answer["Vary"]


def test_lines_and_json_of_one_address_have_an_etag_each(client):
    fill()
    asked = (
        client.get(PATH),
        client.get(PATH, headers={"accept": "application/x-ndjson"}),
    )
    as_json, as_lines = (answer["ETag"] for answer in asked)
    assert as_json != as_lines


def test_superseded_points_are_those_of_an_attempt(client):
    sweep = official(3)
    factories.PointFactory(sweep=sweep, attempt=1, is_current=False)
    factories.PointFactory(sweep=sweep, attempt=2)
    run_id = sweep.run.github_run_id
    assert [p["attempt"] for p in get(client, run=run_id)["points"]] == [2]
    (old,) = get(client, run=run_id, attempt=1)["points"]
    assert (old["attempt"], old["is_current"]) == (1, False)


def test_a_run_that_publishes_another_shows_what_that_measured(client):
    source = official(3)
    measure(source)
    merge = factories.RunFactory(
        official=True, reuse_source_run_id=source.run.github_run_id
    )
    found = get(client, run=merge.github_run_id)["points"]
    assert {p["run_id"] for p in found} == {source.run.github_run_id}


def test_hidden_runs_have_no_points(client):
    sweep = factories.SweepFactory(run__publication="hidden", run__created_at=day(3))
    measure(sweep)
    assert (
        get(client)["points"] == get(client, publication="unofficial")["points"] == []
    )
    error = fault(client, run=sweep.run.github_run_id)
    assert (error["code"], error["parameter"]) == ("not_found", "run")


@pytest.mark.parametrize(
    ("query", "parameter", "allowed"),
    [
        ({"model": "gpt-9"}, "model", "qwen3.5"),
        ({"scenario": "9k/9k"}, "scenario", "8k/1k"),
        ({"hardware": "x\0"}, "hardware", "mi355x"),
        ({"framework": "x"}, "framework", "sglang"),
        ({"precision": "fp3"}, "precision", "fp4"),
        ({"key": "qwen3.5-fp4-mi355x-sglan"}, "key", KEY),
        ({"key": "a\0"}, "key", None),
        ({"metrics": "p99_tftt"}, "metrics", "p99_ttft"),
        ({"format": "xml"}, "format", None),
        ({"limit": 0}, "limit", ">= 1"),
        ({"limit": 1001}, "limit", "<= 1000"),
        ({"cursor": "x"}, "cursor", None),
        ({"cursor": "é"}, "cursor", None),
        ({"cursor": "W10"}, "cursor", None),
        ({"run": "x"}, "run", None),
        ({"attempt": 1}, "attempt", None),
        ({"run": 1, "publication": "official"}, "publication", None),
        ({"run": 1, "current": True}, "current", None),
        ({"publication": "unofficial", "as_of": "2026-08-01"}, "as_of", None),
        ({"current": True, "as_of": "2026-08-01"}, "as_of", None),
        ({"as_of": "yesterday"}, "as_of", "2026-08-01"),
        ({"from": "2026-13-01"}, "from", "YYYY-MM-DD, such as 2026-08-01"),
        ({"from": "2026-08-02", "to": "2026-08-01"}, "to", None),
        ({"modelx": "qwen3.5"}, "modelx", "model"),
        ({"price": "mi355x"}, "price", "mi355x:1.85,b200:2"),
    ],
)
def test_bad_input_is_named_with_what_is_allowed(client, query, parameter, allowed):
    fill()
    error = fault(client, **query)
    assert error["parameter"] == parameter
    assert error["code"] in {"invalid_parameter", "unknown_parameter"}
    assert error["message"]
    assert allowed is None or allowed in error["allowed"]


def test_a_cursor_belongs_to_its_filters(client):
    fill()
    cursor = get(client, limit=1)["next_cursor"]
    assert fault(client, cursor=cursor, scenario="8k/1k")["parameter"] == "cursor"


@pytest.mark.parametrize("size", [1, 12])
def test_queries_do_not_grow_with_points(client, django_assert_num_queries, size):
    for number in range(size):
        key = factories.ConfigKeyFactory(key=f"key-{number}")
        measure(official(3, config_key=key))
    Generation.bump()
    # Generation, points, sweeps, topologies; begin and end of a transaction.
    with django_assert_num_queries(6):
        assert len(get(client)["points"]) == 3 * size


@pytest.mark.django_db(transaction=True)
def test_lines_are_read_through_a_cursor_some_at_a_time(client, monkeypatch):
    """No answer holds more than a block: the first is sent before the last is read."""
    from dashboard.queries import point_pages  # noqa: PLC0415

    monkeypatch.setattr(point_pages, "AT_ONCE", 2)
    measure(official(3))
    pieces = iter(client.get(PATH, {"format": "ndjson"}).streaming_content)
    first = next(pieces)
    Point.objects.filter(concurrency=16).update(is_current=False)
    assert first.count(b"\n") == 2
    assert b"".join(pieces).count(b"\n") == 1  # as they were when it began


@pytest.mark.django_db(transaction=True)
def test_lines_name_sweeps_that_went_while_they_were_sent(client, monkeypatch):
    from dashboard.queries import point_pages  # noqa: PLC0415

    monkeypatch.setattr(point_pages, "AT_ONCE", 2)
    measure(official(3))
    pieces = iter(client.get(PATH, {"format": "ndjson"}).streaming_content)
    assert next(pieces).count(b"\n") == 2
    with ThreadPoolExecutor(1) as another:
        another.submit(forget_sweeps).result()
    assert b"".join(pieces).count(b"\n") == 1


def forget_sweeps():
    Sweep.objects.all().delete()
    connection.close()
