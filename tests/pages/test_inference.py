"""The inference page and its CSV: what they show, refuse and say."""

import csv
import io
import json
import re
from typing import Any

import pytest
from django.test import Client
from plotly.graph_objects import Figure

from dashboard.vocabulary.metrics import AXES
from tests.factories import (
    DeploymentFactory,
    GenerationFactory,
    RunFactory,
    SweepFactory,
)
from tests.pages.builders import add_points, curve, disaggregated, official_sweep, story

pytestmark = pytest.mark.django_db


def figure_of(client: Client, query: str = "") -> Any:
    page = client.get(f"/inference{query}").content.decode()
    found = re.search(
        r'<script id="frontier-figure"[^>]*>(.*?)</script>', page, re.DOTALL
    )
    assert found, "the page holds no figure"
    return json.loads(found.group(1))


def frontier_xs(figure: Any, key: str) -> Any:
    (trace,) = [
        t
        for t in figure["data"]
        if t["meta"]["key"] == key and t["meta"]["role"] == "frontier"
    ]
    return trace["x"]


def rows_of(client: Client, query: str = "") -> list[dict[str, str]]:
    text = client.get(f"/inference.csv{query}").content.decode()
    return list(csv.DictReader(io.StringIO(text)))


def test_one_frontier_per_config_key_from_its_current_sweep(client):
    curve("key-a")
    former = official_sweep("key-b", state="former")
    add_points(former, [(1, 999.0, 9999.0)])
    SweepFactory(
        config_key=former.config_key, official=True, run=RunFactory(official=True)
    )
    add_points(SweepFactory(config_key__key="key-a"), [(1, 999.0, 9999.0)])
    figure = figure_of(client)
    assert [t["meta"]["key"] for t in figure["data"]] == ["key-a"]
    assert frontier_xs(figure, "key-a") == [20, 60, 120, 180]


def test_points_that_are_dominated_or_flagged_are_drawn_apart(client):
    story()
    figure = figure_of(client)
    roles = {
        trace["meta"]["role"]: trace["x"]
        for trace in figure["data"]
        if trace["meta"]["key"] == "qwen3.5-fp4-mi355x-sglang"
    }
    assert roles["dominated"] == [100]
    assert roles["out"] == [300]
    assert 300 not in roles["frontier"]
    assert "more requests in flight" in client.get("/inference").content.decode()


def test_figure_is_a_valid_plotly_figure_for_every_metric(client):
    story()
    for name in AXES[::7]:
        drawn = client.get(f"/inference?y={name}").context["figure"]
        if drawn is not None:
            Figure(drawn)


def test_an_extension_is_drawn_on_the_curve_it_extends(client):
    sweeps = story()
    key = sweeps["b200"].config_key.key
    figure = figure_of(client)
    (trace,) = [t for t in figure["data"] if t["meta"]["key"] == key]
    runs = {row[3] for row in trace["customdata"]}
    assert len(runs) == 2
    assert 240 in trace["x"]


def test_a_single_point_is_its_own_frontier_with_a_range(client):
    add_points(official_sweep("lonely"), [(64, 50.0, 3156.8)])
    figure = figure_of(client)
    assert frontier_xs(figure, "lonely") == [50]
    assert figure["layout"]["xaxis"]["rangemode"] == "tozero"


def test_traces_are_shown_by_their_slow_tail(client):
    add_points(official_sweep("agentic", scenario="agentic-traces"))
    answer = client.get("/inference?scenario=agentic-traces")
    assert answer.context["chosen"].x == "p90_intvty"


def test_default_is_the_model_and_scenario_with_most_points(client):
    curve("small", key_fields={"model": "dsr1"}, scenario="1k/1k")
    large = curve("large", key_fields={"model": "glm5.2"}, scenario="1k/1k")
    add_points(large, [(1, 200.0, 100.0)])
    chosen = client.get("/inference").context["chosen"]
    assert (chosen.model, chosen.scenario) == ("GLM-5.2", "1k/1k")


def test_a_key_alone_brings_its_model_and_scenario(client):
    curve("large")
    curve("small", key_fields={"model": "dsr1"}, scenario="1k/1k")
    chosen = client.get("/inference?key=small").context["chosen"]
    assert (chosen.model, chosen.scenario) == ("DeepSeek-R1-0528", "1k/1k")


def test_filters_narrow_what_is_drawn(client):
    story()
    query = "?model=qwen3.5&scenario=8k/1k&precision=fp8"
    assert {t["meta"]["key"] for t in figure_of(client, query)["data"]} == {
        "qwen3.5-fp8-gb200-dynamo-trt"
    }


def test_names_of_the_official_dashboard_are_understood(client):
    story()
    query = (
        "?g_model=Qwen-3.5-397B-A17B&i_seq=8k/1k&i_prec=fp4,fp8"
        "&i_metric=y_outputTputPerGpu"
    )
    chosen = client.get(f"/inference{query}").context["chosen"]
    assert chosen.filters.precision == ("fp4", "fp8")
    assert chosen.y == "output_tput_per_gpu"


@pytest.mark.parametrize(
    ("query", "parameter", "allowed"),
    [
        ("model=gpt-9", "model: gpt-9", "DeepSeek-R1-0528"),
        ("scenario=9k/9k", "scenario: 9k/9k", "8k/1k"),
        ("precision=fp3", "precision: fp3", "fp4"),
        ("key=nokey", "key: nokey", "qwen3.5-fp4-mi355x-sglang"),
        ("x=speed", "x: speed", "median_intvty"),
        ("y=std_intvty", "y: std_intvty", "tput_per_gpu"),
        ("key=%00", "key: ", "qwen3.5-fp4-mi355x-sglang"),
        ("x=%25s%3Cscript%3E", "x: %s&lt;script&gt;", "median_intvty"),
    ],
)
def test_unknown_value_is_refused_by_name(client, query, parameter, allowed):
    curve()
    answer = client.get(f"/inference?{query}")
    assert answer.status_code == 400
    assert parameter in answer.content.decode()
    assert allowed in answer.content.decode()
    assert client.get(f"/inference.csv?{query}").status_code == 400


def test_no_run_at_all_says_how_to_ingest(client):
    page = client.get("/inference").content.decode()
    assert "manage.py ingest_path" in page
    assert client.get("/inference.csv").status_code == 200


def test_only_unofficial_runs_are_said(client):
    add_points(SweepFactory())
    assert "only unofficial runs" in client.get("/inference").content.decode()


def test_no_match_names_the_filter_that_leaves_nothing(client):
    curve()
    other = official_sweep("other", key_fields={"model": "dsr1"}, state="former")
    for query, reason in (
        ("precision=bf16", "passes the filter: precision bf16."),
        ("model=qwen3.5&precision=bf16", "passes the filter: precision bf16."),
        (
            f"key={other.config_key.key}",
            "No current official sweep of other is stored.",
        ),
        ("model=dsr1", "DeepSeek-R1-0528 has no current official sweep."),
        (
            "scenario=1k/8k",
            "has no current official sweep of 1k/8k; its only one is of 8k/1k.",
        ),
    ):
        assert reason in client.get(f"/inference?{query}").content.decode()


def test_metric_that_no_point_has_is_said(client):
    curve()
    page = client.get("/inference?y=joules_per_output_token").content.decode()
    assert "None of the 4 points" in page


def test_the_exported_chart_counts_one_key_as_one(client):
    curve()
    page = client.get("/inference").content.decode()
    assert "(UTC): 1 config key, 4 points" in page


def test_held_and_incomplete_sweeps_are_said(client):
    sweeps = story()
    page = client.get("/inference").content.decode()
    assert "13 of 19 points" in page
    sweeps["sglang"].planned_count = 19
    sweeps["sglang"].save()
    assert "7 of 19 points" in client.get("/inference").content.decode()


def test_csv_has_the_rows_of_the_table_with_units_and_provenance(client):
    sweeps = story()
    rows = rows_of(client)
    table = client.get("/inference").context["rows"]
    assert len(rows) == len(table) == 17
    first = rows[0]
    assert {"median_ttft_s", "tput_per_gpu_tok_s", "median_intvty_tok_s_user"} <= set(
        first
    )
    assert first["median_ttft_s"] == "0.3"
    run = sweeps["disagg"].run
    assert (first["run_id"], first["run_url"]) == (str(run.github_run_id), run.url)
    assert first["checkpoint"] == "org-a/Model-397B-FP4"
    assert first["measured_at"].startswith("2026-08")


def test_what_was_not_measured_is_blank_and_zero_is_zero(client):
    sweep = official_sweep()
    add_points(sweep, [(4, 10.0, 100.0)], median_ttft=None, median_e2el=0.0)
    (row,) = rows_of(client)
    assert row["median_ttft_s"] == ""
    assert row["median_e2el_s"] == "0.0"


def test_c36_speculative_points_say_where_their_acceptance_length_comes_from(client):
    sweep = official_sweep(
        spec_methods=["mtp", "none"],
        acceptance_source="synthetic_declared",
        acceptance_length=3.39,
    )
    mtp = DeploymentFactory(spec_method="mtp")
    add_points(sweep, [(4, 10.0, 100.0)])
    add_points(sweep, [(8, 9.0, 110.0)], deployment=mtp)
    plain, speculative = sorted(rows_of(client), key=lambda row: row["deployment"])
    assert (plain["acceptance"], plain["acceptance_length"]) == ("", "")
    assert speculative["acceptance"] == "synthetic_declared"
    assert speculative["acceptance_length"] == "3.39"
    page = client.get("/inference").content.decode()
    assert page.count("acceptance: synthetic 3.39 (golden)</span>") == 1
    assert page.count(">synthetic 3.39 (golden)</span>") == 1


def test_csv_text_is_no_formula(client):
    sweep = official_sweep(image="x")
    add_points(sweep, [(4, 10.0, 100.0)], image="=HYPERLINK(1)", flags=[["a", "@b"]])
    (row,) = rows_of(client)
    assert row["image"] == "'=HYPERLINK(1)"
    assert row["flags"] == "'@b"


def test_disaggregated_output_is_also_given_over_all_gpus(client):
    sweep = official_sweep()
    add_points(
        sweep,
        [(64, 15.0, 500.0)],
        deployment=disaggregated(),
        gpus=24,
        prefill_gpus=4,
        decode_gpus=20,
        output_tput_per_gpu=200.0,
        input_tput_per_gpu=2000.0,
    )
    (row,) = rows_of(client)
    assert row["output_tput_per_gpu_tok_s"] == "200.0"
    assert float(row["output_tput_per_cluster_gpu_tok_s"]) == pytest.approx(
        166.67, abs=0.01
    )
    assert "per decode GPU" in client.get("/inference").content.decode()


def test_a_metric_that_is_no_column_is_read_from_all_metrics(client):
    sweep = official_sweep()
    add_points(sweep, [(4, 10.0, 100.0)], extra={"p99.9_ttft": 1.5})
    add_points(sweep, [(8, 5.0, 200.0)])
    rows = rows_of(client, "?y=p99.9_ttft")
    assert [row["p99.9_ttft_s"] for row in rows] == ["", "1.5"]
    assert rows[1]["standing"] == "frontier"


def test_text_from_artifacts_is_escaped_in_page_and_hover(client):
    sweep = official_sweep(image="x")
    add_points(sweep, [(4, 10.0, 100.0)], image="</script><script>alert(1)</script>")
    page = client.get("/inference").content.decode()
    assert "<script>alert(1)" not in page
    assert "<script>" not in json.dumps(figure_of(client))


def test_query_count_does_not_grow_with_points_and_keys(
    client, django_assert_num_queries
):
    curve("first")
    with django_assert_num_queries(7):
        client.get("/inference")
    story()
    for n in range(10):
        trade_off = [(c, 400.0 / c, 10.0 * c) for c in range(1, 30)]
        add_points(official_sweep(f"key-{n}"), trade_off)
    with django_assert_num_queries(7):
        client.get("/inference?y=p99_ttft")


def test_official_parameters_without_a_counterpart_are_said(client):
    curve()
    answer = client.get("/inference?i_metric=y_tokensPerBigMac&i_xmode=cost&e_bench=x")
    assert answer.status_code == 200
    assert answer.context["chosen"].y == "tput_per_gpu"
    page = answer.content.decode()
    for ignored in ("i_metric=y_tokensPerBigMac", "i_xmode=cost", "e_bench=x"):
        assert ignored in page


def test_csv_is_fetched_again_only_when_data_changed(client):
    curve()
    tag = client.get("/inference.csv")["ETag"]
    assert (
        client.get("/inference.csv", headers={"if-none-match": tag}).status_code == 304
    )
    GenerationFactory(number=1)
    assert (
        client.get("/inference.csv", headers={"if-none-match": tag}).status_code == 200
    )


def test_first_page_lists_the_newest_runs(client):
    run = RunFactory(title="Bump the image")
    page = client.get("/").content.decode()
    assert "Bump the image" in page
    assert run.get_absolute_url() in page


def test_first_page_without_runs_says_how_to_ingest(client):
    assert "manage.py ingest_path" in client.get("/").content.decode()


def test_healthz_answers_without_a_database(client):
    assert client.get("/healthz").content == b"ok"


def test_markers_for_who_has_no_script_are_not_sent_to_a_script(client):
    curve("qwen3.5-fp4-mi355x-sglang")
    assert "still-marks" in client.get("/inference").content.decode()
    asked = {"HX-Request": "true", "HX-Target": "view"}
    part = client.get("/inference", headers=asked).content.decode()
    assert "still-dots" in part
    assert "still-marks" not in part
