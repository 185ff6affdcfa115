"""The official dashboard's parameters, by their meaning."""

import pytest
from django.http import QueryDict

from dashboard.forms.official_metrics import OFFICIAL
from dashboard.forms.official_names import Translation
from dashboard.vocabulary.metrics import AXES, METRICS


def asked(query):
    return dict(Translation(QueryDict(query)).asked.lists())


@pytest.mark.parametrize(
    ("query", "meaning"),
    [
        ("g_model=qwen-3.5-397b-a17b", {"model": ["Qwen-3.5-397B-A17B"]}),
        ("G_MODEL=dsr1", {"model": ["DeepSeek-R1-0528"]}),
        ("g_rundate=2026-08-01", {"date": ["2026-08-01"]}),
        ("g_runid=123", {"asof_run": ["123"]}),
        ("i_seq=8k/1k", {"scenario": ["8k/1k"]}),
        ("i_seq=8K1K", {"scenario": ["8k/1k"]}),
        ("i_seq=agentic", {"scenario": ["agentic-traces"]}),
        ("i_prec=fp4,FP8", {"precision": ["fp4", "fp8"]}),
        ("i_metric=y_tpPerGpu", {"y": ["tput_per_gpu"]}),
        ("i_metric=y_outputTputPerGpu", {"y": ["output_tput_per_gpu"]}),
        ("i_metric=y_inputTputPerGpu", {"y": ["input_tput_per_gpu"]}),
        ("i_metric=p99_ttft", {"y": ["p99_ttft"]}),
        ("i_metric=y_p99Ttft", {"y": ["p99_ttft"]}),
        ("i_metric=p99.9_e2e", {"y": ["p99.9_e2el"]}),
        ("i_xmode=interactivity", {"x": ["median_intvty"]}),
        ("i_xmode=ttft", {"x": ["median_ttft"]}),
        ("i_xmode=e2e", {"x": ["median_e2el"]}),
        ("i_xmode=normalized-e2e", {"x": ["median_e2e_norm_intvty"]}),
        ("i_xmode=p75_ttft", {"x": ["p75_ttft"]}),
        ("i_vendor=amd", {"vendor": ["AMD"]}),
        ("i_fw=SGLang,trtllm", {"framework": ["sglang", "trt"]}),
        ("i_disagg=true", {"deployment": ["disaggregated"]}),
        ("i_disagg=agg", {"deployment": ["single", "multinode"]}),
        ("i_spec=mtp", {"spec": ["mtp"]}),
        ("i_spec=off", {"spec": ["none"]}),
        ("i_optimal=true", {"optimal": ["1"]}),
        ("i_optimal=0", {"optimal": ["0"]}),
        ("i_log=1", {"logy": ["1"]}),
        ("i_log=xy", {"logx": ["1"], "logy": ["1"]}),
        ("i_prec=all&i_disagg=both&i_fw=", {}),
        ("to=2026-08-01", {"date": ["2026-08-01"]}),
        ("as_of=2026-08-01", {"date": ["2026-08-01"]}),
        ("Model=dsr1&key=a,b&key=c", {"model": ["DeepSeek-R1-0528"], "key": [*"abc"]}),
    ],
)
def test_meaning(query, meaning):
    assert asked(query) == meaning
    assert Translation(QueryDict(query)).ignored == []


@pytest.mark.parametrize(
    "query",
    [
        "i_metric=y_tokensPerBigMac",
        "i_xmode=cost",
        "i_xmode=session-time",
        "i_disagg=7",
        "e_bench=x",
    ],
)
def test_what_is_not_understood_is_named_and_changes_nothing(query):
    found = Translation(QueryDict(query))
    assert found.ignored == [query]
    assert not found.asked


def test_own_names_win_and_the_name_given_is_kept():
    found = Translation(QueryDict("i_prec=fp8&precision=fp4&i_seq=9k9k"))
    assert found.asked.getlist("precision") == ["fp4"]
    assert found.names["scenario"] == "i_seq"


# The y metrics of the official chart, with what each is here.
OFFICIAL_Y = {
    "y_tpPerGpu": "tput_per_gpu",
    "y_inputTputPerGpu": "input_tput_per_gpu",
    "y_outputTputPerGpu": "output_tput_per_gpu",
    "y_tpPerMw": "tput_per_mw",
    "y_inputTputPerMw": "input_tput_per_mw",
    "y_outputTputPerMw": "output_tput_per_mw",
    "y_costh": "cost_total_hyperscaler",
    "y_costn": "cost_total_neocloud",
    "y_costr": "cost_total_rental",
    "y_costhOutput": "cost_output_hyperscaler",
    "y_costnOutput": "cost_output_neocloud",
    "y_costrOutput": "cost_output_rental",
    "y_costhi": "cost_input_hyperscaler",
    "y_costni": "cost_input_neocloud",
    "y_costri": "cost_input_rental",
    "y_costUser": "cost_total_custom",
    "y_powerUser": "tput_per_mw_custom",
    "y_jTotal": "provisioned_joules_per_total_token",
    "y_jOutput": "provisioned_joules_per_output_token",
    "y_jInput": "provisioned_joules_per_input_token",
    "y_measuredAvgPower": "avg_power_w",
    "y_measuredPrefillAvgPower": "prefill_avg_power_w",
    "y_measuredDecodeAvgPower": "decode_avg_power_w",
    "y_measuredJPerTotalToken": "joules_per_total_token",
    "y_measuredJPerOutputToken": "joules_per_output_token",
    "y_measuredJPerInputToken": "joules_per_input_token",
    "y_measuredJPerSuccessfulQuery": "joules_per_successful_query",
    "y_measuredWhPerSuccessfulQuery": "watt_hours_per_successful_query",
}
OF_NEWER_CHARTS = {
    "y_measuredPrefillJPerInputToken": "prefill_joules_per_input_token",
    "y_measuredDecodeJPerOutputToken": "decode_joules_per_output_token",
    "y_measuredPowerPercentTdp": "avg_power_tdp_share",
}


def test_every_y_metric_of_the_official_chart_is_a_metric_of_its_own_here():
    assert len(OFFICIAL_Y) == 28
    every = OFFICIAL_Y | OF_NEWER_CHARTS
    assert len(set(every.values())) == len(every)
    for name, metric in every.items():
        assert asked(f"i_metric={name}") == {"y": [metric]}
        assert metric in AXES
    assert {f"y_{name}" for name in OFFICIAL} == every.keys()


def test_which_way_is_better_is_that_of_the_official_chart():
    higher = {m for n, m in OFFICIAL_Y.items() if n.endswith(("Gpu", "Mw"))}
    higher.add("tput_per_mw_custom")
    assert len(higher) == 7
    for metric in OFFICIAL_Y.values():
        expected = "higher" if metric in higher else "lower"
        assert METRICS[metric].direction == expected, metric


@pytest.mark.parametrize(
    ("query", "x"),
    [
        ("i_xmode=interactivity", "p90_intvty"),
        ("i_xmode=e2e", "p90_e2el"),
        ("i_xmode=ttft&i_pctl=p75", "p75_ttft"),
        ("i_xmode=normalized-e2e", "p90_e2e_norm_intvty"),
        ("i_pctl=p75&i_xmode=normalized-e2e", "p75_e2e_norm_intvty"),
        ("i_pctl=p75", "p75_intvty"),
        ("i_xmode=median_ttft&i_pctl=p75", "median_ttft"),
        ("x=median_intvty&i_pctl=p75", "median_intvty"),
    ],
)
def test_traces_are_shown_at_their_percentile(query, x):
    assert asked(f"i_seq=agentic&{query}")["x"] == [x]
    assert x in AXES


def test_a_percentile_of_fixed_lengths_is_named_as_ignored():
    found = Translation(QueryDict("i_seq=8k/1k&i_xmode=ttft&i_pctl=p75"))
    assert found.asked.get("x") == "median_ttft"
    assert found.ignored == ["i_pctl=p75"]
    assert "i_pctl" not in found.asked
