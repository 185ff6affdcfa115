"""Artifact names of today and of old, and what they tell."""

import pytest

from ingest.artifacts.names import Kind, Parallel, kind_of, parse_name


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("results_bmk", Kind.RESULTS),
        ("bmk_x", Kind.POINT),
        ("bmk_agentic_x", Kind.POINT_AGENTIC),
        ("agentic_x", Kind.AGENTIC),
        ("server_logs_x", Kind.SERVER_LOGS),
        ("eval_server_logs_x", Kind.EVAL_SERVER_LOGS),
        ("multinode_server_logs_x", Kind.MULTINODE_SERVER_LOGS),
        ("gpu_metrics_x", Kind.GPU_METRICS),
        ("eval_gpu_metrics_x", Kind.EVAL_GPU_METRICS),
        ("power_audit_x", Kind.POWER_AUDIT),
        ("eval_x", Kind.EVAL),
        ("eval_results_all", Kind.EVAL_RESULTS),
        ("changelog-metadata", Kind.CHANGELOG),
        ("run-stats", Kind.RUN_STATS),
        ("reused-ingest-artifacts", Kind.REUSED),
        ("reused-ingest-metadata", Kind.REUSE_SOURCE),
        ("profile_x", Kind.OTHER),
        ("speedbench-x", Kind.OTHER),
        ("results_bmk_old", Kind.OTHER),
    ],
)
def test_kinds_by_name(name: str, kind: Kind) -> None:
    assert kind_of(name) is kind


def test_a_current_single_node_name() -> None:
    parts = parse_name(
        "bmk_agentic_qwen3.5_tp2_conc4_kvdram-hicache_spec-mtp_fp4_sglang_tp2-pp1-dcp1"
        "-pcp1-ep2-dpafalse_disagg-false_spec-mtp_conc4_mi355x-amds_01"
        "_recipe-99aa99aa99aa99aa"
    )

    assert parts.runner == "mi355x-amds_01"
    assert parts.recipe == "99aa99aa99aa99aa"
    assert parts.experiment == "qwen3.5_tp2_conc4_kvdram-hicache_spec-mtp"
    assert (parts.precision, parts.framework, parts.spec) == ("fp4", "sglang", "mtp")
    assert parts.offload == "dram-hicache"
    assert parts.concurrencies == (4,)
    assert parts.disagg is False
    assert parts.single == Parallel(2, 1, 1, 1, 2, dp_attention=False)


def test_a_current_multinode_name() -> None:
    parts = parse_name(
        "eval_qwen3.5_8k1k_fp8_dynamo-sglang_prefill-tp4-pp1-dcp1-pcp1-ep4-dptrue-nw8"
        "_decode-tp16-pp1-dcp1-pcp1-ep16-dptrue-nw1_disagg-true_spec-none"
        "_conc2048x4096_gb200-nv_2"
    )

    assert parts.prefill == Parallel(4, 1, 1, 1, 4, dp_attention=True, workers=8)
    assert parts.decode == Parallel(16, 1, 1, 1, 16, dp_attention=True, workers=1)
    assert parts.concurrencies == (2048, 4096)
    assert parts.experiment == "qwen3.5_8k1k"
    assert parts.runner == "gb200-nv_2"


@pytest.mark.parametrize(
    ("core", "single", "spec"),
    [
        ("70b_1k1k_fp8_vllm_tp8_conc64", Parallel(8), ""),
        (
            "dsr1_1k8k_fp8_sglang_tp8_ep8_dpa_True_conc64",
            Parallel(8, ep=8, dp_attention=True),
            "",
        ),
        (
            "dsr1_1k8k_fp8_sglang_tp8_ep1_dpa_false_conc64_specdecode_draft_model",
            Parallel(8, ep=1, dp_attention=False),
            "draft_model",
        ),
        (
            "dsr1_8k1k_fp8_sglang_tp8-ep1-dpafalse_disagg-false_spec-none_conc64",
            Parallel(8, ep=1, dp_attention=False),
            "none",
        ),
        (
            "dsr1_8k1k_fp8_trt_tp8-dcp2-pcp1-ep1-dpatrue_disagg-false_spec-mtp_conc64",
            Parallel(8, dcp=2, pcp=1, ep=1, dp_attention=True),
            "mtp",
        ),
    ],
)
def test_historical_single_node_names(core: str, single: Parallel, spec: str) -> None:
    parts = parse_name(f"bmk_{core}_h200-nv_1")

    assert (parts.single, parts.spec) == (single, spec)
    assert parts.concurrencies == (64,)
    assert parts.runner == "h200-nv_1"
    assert parts.logical_name == core


def test_a_historical_multinode_name() -> None:
    core = "dsr1_8k1k_fp4_ptp4pep4_dtp8dep8_dynamo-trt_specdec-mtp_conc4x8"

    parts = parse_name(f"bmk_{core}_gb200-nv_1")

    assert (parts.prefill, parts.decode) == (Parallel(4, ep=4), Parallel(8, ep=8))
    assert (parts.framework, parts.spec) == ("dynamo-trt", "mtp")
    assert parts.concurrencies == (4, 8)


def test_retries_and_companions_share_their_names() -> None:
    core = "m_8k1k_fp4_sglang_tp2-ep1-dpafalse_disagg-false_spec-none_conc8"
    first = parse_name(f"bmk_{core}_mi355x-amds_03_recipe-{'0' * 16}")
    retry = parse_name(f"bmk_{core}_mi355x-amds_04_recipe-{'0' * 16}")
    logs = parse_name(f"server_logs_{core}_mi355x-amds_03_recipe-{'0' * 16}")

    assert first.logical_name == retry.logical_name == core
    assert first.result_name == logs.result_name != retry.result_name


def test_an_unknown_form_keeps_its_kind() -> None:
    parts = parse_name("bmk_something_new")

    assert (parts.kind, parts.framework, parts.single) == (Kind.POINT, "", None)
