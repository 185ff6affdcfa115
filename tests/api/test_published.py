"""The official dashboard's paths: its shapes, whatever the rows come from."""

# mypy: allow-untyped-calls

import gzip
import json
from typing import Any

import pytest
from django.test import Client

from dashboard.models import Run
from ingest.pipeline import derive_run
from tests import factories
from tests.pipeline.bundles import (
    busy_row,
    changelog,
    disagg_row,
    eval_row,
    results,
    row,
    run_object,
)
from tests.pipeline.conftest import Desk
from tests.published import MODEL, import_folder, past_point, point, score, write

pytestmark = pytest.mark.django_db

NEWEST = "/api/v1/benchmarks"
HISTORY = "/api/v1/benchmarks/history"
UNOFFICIAL = "/api/unofficial-run"
DAY = "2026-08-01"


@pytest.fixture
def desk(tmp_path: Any) -> Desk:
    return Desk(tmp_path)


@pytest.fixture
def folder(tmp_path: Any) -> Any:
    return tmp_path / "published"


def rows_of(client: Client, path: str, **query: Any) -> Any:
    response: Any = client.get(path, query)
    assert response.status_code == 200, response.content
    return json.loads(response.getvalue(), parse_constant=pytest.fail)


def newest(client: Client, **query: Any) -> Any:
    return rows_of(client, NEWEST, model=MODEL, **query)


def fault(client: Client, path: str, **query: Any) -> Any:
    response = client.get(path, query)
    assert response.status_code == 400, response.content
    return json.loads(response.content)["error"]


def test_a_measured_point_has_the_official_shape(client, desk):
    url = "https://github.com/o/r/actions/runs/90001"
    desk.ingest(run_object(html_url=url), results(row()))
    (found,) = newest(client)
    metrics = found.pop("metrics")
    assert found.keys() | {"metrics"} == point().keys()
    assert found == {
        **{name: value for name, value in point().items() if name != "metrics"},
        "run_url": f"{url}/attempts/1",
    }
    assert metrics["median_ttft"] == 0.3
    assert "p90_ttft" not in metrics


def test_metrics_that_the_registry_does_not_know_are_given(client, desk):
    desk.ingest(run_object(), results(row(p42_ttft=0.25)))
    found = newest(client) + rows_of(client, UNOFFICIAL, runId=90001)["benchmarks"]
    assert [each["metrics"]["p42_ttft"] for each in found] == [0.25, 0.25]


def test_per_gpu_rates_of_roles_are_given_with_the_gpus_of_their_role(client, desk):
    desk.ingest(run_object(), results(disagg_row()))
    (found,) = newest(client)
    metrics, counts = (
        found["metrics"],
        (found["num_prefill_gpu"], found["num_decode_gpu"]),
    )
    assert counts == (4, 20)
    assert (found["disagg"], found["is_multinode"]) == (True, True)
    assert (found["prefill_num_workers"], found["decode_num_workers"]) == (1, 5)
    of_roles = 2000.0 * 4 + metrics["output_tput_per_gpu"] * 20
    assert of_roles == metrics["tput_per_gpu"] * sum(counts)


def test_a_measured_point_that_cannot_be_true_is_not_given(client, desk):
    inflated = row(tp=16, output_tput_per_gpu=3156.8, tput_per_gpu=6313.7)
    desk.ingest(run_object(), results(inflated))
    assert newest(client) == []


def test_values_without_a_meaning_are_left_out_and_never_zero(client, desk):
    odd = busy_row(1, median_tpot=0, median_intvty=float("inf"), std_intvty=1000.0)
    del odd["p99_ttft"]
    desk.ingest(run_object(), results(odd))
    for path in (NEWEST, HISTORY):
        (found,) = rows_of(client, path, model=MODEL)
        assert found["metrics"]["tput_per_gpu"] == 100.0
        absent = {"median_intvty", "std_intvty", "p99_ttft"}
        assert absent.isdisjoint(found["metrics"])


def test_units_are_seconds_as_the_official_dashboard_has_them(client, desk):
    desk.ingest(run_object(), results(row()))
    (found,) = rows_of(client, HISTORY, model=MODEL, isl=1024, osl=1024)
    assert found["metrics"]["median_ttft"] == 0.3
    assert found["metrics"]["median_e2el"] == 20.76
    assert "image" not in found


def two_days(folder: Any) -> None:
    old = point(4, run=90001, date="2026-07-01", metrics={"tput_per_gpu": 1.0})
    import_folder(
        write(folder, benchmarks=[old, point(4, run=90002), point(8, run=90002)])
    )


@pytest.mark.parametrize(
    ("query", "runs"),
    [
        ({}, [90002, 90002]),
        ({"date": "2026-07-31"}, [90001]),
        ({"date": DAY}, [90002, 90002]),
        ({"date": "2026-07-01", "exact": "true"}, [90001]),
        ({"date": "2026-07-02", "exact": "true"}, []),
        ({"date": "9999-12-31"}, [90002, 90002]),
        ({"runId": 90001}, [90001]),
        ({"runId": 7}, []),
    ],
)
def test_newest_rows_are_those_of_a_day_or_a_run(client, folder, query, runs):
    two_days(folder)
    found = [int(r["run_url"].split("/")[-3]) for r in newest(client, **query)]
    assert found == runs


def test_what_only_the_history_holds_is_newest_of_its_day_alone(client, folder):
    import_folder(
        write(folder, benchmarks=[point(4)], benchmarks_history=[past_point(8)])
    )
    assert [r["conc"] for r in newest(client)] == [4]
    by_day = newest(client, date=DAY)
    assert sorted((r["conc"], r["image"]) for r in by_day) == [
        (4, "img/sglang:1"),
        (8, None),
    ]


def test_one_configuration_under_two_names_of_a_framework_is_one(client, folder):
    names = [("sglang-disagg", 90001), ("mori-sglang", 90002)]
    rows = [point(4, run=run, framework=name, disagg=True) for name, run in names]
    import_folder(write(folder, benchmarks=rows))
    assert [r["framework"] for r in newest(client)] == ["mori-sglang"]


@pytest.mark.parametrize("action", ["hide", "hold", "exclude"])
def test_what_a_person_took_out_is_not_given(client, folder, action):
    import_folder(write(folder, benchmarks=[point()]))
    assert len(newest(client)) == 1
    run = Run.objects.get()
    factories.CorrectionFactory(run=run, action=action)
    derive_run(run)
    assert newest(client) == []


def test_unofficial_runs_are_answered_by_their_ids_alone(client, desk):
    unofficial = run_object(event="pull_request", head_branch="x")
    evals = {"eval_results_all": {"agg_eval_all.json": [eval_row()]}}
    desk.ingest(unofficial, results(row()) | evals)
    assert newest(client) == []
    assert rows_of(client, "/api/v1/evaluations") == []
    body = rows_of(client, "/api/unofficial-run", runId="90001, 90001")
    (info,), (found,), (scored,) = (
        body["runInfos"],
        body["benchmarks"],
        body["evaluations"],
    )
    assert (info["id"], info["isNonMainBranch"]) == (90001, True)
    assert (found["id"], found["benchmark_type"], found["offload_mode"]) == (
        0,
        "single_turn",
        "off",
    )
    assert (scored["id"], scored["config_id"], scored["task"]) == (-1, 1, "gsm8k")
    assert scored["metrics"]["em_strict"] == 0.9697
    assert body["missing"] == []


def test_one_bad_id_takes_no_other_run_away(client, desk):
    desk.ingest(run_object(), results(row()))
    body = rows_of(client, "/api/unofficial-run", runId="90001,7,abc")
    assert [info["id"] for info in body["runInfos"]] == [90001]
    assert [(m["runId"], m["reason"].partition(";")[0]) for m in body["missing"]] == [
        ("7", "Run 7 is not stored here"),
        ("abc", "abc is no run id."),
    ]


@pytest.mark.parametrize(
    ("asked", "status"),
    [("", 400), ("abc", 400), ("7", 404), ("7,abc", 404), (",", 400)],
)
def test_ids_of_no_stored_run_are_refused(client, asked, status):
    response = client.get("/api/unofficial-run", {"runId": asked})
    assert response.status_code == status
    assert response.json()["error"]["parameter"] == "runId"


def test_a_measured_eval_has_the_official_shape(client, desk):
    evals = {"eval_results_all": {"agg_eval_all.json": [eval_row()]}}
    desk.ingest(run_object(), results(row()) | evals)
    (found,) = rows_of(client, "/api/v1/evaluations")
    assert found.keys() == score().keys()
    assert int(found["id"]) < 0
    assert found["config_id"] < 0
    assert (found["disagg"], found["num_decode_gpu"]) == (False, 2)
    assert found["metrics"]["n_eff"] == 1319


def test_availability_and_reliability_hold_what_runs_here_say(client, desk):
    stats = {
        "run-stats": {"run_stats.json": {"mi355x-amds": {"n_success": 8, "total": 9}}}
    }
    desk.ingest(run_object(), results(row()) | stats)
    assert rows_of(client, "/api/v1/availability") == [
        {
            "model": "qwen3.5",
            "isl": 1024,
            "osl": 1024,
            "precision": "fp4",
            "hardware": "mi355x",
            "framework": "sglang",
            "spec_method": "none",
            "disagg": False,
            "date": DAY,
        }
    ]
    assert rows_of(client, "/api/v1/reliability") == [
        {"hardware": "mi355x", "date": DAY, "n_success": 8, "total": 9}
    ]


def test_a_run_that_was_published_and_read_is_counted_once(client, desk, folder):
    stats = {
        "run-stats": {"run_stats.json": {"mi355x-amds": {"n_success": 8, "total": 9}}}
    }
    desk.ingest(run_object(), results(row()) | stats)
    same = {"hardware": "mi355x", "date": DAY, "n_success": 8, "total": 9}
    other = same | {"n_success": 1}
    import_folder(write(folder, reliability=[same, other]))
    assert sorted(r["n_success"] for r in rows_of(client, "/api/v1/reliability")) == [
        1,
        8,
    ]


def test_the_last_day_of_the_calendar_has_no_runs_and_is_a_day(client):
    body = rows_of(client, "/api/v1/workflow-info", date="9999-12-31")
    assert body["runs"] == []


def test_a_day_tells_its_runs_their_changelogs_and_configs(client, desk):
    desk.ingest(run_object(), results(row()), changelog=changelog())
    body = rows_of(client, "/api/v1/workflow-info", date=DAY)
    assert [(r["github_run_id"], r["created_at"]) for r in body["runs"]] == [
        ("90001", "2026-08-01T20:00:00Z")
    ]
    assert [c["description"] for c in body["changelogs"]] == ["a note"]
    assert [(c["model"], c["isl"]) for c in body["configs"]] == [("qwen3.5", 1024)]
    assert rows_of(client, "/api/v1/workflow-info") == body
    empty: Any = {"runs": [], "changelogs": [], "configs": []}
    assert rows_of(client, "/api/v1/workflow-info", date="2026-08-02") == empty


def test_of_a_run_that_only_rows_name_no_time_is_told(client, folder):
    import_folder(write(folder, benchmarks=[point()]))
    (run,) = rows_of(client, "/api/v1/workflow-info", date=DAY)["runs"]
    assert (run["created_at"], run["name"], run["conclusion"]) == (None, None, None)


@pytest.mark.parametrize(
    ("path", "query", "parameter"),
    [
        (NEWEST, {}, "model"),
        (NEWEST, {"model": "GPT-9"}, "model"),
        (NEWEST, {"model": MODEL, "date": "2026-13-01"}, "date"),
        (NEWEST, {"model": MODEL, "date": "yesterday"}, "date"),
        (NEWEST, {"model": MODEL, "exact": "true"}, "date"),
        (NEWEST, {"model": MODEL, "exact": "maybe"}, "exact"),
        (NEWEST, {"model": MODEL, "runId": "abc"}, "runId"),
        (NEWEST, {"model": MODEL, "runId": "9" * 30}, "runId"),
        (NEWEST, {"model": "\0"}, "model"),
        (HISTORY, {"model": MODEL, "isl": "1024"}, "osl"),
        (HISTORY, {"model": MODEL, "isl": "-1", "osl": "1"}, "isl"),
        (HISTORY, {"isl": "1024", "osl": "1024"}, "model"),
        ("/api/v1/workflow-info", {"date": "1"}, "date"),
    ],
)
def test_bad_input_names_its_parameter(client, path, query, parameter):
    said = fault(client, path, **query)
    assert said["parameter"] == parameter
    if parameter == "model":
        assert MODEL in said["allowed"]


def test_an_unchanged_answer_is_not_sent_again(client, folder):
    import_folder(write(folder, benchmarks=[point()]))
    etag = client.get(NEWEST, {"model": MODEL}).headers["ETag"]
    again = client.get(NEWEST, {"model": MODEL}, headers={"If-None-Match": etag})
    assert again.status_code == 304
    import_folder(write(folder, benchmarks=[point(8)]))
    changed = client.get(NEWEST, {"model": MODEL}, headers={"If-None-Match": etag})
    assert changed.status_code == 200


@pytest.mark.parametrize("path", [NEWEST, HISTORY])
def test_answers_are_packed_for_those_who_take_it(client, folder, path):
    import_folder(write(folder, benchmarks=[point(c) for c in (4, 8, 16)]))
    plain = rows_of(client, path, model=MODEL)
    packed: Any = client.get(
        path, {"model": MODEL}, headers={"Accept-Encoding": "gzip"}
    )
    body = packed.getvalue()
    assert packed.headers["Content-Encoding"] == "gzip"
    assert packed.headers["ETag"].endswith('-gzip"')
    assert json.loads(gzip.decompress(body)) == plain
    refused = client.get(
        path, {"model": MODEL}, headers={"Accept-Encoding": "gzip;q=0"}
    )
    assert "Content-Encoding" not in refused.headers


@pytest.mark.parametrize("path", [NEWEST, HISTORY])
def test_the_count_of_queries_does_not_depend_on_the_rows(
    client, folder, path, django_assert_max_num_queries
):
    import_folder(write(folder, benchmarks=[point(c) for c in range(1, 30)]))
    with django_assert_max_num_queries(8):
        assert len(rows_of(client, path, model=MODEL)) == 29
