"""Which GPUs a rate is divided by."""

import pandas as pd
import pytest

from dashboard.analysis.rates import with_cluster_output


def output_over_all(**given: object) -> float:
    point = {
        "output_tput_per_gpu": 200.0,
        "disagg": True,
        "scenario": "8k/1k",
        "decode_gpus": 20,
        "gpus": 24,
    }
    rated = with_cluster_output(pd.DataFrame([{**point, **given}]))
    return float(rated["output_tput_per_cluster_gpu"].iloc[0])


def test_output_per_decode_gpu_is_spread_over_all_gpus():
    assert output_over_all() == pytest.approx(4000 / 24)


def test_a_single_node_and_traces_are_over_all_gpus_already():
    assert output_over_all(disagg=False, decode_gpus=None) == 200
    assert output_over_all(scenario="agentic-traces") == 200


def test_an_unknown_gpu_count_gives_no_number():
    assert pd.isna(output_over_all(gpus=None))
