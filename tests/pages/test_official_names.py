"""The official dashboard's parameters, by their meaning."""

import pytest
from django.http import QueryDict

from dashboard.forms.official_names import Translation


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
    ["i_metric=y_costh", "i_xmode=cost", "i_disagg=7", "e_bench=x"],
)
def test_what_is_not_understood_is_named_and_changes_nothing(query):
    found = Translation(QueryDict(query))
    assert found.ignored == [query]
    assert not found.asked


def test_own_names_win_and_the_name_given_is_kept():
    found = Translation(QueryDict("i_prec=fp8&precision=fp4&i_seq=9k9k"))
    assert found.asked.getlist("precision") == ["fp4"]
    assert found.names["scenario"] == "i_seq"
