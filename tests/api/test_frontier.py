"""GET /api/v1/config-keys/<key>/frontier: which sweep, which points, which reasons."""

# mypy: allow-untyped-calls

import json
from datetime import UTC, datetime

import pytest

from tests import factories

pytestmark = pytest.mark.django_db

KEY = "qwen3.5-fp4-mi355x-sglang"
PATH = f"/api/v1/config-keys/{KEY}/frontier"


def get(client, **query):
    return client.get(PATH, {"scenario": "8k/1k"} | query)


def body_of(response):
    assert response.status_code == 200, response.content
    return json.loads(response.content, parse_constant=pytest.fail)


def names(points):
    return [f"{p['deployment']} c{p['concurrency']}" for p in points]


def official(day, **fields):
    return factories.SweepFactory(
        official=True,
        run__official=True,
        run__created_at=datetime(2026, 8, day, 20, tzinfo=UTC),
        **fields,
    )


def test_points_stand_on_the_frontier_are_dominated_or_excluded(client):
    sweep = factories.SweepFactory(official=True)
    place = {"sweep": sweep}
    factories.PointFactory(**place, concurrency=4, median_intvty=90, tput_per_gpu=600)
    factories.PointFactory(**place, concurrency=8, median_intvty=40, tput_per_gpu=1100)
    factories.PointFactory(**place, concurrency=16, median_intvty=40, tput_per_gpu=900)
    factories.PointFactory(**place, concurrency=32, median_intvty=None)
    factories.PointFactory(**place, concurrency=64, median_intvty=0.0)
    factories.PointFactory(
        **place, concurrency=128, is_out=True, flags=[["littles_law", "16 x too high"]]
    )
    factories.PointFactory(**place, concurrency=256, is_current=False, is_excluded=True)
    factories.PointFactory(**place, concurrency=512, is_current=False)
    body = body_of(get(client))
    assert names(body["frontier"]) == ["TP2 c8", "TP2 c4"]
    assert names(body["dominated"]) == ["TP2 c16"]
    reasons = {e["point"]["concurrency"]: e["reason"] for e in body["excluded"]}
    assert reasons == {
        32: "median_intvty not measured",
        64: "median_intvty is not above 0",
        128: "16 x too high",
        256: "excluded by a person",
    }


def test_answer_has_every_field_of_the_shape(client):
    sweep = factories.SweepFactory(official=True)
    others = {"p42_ttft": 2.0}
    factories.PointFactory(sweep=sweep, extra={"p99_ttft": 1.0}, more_metrics=others)
    factories.EvalResultFactory(run=sweep.run, flexible=None)
    body = body_of(get(client))
    assert body["config_key"] == KEY
    assert body["scenario"] == "8k/1k"
    assert (body["x"], body["y"]) == ("median_intvty", "tput_per_gpu")
    assert body["sweep"]["run_id"] == sweep.run.github_run_id
    assert body["sweep"]["checkpoint"] == "org-a/Model-397B-FP4"
    assert body["sweep"]["image"] == "img/sglang:1"
    assert body["sweep"]["measured_at"].endswith("Z")
    (point,) = body["frontier"]
    assert (point["x"], point["y"]) == (50.0, 3156.8)
    assert point["metrics"]["p99_ttft"] == 1.0
    assert point["metrics"]["p42_ttft"] == 2.0
    assert point["topology"]["tp"] == 2
    assert "prefill_tp" not in point["topology"]
    assert point["eval"] == {
        "task": "gsm8k",
        "strict": 0.9697,
        "flexible": None,
        "n": 1319,
    }
    assert (point["run_id"], point["attempt"]) == (sweep.run.github_run_id, 1)


def test_sweep_says_where_it_stands_in_the_history(client):
    swap = {"kind": "checkpoint", "from": "org/Old", "to": "org/New"}
    base = factories.SweepFactory(official=True, state="former", segment=1)
    sweep = factories.SweepFactory(
        official=True, segment=2, breaks=[swap], is_swap=True, previous=base
    )
    factories.PointFactory(sweep=sweep)
    body = body_of(get(client))["sweep"]
    names = ("segment", "breaks", "markers", "previous_run_id")
    assert [body[n] for n in names] == [2, [swap], [], base.run.github_run_id]


def test_agentic_scenario_is_judged_by_its_tail(client):
    sweep = factories.SweepFactory(official=True, scenario="agentic-traces")
    factories.PointFactory(sweep=sweep)
    body = body_of(get(client, scenario="agentic-traces"))
    assert body["x"] == "p90_intvty"


def test_any_metric_with_a_better_direction_is_an_axis(client):
    sweep = factories.SweepFactory(official=True)
    factories.PointFactory(sweep=sweep, concurrency=4, extra={"p99_ttft": 1.0})
    factories.PointFactory(sweep=sweep, concurrency=8, extra={"p99_ttft": 2.0})
    body = body_of(get(client, x="p99_ttft"))
    assert names(body["frontier"]) == ["TP2 c4"]
    assert body["frontier"][0]["x"] == 1.0


def test_output_over_all_gpus_is_an_axis(client):
    """4,000 output tok/s of 20 decode GPUs are 166.7 over all 24."""
    deployment = factories.DeploymentFactory(
        multinode=True,
        disagg=True,
        **dict.fromkeys(["tp", "pp", "dcp", "pcp", "ep", "dp_attention"]),
        prefill_workers=1,
        prefill_tp=4,
        decode_workers=5,
        decode_tp=4,
    )
    sweep = factories.SweepFactory(official=True)
    factories.PointFactory(
        sweep=sweep,
        deployment=deployment,
        gpus=24,
        prefill_gpus=4,
        decode_gpus=20,
        tput_per_gpu=500,
        output_tput_per_gpu=200,
    )
    body = body_of(get(client, y="output_tput_per_cluster_gpu"))
    assert body["frontier"][0]["y"] == pytest.approx(166.67, abs=0.01)


def test_extensions_are_part_of_the_curve_and_name_their_run(client):
    base = factories.SweepFactory(official=True)
    extension = factories.SweepFactory(official=True, extends=base)
    factories.PointFactory(sweep=base, concurrency=4, median_intvty=90)
    factories.PointFactory(sweep=extension, concurrency=8, tput_per_gpu=9000)
    body = body_of(get(client))
    assert {p["run_id"] for p in body["frontier"]} == {
        base.run.github_run_id,
        extension.run.github_run_id,
    }
    assert body["sweep"]["run_id"] == base.run.github_run_id
    assert [s["run_id"] for s in body["extensions"]] == [extension.run.github_run_id]


def test_unofficial_and_held_sweeps_are_not_current(client):
    factories.PointFactory(sweep=factories.SweepFactory())
    factories.PointFactory(sweep=factories.SweepFactory(official=True, state="held"))
    assert get(client).status_code == 404


def test_run_shows_an_unofficial_sweep(client):
    factories.PointFactory(sweep=factories.SweepFactory(official=True))
    point = factories.PointFactory(concurrency=8)
    body = body_of(get(client, run=point.sweep.run.github_run_id))
    assert names(body["frontier"]) == ["TP2 c8"]
    assert body["sweep"]["state"] is None


def test_run_that_a_person_hid_shows_no_sweep(client):
    factories.PointFactory(sweep=factories.SweepFactory(official=True))
    hidden = factories.PointFactory(sweep__run__publication="hidden").sweep.run
    assert get(client, run=hidden.github_run_id).status_code == 404


@pytest.mark.parametrize(
    ("as_of", "expected"),
    [
        ("2026-08-03", 3),
        ("2026-08-04", 3),
        ("2026-08-09", 9),
        ("2026-08-09T19:59:59Z", 3),
        ("2026-08-09T20:00:00Z", 9),
        ("2026-08-09T20:00:00", 9),
        ("2026-08-09T21:00:00+02:00", 3),
        ("2026-09-01", 9),
    ],
)
def test_as_of_is_inclusive_and_never_held(client, as_of, expected):
    sweeps = {
        3: official(3, state="former"),
        5: official(5, state="held"),
        9: official(9),
    }
    body = body_of(get(client, as_of=as_of))
    assert body["sweep"]["run_id"] == sweeps[expected].run.github_run_id


def test_as_of_takes_only_extensions_made_until_then(client):
    base = official(3)
    official(5, extends=base)
    assert body_of(get(client, as_of="2026-08-04"))["extensions"] == []
    assert len(body_of(get(client, as_of="2026-08-05"))["extensions"]) == 1


def test_as_of_uses_the_date_of_publication(client):
    sweep = official(3)
    sweep.official_at = datetime(2026, 8, 20, tzinfo=UTC)
    sweep.save()
    assert get(client, as_of="2026-08-04").status_code == 404


def test_sweep_without_a_point_answers_with_empty_lists(client):
    factories.SweepFactory(official=True)
    body = body_of(get(client))
    assert body["frontier"] == body["dominated"] == body["excluded"] == []


@pytest.mark.parametrize(
    ("query", "status", "parameter"),
    [
        ({"scenario": ""}, 400, "scenario"),
        ({"scenario": "9k/9k"}, 400, "scenario"),
        ({"x": "nope"}, 400, "x"),
        ({"y": "duration_seconds"}, 400, "y"),
        ({"as_of": "yesterday"}, 400, "as_of"),
        ({"as_of": "2026-08-01", "run": 1}, 400, "as_of"),
        ({"as_of": "2020-01-01"}, 404, "as_of"),
        ({"run": 1}, 404, "run"),
        ({"run": "x"}, 400, "run"),
        ({"run": 10**30}, 404, "run"),
        ({"scenario": "a\x00b"}, 400, "scenario"),
        ({"as_of": "0001-01-01T00:00:00+23:00"}, 400, "as_of"),
    ],
)
def test_faults_name_their_parameter(client, query, status, parameter):
    factories.SweepFactory(official=True)
    response = get(client, **query)
    assert response.status_code == status
    error = response.json()["error"]
    assert error["parameter"] == parameter
    assert error["message"]


def test_unknown_metric_and_scenario_list_what_is_allowed(client):
    factories.SweepFactory(official=True)
    assert "tput_per_gpu" in get(client, y="nope").json()["error"]["allowed"]
    assert get(client, scenario="x").json()["error"]["allowed"] == ["8k/1k"]


@pytest.mark.parametrize("key", ["unknown", "a%00b", "a/b"])
def test_unknown_key_is_a_404(client, key):
    response = client.get(f"/api/v1/config-keys/{key}/frontier?scenario=8k/1k")
    assert response.status_code == 404
    assert response.json()["error"]["parameter"] == "key"


@pytest.mark.parametrize("size", [1, 12])
def test_queries_do_not_grow_with_points(client, django_assert_num_queries, size):
    sweep = factories.SweepFactory(official=True)
    for n in range(size):
        factories.PointFactory(sweep=sweep, concurrency=n + 1)
        factories.EvalResultFactory(run=sweep.run, concurrency=n + 1)
    with django_assert_num_queries(6):
        get(client)
