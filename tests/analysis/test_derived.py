"""Metrics made of others: each formula by hand, for every kind of deployment."""

from datetime import date

import pandas as pd
import pytest

from dashboard.analysis.axis_notes import axis_note
from dashboard.analysis.derived import with_derived
from dashboard.vocabulary.metrics import DERIVED, METRICS, PRICED
from dashboard.vocabulary.prices import Custom, PriceRow, Prices

AUGUST = date(2026, 8, 1)
ROWS = [
    PriceRow("mi355x", AUGUST, 1.50, 2.09, 2.10, 2.09),
    PriceRow("gb300", AUGUST, 2.31, 2.79, 3.30, 2.12),
    PriceRow("b200", AUGUST, 1.73, 2.07, 2.60, 1.71),
    PriceRow("h100", AUGUST, 1.17, 1.55, 1.78, 1.37),
    PriceRow("rtx5090", AUGUST, 9.99, 0.57, 0.60, 9.99, ("hyperscaler", "power_kw")),
]
PRICES = Prices(ROWS, AUGUST)

# One node of 2 GPUs: 4000 tok/s in all, 1000 of them output.
NODE = {
    "hardware": "mi355x",
    "prefill_hardware": "",
    "decode_hardware": "",
    "disagg": False,
    "scenario": "8k/1k",
    "gpus": 2.0,
    "prefill_gpus": None,
    "decode_gpus": None,
    "tput_per_gpu": 2000.0,
    "output_tput_per_gpu": 500.0,
    "input_tput_per_gpu": 1500.0,
    "avg_power_w": 700.0,
    "joules_per_successful_query": 7200.0,
}
# 1 prefill and 5 decode workers of 4 GPUs: 12,000 tok/s, 4,000 of them output.
DISAGG = NODE | {
    "disagg": True,
    "gpus": 24.0,
    "prefill_gpus": 4.0,
    "decode_gpus": 20.0,
    "tput_per_gpu": 500.0,
    "output_tput_per_gpu": 200.0,
    "input_tput_per_gpu": 2000.0,
}
# Aggregated over nodes: 16 GPUs that all do both, 8,000 tok/s, 1,600 of them output.
AGGREGATED = NODE | {
    "gpus": 16.0,
    "prefill_gpus": 16.0,
    "decode_gpus": 0.0,
    "tput_per_gpu": 500.0,
    "output_tput_per_gpu": 100.0,
    "input_tput_per_gpu": 400.0,
}
# Traces divide everything by all GPUs.
TRACES = DISAGG | {
    "scenario": "agentic-traces",
    "output_tput_per_gpu": 166.0,
    "input_tput_per_gpu": 334.0,
}


def made(name: str, row: dict[str, object], prices: Prices = PRICES) -> float:
    return float(with_derived(pd.DataFrame([row]), [name], prices)[name].iloc[0])


def test_every_formula_by_hand_for_one_node():
    by_hand = {
        "output_tput_per_cluster_gpu": 500,
        "input_tput_per_cluster_gpu": 1500,
        # A MW feeds 1000 kW / 2.09 kW = 478.4689 GPUs.
        "tput_per_mw": 2000 * 478.468900,
        "output_tput_per_mw": 500 * 478.468900,
        "input_tput_per_mw": 1500 * 478.468900,
        # In an hour a GPU serves 7.2 M, 1.8 M of output, 5.4 M of input.
        "cost_total_hyperscaler": 1.50 / 7.2,
        "cost_total_neocloud": 2.09 / 7.2,
        "cost_total_rental": 2.10 / 7.2,
        "cost_output_hyperscaler": 1.50 / 1.8,
        "cost_output_neocloud": 2.09 / 1.8,
        "cost_output_rental": 2.10 / 1.8,
        "cost_input_hyperscaler": 1.50 / 5.4,
        "cost_input_neocloud": 2.09 / 5.4,
        "cost_input_rental": 2.10 / 5.4,
        # 2090 J a second and GPU.
        "provisioned_joules_per_total_token": 1.045,
        "provisioned_joules_per_output_token": 4.18,
        "provisioned_joules_per_input_token": 2090 / 1500,
        "watt_hours_per_successful_query": 2,
        "avg_power_tdp_share": 0.5,
    }
    custom = {"cost_total_custom": 3.6 / 7.2, "tput_per_mw_custom": 2000 * 500}
    assert by_hand.keys() | custom.keys() == DERIVED
    for name, expected in by_hand.items():
        assert made(name, NODE) == pytest.approx(expected), name
    given = Prices(ROWS, AUGUST, Custom({"mi355x": 3.6}, {"mi355x": 2.0}))
    for name, expected in custom.items():
        assert made(name, NODE, given) == pytest.approx(expected), name


def test_the_cost_of_output_of_a_disaggregated_point_is_that_of_all_its_gpus():
    # 24 GPUs at 2.09 $/h are 50.16 $/h; 4,000 tok/s are 14.4 M output tokens an hour.
    assert made("cost_output_neocloud", DISAGG) == pytest.approx(50.16 / 14.4)
    # 8,000 tok/s of input are 28.8 M an hour; 12,000 tok/s in all are 43.2 M.
    assert made("cost_input_neocloud", DISAGG) == pytest.approx(50.16 / 28.8)
    assert made("cost_total_neocloud", DISAGG) == pytest.approx(50.16 / 43.2)


def test_power_of_a_disaggregated_point_is_that_of_all_its_gpus():
    # 24 GPUs are provisioned 50.16 kW.
    assert made("output_tput_per_mw", DISAGG) == pytest.approx(4000 / 0.05016)
    assert made("input_tput_per_mw", DISAGG) == pytest.approx(8000 / 0.05016)
    assert made("tput_per_mw", DISAGG) == pytest.approx(12000 / 0.05016)
    joules = {
        word: made(f"provisioned_joules_per_{word}_token", DISAGG)
        for word in ("total", "output", "input")
    }
    assert joules["output"] == pytest.approx(50160 / 4000)
    assert joules["input"] == pytest.approx(50160 / 8000)
    assert joules["total"] == pytest.approx(50160 / 12000)


def test_rates_of_roles_are_spread_over_the_whole_deployment():
    assert made("output_tput_per_cluster_gpu", DISAGG) == pytest.approx(4000 / 24)
    assert made("input_tput_per_cluster_gpu", DISAGG) == pytest.approx(8000 / 24)


@pytest.mark.parametrize("row", [AGGREGATED, AGGREGATED | {"disagg": True}])
def test_a_deployment_without_decode_gpus_is_over_all_gpus_already(row):
    # 16 GPUs at 2.09 $/h are 33.44 $/h; 1,600 tok/s are 5.76 M output tokens an hour.
    assert made("output_tput_per_cluster_gpu", row) == 100
    assert made("input_tput_per_cluster_gpu", row) == 400
    assert made("cost_output_neocloud", row) == pytest.approx(33.44 / 5.76)
    assert made("output_tput_per_mw", row) == pytest.approx(1600 / 0.03344)


def test_traces_are_over_all_gpus_already():
    assert made("output_tput_per_cluster_gpu", TRACES) == 166
    assert made("cost_output_neocloud", TRACES) == pytest.approx(2.09 / (166 * 0.0036))


def test_roles_on_different_gpus_are_priced_as_one_deployment():
    mixed = DISAGG | {"prefill_hardware": "h100", "decode_hardware": "b200"}
    # 4 at 1.55 and 20 at 2.07 are 47.6 $/h; 4 at 1.37 and 20 at 1.71 are 39.68 kW.
    assert made("cost_output_neocloud", mixed) == pytest.approx(47.6 / 14.4)
    assert made("tput_per_mw", mixed) == pytest.approx(12000 / 0.03968)
    # 4 of 700 W and 20 of 1000 W: 950 W a GPU.
    assert made("avg_power_tdp_share", mixed) == pytest.approx(700 / 950)
    unknown = mixed | {"prefill_gpus": None}
    assert pd.isna(made("cost_total_neocloud", unknown))


@pytest.mark.parametrize("rate", [0.0, -1.0, None])
def test_a_throughput_that_is_not_above_zero_costs_nothing_at_all(rate):
    row = NODE | dict.fromkeys(
        ("tput_per_gpu", "output_tput_per_gpu", "input_tput_per_gpu"), rate
    )
    given = Prices(ROWS, AUGUST, Custom({"mi355x": 3.6}, {"mi355x": 2.0}))
    for name in PRICED:
        assert pd.isna(made(name, row, given)), name


def test_a_placeholder_gives_no_value_and_the_reason():
    row = NODE | {"hardware": "rtx5090"}
    frame = with_derived(pd.DataFrame([row]), ["cost_total_hyperscaler"], PRICES)
    assert pd.isna(frame["cost_total_hyperscaler"].iloc[0])
    said = frame["cost_total_hyperscaler_terms"].iloc[0]
    assert said == "hyperscaler price of RTX 5090 of 2026-08 is a placeholder"
    assert made("cost_total_neocloud", row) == pytest.approx(0.57 / 7.2)


def test_each_row_says_which_number_it_was_made_with():
    given = Prices(ROWS, AUGUST, Custom({"gb300": 1.85}))
    frame = pd.DataFrame([NODE, NODE | {"hardware": "gb300"}])
    found = with_derived(frame, ["cost_total_rental"], given)
    assert found["cost_total_rental_terms"].tolist() == [
        "2.1 USD per GPU and hour, 2026-08",
        "1.85 USD per GPU and hour, as given",
    ]


def test_the_frame_is_left_alone_and_no_rows_are_no_trouble():
    frame = pd.DataFrame([NODE])
    before = frame.copy()
    with_derived(frame, sorted(DERIVED), PRICES)
    pd.testing.assert_frame_equal(frame, before)
    assert with_derived(frame.head(0), sorted(DERIVED), PRICES).empty


def test_prices_are_asked_for_where_they_are_needed():
    with pytest.raises(ValueError, match="cost_total_neocloud needs prices"):
        with_derived(pd.DataFrame([NODE]), ["cost_total_neocloud"])


def note(name: str, *rows: dict[str, object], prices: Prices = PRICES) -> str:
    return axis_note(pd.DataFrame(list(rows)), name, prices).text


def test_the_axis_says_whose_prices_and_of_which_edition():
    assert note("cost_total_neocloud", NODE) == "prices of 2026-08, neocloud"
    assert note("tput_per_mw", NODE) == "all-in power of 2026-08"
    assert note("tput_per_gpu", NODE) == ""
    later = [*ROWS, PriceRow("gb300", date(2026, 9, 15), 1, 2, 3, 2)]
    both = note(
        "cost_total_rental",
        NODE,
        NODE | {"hardware": "gb300"},
        prices=Prices(later, date(2026, 10, 1)),
    )
    assert both == "prices of 2026-08 (MI355X) and 2026-09-15 (GB300 NVL72), rental"


def test_the_axis_says_what_a_reader_gave():
    given = Prices(ROWS, AUGUST, Custom({"mi355x": 1.85}, {"mi355x": 2.5}))
    rows = (NODE, NODE | {"hardware": "gb300"})
    assert (
        note("cost_total_neocloud", *rows, prices=given)
        == "prices of 2026-08, neocloud; MI355X 1.85 $/GPU-h as given"
    )
    assert (
        note("cost_total_custom", NODE, prices=given) == "MI355X 1.85 $/GPU-h as given"
    )
    assert note("tput_per_mw", NODE, prices=given) == "MI355X 2.5 kW per GPU as given"


def test_the_axis_says_which_gpus_a_disaggregated_point_is_divided_by():
    assert (
        note("output_tput_per_gpu", NODE, DISAGG)
        == "disaggregated points: per decode GPU"
    )
    assert note("input_tput_per_gpu", DISAGG) == "disaggregated points: per prefill GPU"
    over_all = "disaggregated points: over all GPUs, prefill and decode"
    assert note("tput_per_gpu", DISAGG) == over_all
    assert note("output_tput_per_cluster_gpu", DISAGG) == over_all
    assert (
        note("cost_output_neocloud", DISAGG)
        == f"prices of 2026-08, neocloud; {over_all}"
    )
    assert note("output_tput_per_gpu", TRACES) == ""
    assert note("median_intvty", DISAGG) == ""


def test_what_has_no_price_is_said_under_the_chart():
    found = axis_note(
        pd.DataFrame([NODE, NODE | {"hardware": "rtx5090"}]),
        "cost_total_hyperscaler",
        PRICES,
    )
    assert found.sentences == [
        "prices of 2026-08, hyperscaler",
        "no value: hyperscaler price of RTX 5090 of 2026-08 is a placeholder",
    ]


def test_derived_metrics_are_in_the_registry_with_a_direction_and_a_unit():
    for name in DERIVED:
        metric = METRICS[name]
        assert metric.unit, name
        assert metric.formula, name
        better = "lower" if name.startswith(("cost", "provisioned")) else None
        assert better in {None, metric.direction}, name
