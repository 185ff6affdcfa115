"""Records of replayed traces to points."""

import math
from typing import Any

import pytest

from dashboard.vocabulary.deployments import deployment_label
from ingest.conversion.agentic import recompute_interactivity
from ingest.rows import PointRow, SkipRow
from tests.ingest.records import FIXED, agentic, rows_of

NAME = (
    "bmk_agentic_qwen3.5_tp2_conc4_kvnone_spec-mtp_fp4_sglang_tp2-pp1-dcp1-pcp1-ep2"
    "-dpafalse_disagg-false_spec-mtp_conc4_mi355x-amds_01_recipe-99aa99aa99aa99aa"
)


def point(value: dict[str, Any], name: str = NAME) -> PointRow:
    (row,) = rows_of(name, value)
    assert isinstance(row, PointRow), row
    return row


def test_a_nested_row_becomes_a_point() -> None:
    row = point(agentic())

    who = row.identity
    assert (who.scenario, who.isl, who.osl) == ("agentic-traces", None, None)
    assert deployment_label(who.deployment) == "TP2/EP2 mtp"
    assert (who.concurrency, row.gpus) == (4, 2)
    assert row.metrics["tput_per_gpu"] == 10614.4
    assert row.metrics["median_ttft"] == 0.8
    assert row.metrics["median_qps"] == 0
    assert row.metrics["mean_input_tokens"] == 88000
    assert row.metrics["duration_seconds"] == 3598.2
    assert row.metrics["server_gpu_cache_hit_rate"] == 0.78
    assert row.metrics["gpu_kv_cache_usage_pct"] == 0.82
    assert row.metrics["total_prompt_tokens"] == 75000000
    assert row.metrics["theoretical_cache_hit_rate"] == 0.97
    assert "window_seconds_qps" not in row.metrics
    assert row.facts["adapter"] == "sglang"


def test_it_is_known_in_the_aggregate_too() -> None:
    assert point(agentic(), "results_bmk").identity.scenario == "agentic-traces"


def test_interactivity_is_the_reciprocal_of_latency() -> None:
    row = point(agentic())

    assert row.metrics["median_intvty"] == 250
    assert row.metrics["mean_intvty"] == 200
    assert "std_intvty" not in row.metrics
    assert row.facts["stored_interactivity"] == {
        "mean_intvty": 210,
        "median_intvty": 251,
        "p90_intvty": 170,
    }


def test_latency_of_the_full_response_is_the_one_that_counts() -> None:
    metrics = {
        "median_itl": 0.004,
        "p90_itl": 0.005,
        "std_itl": 0.1,
        "median_full_response_itl": 0.005,
        "p90_intvty": 1.0,
        "p90_full_response_intvty": 2.0,
        "median_e2e_norm_intvty": 180.0,
    }

    recompute_interactivity(metrics)

    assert metrics == {
        "median_itl": 0.005,
        "median_full_response_itl": 0.005,
        "median_intvty": 200,
        "median_e2e_norm_intvty": 180.0,
    }


def test_a_latency_that_is_not_positive_gives_no_interactivity() -> None:
    metrics = {"median_itl": 0.0, "median_intvty": 7.0}

    recompute_interactivity(metrics)

    assert metrics == {"median_itl": 0.0}


@pytest.mark.parametrize("total", [22, 0])
def test_zero_successes_are_a_failed_run(total: int) -> None:
    value = agentic(
        num_requests_successful=0,
        num_requests_total=total,
        request_metrics={"latency": {"ttft": {}}, "throughput": {"per_gpu": {}}},
    )

    (row,) = rows_of(NAME, value)

    assert isinstance(row, SkipRow)
    assert row.reason == "failed_run"
    assert row.detail == f"TP2/EP2 mtp c4: 0 of {total} requests succeeded"


def test_a_failed_run_names_its_whole_deployment() -> None:
    value = agentic(
        num_requests_successful=0,
        kv_offloading="dram",
        kv_offload_backend="hicache",
    )

    (row,) = rows_of(NAME, value)

    assert isinstance(row, SkipRow)
    label = "TP2/EP2 offload=dram:hicache mtp"
    assert row.detail.startswith(f"{label} c4: 0 of ")


@pytest.mark.parametrize(
    ("fields", "label"),
    [
        ({"kv_offloading": "none"}, "TP2/EP2 mtp"),
        (
            {"kv_offloading": "dram", "kv_offload_backend": {"name": "HiCache"}},
            "TP2/EP2 offload=dram:hicache mtp",
        ),
        (
            {"kv_offloading": "dram", "kv_offload_backend": "lmcache"},
            "TP2/EP2 offload=dram:lmcache mtp",
        ),
        (
            {"kv_offloading": "dram", "kv_offload_backend": ""},
            "TP2/EP2 offload=dram mtp",
        ),
        ({"kv_offloading": None, "offload_mode": "off"}, "TP2/EP2 mtp"),
        ({"kv_offloading": None, "offload_mode": "on"}, "TP2/EP2 offload=on mtp"),
        ({"kv_offloading": None, "offloading": "dram"}, "TP2/EP2 offload=dram mtp"),
    ],
)
def test_offload_has_had_many_forms(fields: dict[str, Any], label: str) -> None:
    row = point(agentic(**fields))

    assert deployment_label(row.identity.deployment) == label


def test_multinode_ignores_the_sums_at_the_top() -> None:
    roles = {
        "is_multinode": True,
        "disagg": True,
        "tp": 12,
        "ep": 8,
        "dp_attention": "true",
        "prefill_tp": 4,
        "prefill_num_workers": 2,
        "prefill_ep": 1,
        "decode_tp": 8,
        "decode_ep": 8,
        "decode_num_workers": 1,
        "decode_dp_attention": "true",
        "num_prefill_gpu": 8,
        "num_decode_gpu": 8,
    }

    row = point(agentic(**roles))

    d = row.identity.deployment
    assert deployment_label(d) == "2P TP4 x 1D TP8/EP8 DPA mtp"
    assert (d.tp, d.ep, d.dp_attention) == (None, None, None)
    assert row.gpus == 16


def test_power_is_patched_in_flat() -> None:
    row = point(agentic(avg_power_w=643.8, power_valid=1))

    assert row.metrics["avg_power_w"] == 643.8
    assert row.facts["power_valid"] is True


def test_a_wrong_type_inside_a_block_is_named_by_its_path() -> None:
    (row,) = rows_of(NAME, agentic(request_metrics={"latency": {"ttft": [1, 2]}}))

    assert isinstance(row, SkipRow)
    assert row.reason == "wrong_type"
    assert row.detail.startswith("request_metrics.latency.ttft: ")


def test_nan_inside_a_block_is_missing_with_a_warning() -> None:
    value = agentic(request_metrics={"latency": {"ttft": {"p50": math.nan, "p90": 2}}})

    row = point(value)

    assert row.metrics["p90_ttft"] == 2
    assert "median_ttft" not in row.metrics
    assert [code for code, _ in row.warnings] == ["nan_token"]


def test_the_older_flat_shape() -> None:
    flat = {name: FIXED[name] for name in ("hw", "framework", "precision", "model")}
    flat |= {
        "infmax_model_prefix": "dsr1",
        "scenario_type": "agentic-coding",
        "tp": 8,
        "users": 16,
        "offload_mode": "off",
        "p50_ttft": 0.5,
        "p90_ttlt": 30.0,
        "p90_itl": 0.01,
        "p90_intvty": 99.0,
        "tput_per_gpu": 800.0,
    }

    row = point(flat, "results_bmk")

    assert row.identity.concurrency == 16
    assert row.identity.deployment.kv_offloading == "none"
    assert row.metrics == {
        "median_ttft": 0.5,
        "p90_e2el": 30.0,
        "p90_itl": 0.01,
        "p90_intvty": 100.0,
        "tput_per_gpu": 800.0,
    }


def test_a_row_without_concurrency_is_refused() -> None:
    (row,) = rows_of("results_bmk", agentic(conc=None))

    assert isinstance(row, SkipRow)
    assert row.reason == "missing_isl_osl_conc"
