"""GET /api/v1/calculator, and priced axes of a frontier: values, terms, refusals."""

# mypy: allow-untyped-calls

import json

import pytest

from tests.pages.builders import add_points, curve, disaggregated, official_sweep

pytestmark = pytest.mark.django_db

PATH = "/api/v1/calculator"


def get(client, **query):
    return client.get(
        PATH, {"model": "qwen3.5", "scenario": "8k/1k", "at": "50"} | query
    )


def body_of(response):
    assert response.status_code == 200, response.content
    return json.loads(response.content, parse_constant=pytest.fail)


def fault_of(response):
    assert response.status_code == 400, response.content
    return response.json()["error"]


def test_each_key_has_the_step_value_and_the_spline_beside_it(client):
    sweep = curve("key-a")
    body = body_of(get(client))
    (key,) = body["keys"]
    assert (key["value"], key["x"]) == (1800, 60)
    # Between c64 (60, 1800) and c256 (20, 2600), where the step rule takes the first.
    assert 1800 < key["interpolated"] < 2600
    assert not key["is_clamped"]
    assert (key["run_id"], key["concurrency"]) == (sweep.run.github_run_id, 64)
    assert key["checkpoint"] == "org-a/Model-397B-FP4"
    assert (body["x"], body["y"], body["unit"]) == (
        *("median_intvty", "tput_per_gpu"),
        "tok/s/GPU",
    )
    assert body["model"] == "Qwen-3.5-397B-A17B"


def test_above_the_highest_measured_point_the_value_is_null(client):
    curve("key-a")
    (key,) = body_of(get(client, at="500"))["keys"]
    assert (key["value"], key["reaches"], key["run_id"]) == (None, 180, None)
    assert (key["interpolated"], key["is_clamped"]) == (300, True)


def test_below_the_lowest_measured_point_it_is_the_best_of_all(client):
    curve("key-a")
    (key,) = body_of(get(client, at="5"))["keys"]
    assert (key["value"], key["interpolated"], key["is_clamped"]) == (2600, 2600, True)


def test_keys_come_best_first_and_blank_ones_last(client):
    add_points(official_sweep("key-a"), [(4, 40.0, 9000.0)])
    add_points(official_sweep("key-b"), [(4, 60.0, 100.0)])
    curve("key-c")
    for y, order in (("tput_per_gpu", "cba"), ("cost_total_rental", "cba")):
        keys = body_of(get(client, y=y))["keys"]
        assert [k["config_key"] for k in keys] == [f"key-{letter}" for letter in order]


def test_a_cost_names_its_edition_or_the_number_given(client):
    curve("key-a")
    body = body_of(get(client, y="cost_total_neocloud"))
    (key,) = body["keys"]
    assert key["value"] == pytest.approx(2.09 / 6.48)
    assert key["terms"] == "2.09 USD per GPU and hour, 2026-08"
    assert body["notes"]["y"] == ["prices of 2026-08, neocloud"]
    rate = body_of(get(client))["keys"][0]["interpolated"]
    assert key["interpolated"] == pytest.approx(2.09 / (rate * 0.0036))
    given = body_of(get(client, y="cost_total_custom", price="mi355x:3.6"))
    assert given["keys"][0]["value"] == pytest.approx(3.6 / 6.48)
    assert given["notes"]["y"] == ["MI355X 3.6 $/GPU-h as given"]


def test_without_a_price_the_value_is_null_and_says_why(client):
    curve("key-a", key_fields={"hardware": "rtx5090"})
    (key,) = body_of(get(client, y="cost_total_hyperscaler"))["keys"]
    assert (key["value"], key["interpolated"], key["reaches"]) == (None, None, None)
    said = "hyperscaler price of RTX 5090 of 2026-08 is a placeholder"
    assert key["terms"] == said


@pytest.mark.parametrize(
    ("query", "parameter", "said"),
    [
        ({"model": "gpt-9"}, "model", "'gpt-9' is no model"),
        ({"model": ""}, "model", ""),
        ({"scenario": "9k/9k"}, "scenario", "Nothing of Qwen-3.5-397B-A17B is current"),
        ({"at": "0"}, "at", ""),
        ({"at": "nan"}, "at", ""),
        ({"at": "inf"}, "at", ""),
        ({"x": "median_ttft"}, "x", "'median_ttft' is no interactivity."),
        ({"y": "speed"}, "y", "'speed' is no metric"),
        ({"y": "std_intvty"}, "y", "'std_intvty' is no metric"),
        ({"price": "mi355x"}, "price", "price: mi355x is not like mi355x:1.85."),
        ({"kw": "tpu9:1"}, "kw", "kw: tpu9 is not known."),
        ({"as_of": "yesterday"}, "as_of", "yesterday is neither"),
    ],
)
def test_bad_input_is_refused_by_the_name_of_its_parameter(
    client, query, parameter, said
):
    curve("key-a")
    fault = fault_of(get(client, **query))
    assert fault["parameter"] == parameter
    assert said in fault["message"]


def test_a_reversed_scenario_names_what_the_model_has(client):
    curve("key-a")
    assert fault_of(get(client, scenario="1k/8k"))["allowed"] == ["8k/1k"]


def frontier(client, **query):
    path = "/api/v1/config-keys/key-a/frontier"
    return client.get(path, {"scenario": "8k/1k"} | query)


def test_a_frontier_over_a_cost_follows_its_direction_and_says_its_terms(client):
    curve("key-a")
    body = body_of(frontier(client, y="cost_total_neocloud"))
    assert [p["y"] for p in body["frontier"]] == pytest.approx(
        [2.09 / (tput * 0.0036) for tput in (2600, 1800, 900, 300)]
    )
    assert body["notes"] == {"x": [], "y": ["prices of 2026-08, neocloud"]}
    given = body_of(frontier(client, y="tput_per_mw", kw="mi355x:2"))
    assert given["frontier"][0]["y"] == pytest.approx(2600 * 500)
    assert given["notes"]["y"] == ["MI355X 2 kW per GPU as given"]


def test_a_frontier_without_a_price_has_no_point_and_says_why(client):
    curve("key-a", key_fields={"hardware": "rtx5090"})
    body = body_of(frontier(client, y="tput_per_mw"))
    assert body["frontier"] == []
    assert len(body["excluded"]) == 4
    said = "no value: all-in power of RTX 5090 of 2026-08 is a placeholder"
    assert body["notes"]["y"] == [said]
    fault = fault_of(frontier(client, price="mi355x:free"))
    assert fault["parameter"] == "price"


def test_the_total_is_what_disaggregated_points_are_drawn_by(client):
    add_points(
        official_sweep("key-a", key_fields={"hardware": "gb200"}),
        [(64, 50.0, 500.0)],
        deployment=disaggregated(),
        gpus=24,
        prefill_gpus=4,
        decode_gpus=20,
        output_tput_per_gpu=200.0,
        input_tput_per_gpu=2000.0,
    )
    total = body_of(frontier(client))
    assert total["frontier"][0]["y"] == 500
    over_all = "disaggregated points: over all GPUs, prefill and decode"
    assert total["notes"]["y"] == [over_all]
    per_role = body_of(frontier(client, y="output_tput_per_gpu"))
    assert per_role["frontier"][0]["y"] == 200
    assert per_role["notes"]["y"] == ["disaggregated points: per decode GPU"]
    spread = body_of(frontier(client, y="output_tput_per_cluster_gpu"))
    assert spread["frontier"][0]["y"] == pytest.approx(4000 / 24)
