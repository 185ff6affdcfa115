"""Fixed-length throughput records to points."""

import math
from dataclasses import replace
from typing import Any

import pytest

from dashboard.vocabulary.deployments import deployment_label
from ingest.conversion.points import LONGEST_SHARED, _shared_point
from ingest.rows import PointRow, SkipRow
from tests.ingest.records import FIXED, MULTINODE, rows_of

NAME = (
    "bmk_qwen3.5_1k1k_fp4_sglang_tp2-pp1-dcp1-pcp1-ep1-dpafalse_disagg-false"
    "_spec-none_conc64_mi355x-amds_03_recipe-0a1b2c3d4e5f6071"
)


def point(name: str = "results_bmk", /, **changes) -> PointRow:
    (row,) = rows_of(name, without(FIXED | changes))
    assert isinstance(row, PointRow), row
    return row


def refused(name: str = "results_bmk", /, **changes) -> SkipRow:
    (row,) = rows_of(name, without(FIXED | changes))
    assert isinstance(row, SkipRow), row
    return row


class Absent:
    """Marks a field to leave out."""


def without(row: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in row.items() if value is not Absent}


def codes(row: PointRow) -> list[str]:
    return [code for code, _ in row.warnings]


def test_a_single_node_row_becomes_a_point() -> None:
    row = point()

    who = row.identity
    assert (who.model, who.model_prefix) == ("qwen3.5", "qwen3.5")
    assert (who.hardware, who.hardware_label) == ("mi355x", "mi355x-amds")
    assert (who.scenario, who.isl, who.osl) == ("1k/1k", 1024, 1024)
    assert deployment_label(who.deployment) == "TP2"
    assert who.checkpoint == "org-a/Model-397B-FP4"
    assert row.gpus == 2
    assert row.metrics["p99_ttft"] == 1.0
    assert row.metrics["tput_per_gpu"] == 3156.8
    assert row.warnings == []


def test_the_name_gives_runner_and_recipe() -> None:
    row = point(NAME)

    assert row.runner == "mi355x-amds_03"
    assert row.identity.fingerprint == "0a1b2c3d4e5f6071"
    full = "0a1b2c3d4e5f6071" + "0" * 48
    assert point(NAME, recipe_fingerprint=full).identity.fingerprint == full


def test_a_fingerprint_that_is_no_hex_string_is_no_fingerprint() -> None:
    row = point(recipe_fingerprint=9e12)

    assert row.identity.fingerprint == ""
    assert codes(row) == ["bad_fingerprint"]


@pytest.mark.parametrize(
    ("hw", "base"),
    [
        ("gb300-cw", "gb300"),
        ("b200-dgxc-slurm", "b200"),
        ("h200-nv_3", "h200"),
        ("cluster:b300-nv", "b300"),
    ],
)
def test_runner_suffixes_do_not_hide_the_hardware(hw: str, base: str) -> None:
    assert point(hw=hw).identity.hardware == base


def test_unknown_hardware_is_refused_by_name() -> None:
    row = refused(hw="xyz900-lab")

    assert (row.reason, row.detail) == ("unmapped_hw", "unknown hardware xyz900")


def test_unknown_model_is_refused_by_name() -> None:
    row = refused(infmax_model_prefix="foo9", model="acme/Foo-9")

    assert (row.reason, row.detail) == ("unmapped_model", "unknown model foo9")


def test_model_path_stands_in_for_a_missing_prefix() -> None:
    row = point(infmax_model_prefix=Absent, model="openai/gpt-oss-120b")

    assert row.identity.model == "gptoss120b"
    assert row.identity.model_prefix == "gptoss"


def test_unknown_precision_is_kept_with_a_warning() -> None:
    row = point(precision="FP6")

    assert row.identity.precision == "fp6"
    assert codes(row) == ["unmapped_precision"]


def test_raw_framework_is_kept_in_lower_case() -> None:
    assert point(framework="SGLANG").identity.framework == "sglang"
    assert point(framework="newfw").identity.framework == "newfw"


def test_an_image_gets_its_slash_back() -> None:
    image = "nvcr.io#nvidia/x:1@sha256:ab"

    assert point(image=image).identity.image == "nvcr.io/nvidia/x:1@sha256:ab"


# GPU counts


def test_expert_parallel_ranks_share_the_gpus() -> None:
    row = point(tp=4, ep=4)

    assert row.gpus == 4
    assert deployment_label(row.identity.deployment) == "TP4/EP4"


def test_pipeline_and_prefill_context_multiply_but_decode_context_does_not() -> None:
    assert point(tp=4, pp=2, pcp_size=2, dcp_size=4).gpus == 16


def test_more_expert_ranks_than_gpus_is_unknown_and_not_guessed() -> None:
    row = point(tp=1, ep=8, dp_attention="true")

    assert row.gpus is None
    assert codes(row) == ["gpu_count_unknown"]


def test_an_explicit_gpu_count_wins() -> None:
    assert point(tp=1, ep=8, num_gpus=8).gpus == 8
    assert point(tp=4, ep=4, num_prefill_gpu=4, num_decode_gpu=4).gpus == 4


def test_a_disaggregated_row_counts_the_gpus_of_both_roles() -> None:
    row = point(**MULTINODE, tput_per_gpu=500, output_tput_per_gpu=200)

    assert (row.gpus, row.prefill_gpus, row.decode_gpus) == (24, 4, 20)
    assert deployment_label(row.identity.deployment) == "1P TP4 x 5D TP4 DPA"
    assert row.metrics["tput_per_gpu"] == 500


def test_role_gpus_are_worked_out_where_they_are_not_written() -> None:
    counts = {"num_prefill_gpu": Absent, "num_decode_gpu": Absent}

    row = point(**(MULTINODE | counts))

    assert (row.gpus, row.prefill_gpus, row.decode_gpus) == (24, 4, 20)


def test_aggregated_multinode_has_no_decode_fields() -> None:
    aggregated = {
        "disagg": False,
        "decode_num_workers": 0,
        "decode_tp": 0,
        "decode_ep": 0,
        "num_decode_gpu": 0,
    }

    row = point(**(MULTINODE | aggregated))

    d = row.identity.deployment
    assert (row.gpus, row.decode_gpus) == (4, 0)
    assert d.multinode
    assert not d.disagg
    assert d.decode_workers == 0
    assert d.decode_tp is None
    assert d.decode_dp_attention is None
    assert deployment_label(d) == "1P TP4"


def test_aggregated_multinode_is_told_by_its_decode_gpus_too() -> None:
    row = point(**(MULTINODE | {"num_decode_gpu": 0, "decode_num_workers": 1}))

    assert row.identity.deployment.decode_workers == 0


def test_missing_sizes_are_one_and_missing_attention_is_plain() -> None:
    absent = dict.fromkeys(("pp", "ep", "dp_attention"), Absent)

    assert point(**absent).identity.deployment == point().identity.deployment


# Oldest rows


def test_first_schema_takes_lengths_and_concurrency_from_names() -> None:
    name = "bmk_dsr1_1k8k_fp8_sglang_tp8_ep1_dpa_False_conc32_h200-nv_1"
    absent = dict.fromkeys(
        ("isl", "osl", "conc", "image", "is_multinode", "spec_decoding"), Absent
    )

    row = point(name, **absent, infmax_model_prefix="dsr1", hw="h200-nv", tp=8)

    who = row.identity
    assert (who.scenario, who.concurrency) == ("1k/8k", 32)
    assert (who.image, who.deployment.spec_method) == ("", "none")
    assert row.gpus == 8


def test_without_lengths_anywhere_a_row_is_refused() -> None:
    row = refused(isl=Absent, osl=Absent)

    assert row.reason == "missing_isl_osl_conc"
    assert row.detail == "isl is None, osl is None"


@pytest.mark.parametrize("conc", [0, -4, None])
def test_a_concurrency_that_is_not_positive_is_refused(conc: int | None) -> None:
    assert refused(conc=conc).reason == "missing_isl_osl_conc"


def test_second_schema_single_nodes_may_only_have_roles() -> None:
    roles = {"prefill_tp": 8, "prefill_ep": 8, "prefill_dp_attention": "true"}

    row = point(tp=Absent, ep=Absent, dp_attention=Absent, **roles)

    assert deployment_label(row.identity.deployment) == "TP8/EP8 DPA"


def test_disaggregation_is_inferred_where_it_is_not_written() -> None:
    absent = {"disagg": Absent, "is_multinode": Absent}

    row = point(framework="dynamo-trtllm", **absent, num_prefill_gpu=4)

    assert row.identity.deployment.disagg
    assert row.identity.deployment.multinode
    assert not point(**absent).identity.deployment.disagg
    assert not point(framework="dynamo-vllm").identity.deployment.disagg


# Numbers


def test_reciprocal_of_a_deviation_is_dropped() -> None:
    row = point(std_tpot=0.001, std_intvty=1000.0)

    assert "std_intvty" not in row.metrics
    assert row.metrics["std_tpot"] == 0.001


def test_zero_time_per_token_keeps_throughput_without_interactivity() -> None:
    row = point(conc=1, median_tpot=0, median_intvty=math.inf)

    assert row.metrics["tput_per_gpu"] == 3156.8
    assert row.metrics["median_tpot"] == 0
    assert "median_intvty" not in row.metrics
    assert row.metrics["p99_intvty"] == 40
    assert set(codes(row)) == {"nan_token", "zero_tpot"}


def test_nan_is_missing_with_a_warning_and_null_is_missing() -> None:
    row = point(p99_ttft=math.nan, median_e2el=None)

    assert "p99_ttft" not in row.metrics
    assert "median_e2el" not in row.metrics
    assert row.warnings == [("nan_token", "p99_ttft is nan")]


def test_zero_is_a_value() -> None:
    assert point(median_ttft=0).metrics["median_ttft"] == 0


def test_numbers_may_be_strings_and_names_may_hold_a_dot() -> None:
    row = point(**{"p99.9_ttft": "3.4", "tp": "4", "conc": "8.0", "isl": 1024.0})

    assert row.metrics["p99.9_ttft"] == 3.4
    assert row.identity.deployment.tp == 4
    assert row.identity.concurrency == 8


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("tp", "two"),
        ("conc", [64]),
        ("hw", 355),
        ("median_ttft", {"value": 1}),
        ("tput_per_gpu", "fast"),
        ("p99_ttft", True),
    ],
)
def test_a_wrong_type_is_refused_naming_the_field(field: str, value: object) -> None:
    row = refused(**{field: value})

    assert row.reason == "wrong_type"
    assert row.detail.startswith(f"{field}: ")


@pytest.mark.parametrize("value", [7, "text", None, ["list"]], ids=repr)
def test_a_record_that_is_no_object_is_refused(value: object) -> None:
    (row,) = rows_of("results_bmk", value)

    assert isinstance(row, SkipRow)
    assert row.reason == "wrong_type"


def test_unknown_fields_do_no_harm() -> None:
    row = point(new_block={"a": [1]}, warp_factor=9, recipe_v2="x")

    assert row.warnings == []
    assert "warp_factor" not in row.metrics


@pytest.mark.parametrize("field", ["hw", "framework", "precision", "tp"])
def test_a_missing_field_is_named(field: str) -> None:
    row = refused(**{field: Absent})

    assert row.reason == "missing_field"
    assert field in row.detail


def test_no_successful_request_is_a_failed_run() -> None:
    row = refused(num_requests_successful=0, tput_per_gpu=0, median_intvty=0)

    assert row.reason == "failed_run"
    assert row.detail == "TP2 c64: 0 of ? requests succeeded"


def test_a_failed_run_of_unknown_hardware_says_what_little_it_can() -> None:
    row = refused(num_requests_successful=0, hw="zx81", conc=None)

    assert row.detail == "TP2 c?: 0 of ? requests succeeded"


def test_zero_of_zero_requests_is_a_failed_run() -> None:
    row = refused(num_requests_successful=0, num_requests_total=0)

    assert row.detail == "TP2 c64: 0 of 0 requests succeeded"


@pytest.mark.parametrize(("value", "spec"), [("none", "none"), ("MTP", "mtp")])
def test_the_spec_method_of_the_row_decides(value: str, spec: str) -> None:
    name = NAME.replace("spec-none", "spec-mtp")

    assert point(name, spec_decoding=value).identity.deployment.spec_method == spec


def test_router_and_transfer_are_their_names() -> None:
    row = point(router={"name": "dynamo", "version": "1"}, kv_p2p_transfer="nixl")

    assert (row.identity.router, row.identity.kv_p2p_transfer) == ("dynamo", "nixl")


def test_validity_of_power_is_a_fact() -> None:
    row = point(power_valid=0, power_metric_schema_version=2)

    assert row.facts == {"power_valid": False, "power_metric_schema_version": 2}


def test_rows_of_one_recipe_keep_what_is_their_own() -> None:
    requests = {"num_requests_total": 9, "num_requests_successful": 8}
    other = FIXED | requests | {"conc": 128, "median_ttft": math.nan}

    first, second = rows_of("results_bmk", FIXED, other)

    assert isinstance(first, PointRow)
    assert isinstance(second, PointRow)
    assert (first.identity.concurrency, second.identity.concurrency) == (64, 128)
    assert second.identity == replace(first.identity, concurrency=128)
    assert (first.ref.index, second.ref.index) == (0, 1)
    assert first.metrics["median_ttft"] == 0.3
    assert "median_ttft" not in second.metrics
    assert (codes(first), codes(second)) == ([], ["nan_token"])


def test_rows_whose_values_only_compare_equal_are_as_many_recipes() -> None:
    told = (1, True, 0.0, -0.0)

    found = rows_of("results_bmk", *(FIXED | {"recipe_fingerprint": v} for v in told))

    texts = [row.warnings[0][1] for row in found if isinstance(row, PointRow)]
    assert texts == [f"not 64 hex digits: {v}" for v in told]


def test_what_is_long_does_not_stay_in_memory() -> None:
    long = FIXED | {"image": "x" * LONGEST_SHARED}
    before = _shared_point.cache_info().currsize

    (row,) = rows_of("results_bmk", long)

    assert isinstance(row, PointRow)
    assert row.identity.image == long["image"]
    assert _shared_point.cache_info().currsize == before


def test_rows_of_one_recipe_may_name_a_router_with_its_version() -> None:
    router = {"name": "a-router", "version": "2.4"}
    text = '{"name": "a-router", "version": "2.4"}'

    rows = [FIXED | {"router": told} for told in (router, text, router)]
    first, second, third = (point(**row) for row in rows)

    assert (first.identity.router, first.facts["router"]) == ("a-router", router)
    assert (second.identity.router, second.facts["router"]) == (text, text)
    assert third.facts == first.facts


def test_a_failed_row_of_a_recipe_takes_no_other_with_it() -> None:
    failed = FIXED | {"num_requests_successful": 0, "num_requests_total": 9}

    rows = rows_of("results_bmk", FIXED, failed, FIXED | {"conc": 32})

    assert [type(row) for row in rows] == [PointRow, SkipRow, PointRow]


@pytest.mark.parametrize("conc", [16, "16", 16.0], ids=["int", "text", "float"])
def test_a_concurrency_is_read_however_it_is_written(conc: object) -> None:
    assert point(conc=conc).identity.concurrency == 16
