"""Eval records to rows: an artifact's own files, and the aggregate's rows."""

import math
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import pytest

from dashboard.vocabulary.deployments import deployment_label
from ingest.conversion import ArtifactMeta, RunConversion
from ingest.rows import EvalRow, SkipRow
from tests.ingest.records import (
    EVAL,
    FIXED,
    META_ENV,
    MULTINODE,
    record,
    results,
    rows_of,
)

SINGLE = (
    "eval_qwen3.5_1k1k_qwen3.5_1k1k_fp4_sglang_tp2-pp1-dcp1-pcp1-ep1-dpafalse"
    "_disagg-false_spec-none_conc64_mi355x-amds_02"
)
SEVERAL = (
    "eval_qwen3.5_8k1k_fp8_dynamo-sglang_prefill-tp4-pp1-dcp1-pcp1-ep4-dptrue-nw8"
    "_decode-tp16-pp1-dcp1-pcp1-ep16-dptrue-nw1_disagg-true_spec-none"
    "_conc2048x4096_gb200-nv_2"
)
OFFLOADED = (
    "eval_qwen3.5_tp2_conc4_kvdram-hicache_spec-mtp"
    "_qwen3.5_tp2_conc4_kvdram-hicache_spec-mtp_fp4_sglang_tp2-pp1-dcp1-pcp1-ep2"
    "-dpafalse_disagg-false_spec-mtp_conc4_mi355x-amds_02"
)
FILE = "results_2026-08-21T10-00-00.100000.json"


def artifact(files: Mapping[str, object], name: str = SINGLE) -> list[Any]:
    records = [record(value, member) for member, value in sorted(files.items())]
    return list(RunConversion().rows(ArtifactMeta(0, name), records))


def aggregate_row(**changes) -> Any:
    (row,) = rows_of("eval_results_all", EVAL | changes)
    return row


def only_eval(rows: list[Any]) -> EvalRow:
    (row,) = rows
    assert isinstance(row, EvalRow), row
    return row


def only_skip(rows: list[Any]) -> SkipRow:
    (row,) = rows
    assert isinstance(row, SkipRow), row
    return row


def test_an_eval_artifact_becomes_an_eval() -> None:
    row = only_eval(artifact({"meta_env.json": META_ENV, FILE: results()}))

    assert (row.task, row.strict, row.flexible, row.n) == (
        "gsm8k",
        0.9697,
        0.9568,
        1319,
    )
    assert (row.strict_se, row.flexible_se) == (0.005, 0.006)
    assert row.score == 0.9697
    assert row.lm_eval_version == "0.4.9"
    assert row.measured_at == datetime(2026, 8, 21, 10, 0, 0, 100000, tzinfo=UTC)
    assert row.result_file == FILE
    assert row.identity.scenario == "1k/1k"
    assert row.identity.concurrency == 64


def test_single_node_evals_join_their_points() -> None:
    (point,) = rows_of("results_bmk", FIXED)
    own = only_eval(artifact({"meta_env.json": META_ENV, FILE: results()}))
    defaults = {
        "prefill_num_workers": 1,
        "decode_num_workers": 1,
        "prefill_tp": 2,
        "decode_tp": 2,
        "dp_attention": "False",
    }
    listed = aggregate_row(**defaults)

    for row in (own, listed):
        assert row.identity.deployment == point.identity.deployment
        assert row.identity.hardware == point.identity.hardware
        assert row.identity.hardware_label == point.identity.hardware_label
        assert row.identity.framework == point.identity.framework
        assert row.identity.disagg_known


@pytest.mark.parametrize("flag", ["true", "True", True], ids=repr)
def test_multinode_evals_are_multinode_however_it_is_written(flag: object) -> None:
    row = aggregate_row(
        is_multinode=flag,
        tp=None,
        prefill_tp=4,
        decode_tp=8,
        prefill_num_workers=2,
        decode_num_workers=1,
        dp_attention="prefill=true,decode=false",
        prefill_dp_attention="true",
        decode_dp_attention="false",
    )

    d = row.identity.deployment
    assert deployment_label(d) == "2P TP4 DPA x 1D TP8"
    assert d.disagg
    assert not row.identity.disagg_known


def test_multinode_evals_join_points_of_their_topology() -> None:
    (point,) = rows_of("results_bmk", FIXED | MULTINODE)
    sizes = {key: value for key, value in MULTINODE.items() if "gpu" not in key}

    row = aggregate_row(**(sizes | {"tp": 0, "ep": 1, "disagg": None}))

    assert row.identity.deployment == point.identity.deployment


def test_the_name_tells_disaggregation_and_batched_concurrencies() -> None:
    env = META_ENV | {
        "is_multinode": True,
        "framework": "dynamo-sglang",
        "precision": "fp8",
        "hw": "gb200-nv",
        "prefill_tp": 4,
        "prefill_ep": 4,
        "prefill_num_workers": 8,
        "decode_tp": 16,
        "decode_ep": 16,
        "conc": 2048,
        "eval_concs": [2048, 4096, 8192],
        "completed_eval_concs": [2048, 4096],
        "failed_eval_concs": [8192],
    }
    files = {
        "meta_env.json": env,
        "results_2026-08-31T12-00-00_conc2048.json": results(0.95),
        "results_2026-08-31T12-16-00_conc4096_1.json": results(0.96),
        "results_2026-08-31T12-20-00_conc8192.json": results(0.10),
    }

    rows = artifact(files, SEVERAL)

    evals = {r.identity.concurrency: r for r in rows if isinstance(r, EvalRow)}
    skips = [(r.reason, r.detail) for r in rows if isinstance(r, SkipRow)]
    assert {conc: row.strict for conc, row in evals.items()} == {2048: 0.95, 4096: 0.96}
    assert skips == [
        ("failed_eval", "c8192 failed"),
        ("failed_eval", "c8192 was not completed"),
    ]
    assert evals[2048].identity.disagg_known
    assert evals[2048].identity.deployment.disagg


def test_of_several_files_the_newest_by_name_counts() -> None:
    files = {
        "meta_env.json": META_ENV,
        "results_2026-08-21T10-00-00.1.json": results(0.90),
        "results_2026-08-21T11-00-00.1.json": results(0.97),
        "results_2026-08-20T23-00-00.1.json": results(0.80),
    }

    row = only_eval(artifact(files))

    assert row.strict == 0.97
    assert [code for code, _ in row.warnings] == ["eval_rerun", "eval_rerun"]
    older = [(r.measured_at.day, r.strict) for r in row.repeats if r.measured_at]
    assert older == [(20, 0.80), (21, 0.90)]


def test_results_without_a_time_are_all_kept_and_flagged() -> None:
    files = {
        "meta_env.json": META_ENV,
        "results_a.json": results(0.97),
        "results_b.json": results(0.95),
    }

    row = only_eval(artifact(files))

    assert [r.strict for r in row.repeats] == [0.97]
    assert {code for code, _ in row.warnings} == {
        "eval_rerun",
        "ambiguous_rerun",
        "no_file_time",
    }


def test_agentic_evals_take_offload_from_the_name() -> None:
    env = META_ENV | {
        "isl": "0",
        "osl": "0",
        "ep": 2,
        "spec_decoding": "mtp",
        "conc": 4,
    }

    row = only_eval(artifact({"meta_env.json": env, FILE: results()}, OFFLOADED))

    assert row.identity.scenario == "agentic-traces"
    assert (row.identity.isl, row.identity.osl) == (None, None)
    label = deployment_label(row.identity.deployment)
    assert label == "TP2/EP2 offload=dram:hicache mtp"


def test_gpqa_has_a_flexible_score_only() -> None:
    gpqa = {
        "lm_eval_version": "0.4.9",
        "results": {
            "gpqa_diamond_cot_n_shot": {
                "exact_match,extract_abcd": 0.7,
                "exact_match_stderr,extract_abcd": 0.03,
            }
        },
        "n-samples": {"gpqa_diamond_cot_n_shot": {"original": 198, "effective": 198}},
    }

    row = only_eval(artifact({"meta_env.json": META_ENV, FILE: gpqa}))

    assert (row.strict, row.flexible, row.score) == (None, 0.7, None)
    assert row.n == 198


def test_swebench_is_strict_by_what_was_resolved() -> None:
    swe = {"results": {"swebench_lite": {"exact_match,resolved": 0.55}}}
    files = {"meta_env.json": META_ENV, "results_swebench_lite.json": swe}

    row = only_eval(artifact(files))

    assert (row.strict, row.score, row.measured_at) == (0.55, 0.55, None)


def test_accuracy_stands_in_where_there_is_no_filter() -> None:
    other = {"results": {"mmlu": {"acc,none": 0.8, "acc_stderr,none": 0.01}}}

    row = only_eval(artifact({"meta_env.json": META_ENV, FILE: other}))

    assert (row.strict, row.flexible, row.score) == (None, None, 0.8)


@pytest.mark.parametrize("score", [96.97, -0.1])
def test_scores_out_of_range_are_refused(score: float) -> None:
    listed = aggregate_row(em_strict=score, score=score)
    own = only_skip(artifact({"meta_env.json": META_ENV, FILE: results(score)}))

    for row in (listed, own):
        assert isinstance(row, SkipRow)
        assert row.reason == "score_out_of_range"
        assert "score out of [0,1]" in row.detail


def test_a_missing_flexible_score_is_missing() -> None:
    row = aggregate_row(em_flexible=None)

    assert (row.strict, row.flexible) == (0.9697, None)


def test_a_nan_score_is_missing_with_a_warning() -> None:
    row = aggregate_row(em_flexible=math.nan)

    assert row.flexible is None
    assert row.warnings[0][0] == "nan_token"


def test_no_score_at_all_is_refused() -> None:
    row = aggregate_row(em_strict=None, em_flexible=None, score=None)

    assert isinstance(row, SkipRow)
    assert row.reason == "no_score"


@pytest.mark.parametrize("conc", [None, 0])
def test_what_is_not_known_stays_unknown_and_equal(conc: int | None) -> None:
    row = aggregate_row(isl=None, osl=None, conc=conc)

    assert row.identity.scenario == "unknown"
    assert (row.identity.isl, row.identity.osl) == (None, None)
    assert row.identity.concurrency == 0


def test_lengths_come_from_the_source_where_the_row_has_none() -> None:
    source = "eval_results/eval_dsr1_1k8k_dsr1_1k8k_fp4_sglang_tp4_ep4_dpa_false"
    source += "_conc128_specdecode_none_b200-nv_1/results_2026-01-21T00-34-31.7.json"
    old = {k: v for k, v in EVAL.items() if k not in ("isl", "osl", "is_multinode")}

    (row,) = rows_of("eval_results_all", old | {"source": source})

    assert isinstance(row, EvalRow)
    assert row.identity.scenario == "1k/8k"
    assert row.measured_at == datetime(2026, 1, 21, 0, 34, 31, 700000, tzinfo=UTC)


def test_software_that_the_job_did_not_know_is_in_the_name() -> None:
    env = META_ENV | {"framework": "unknown", "precision": "unknown"}

    row = only_eval(artifact({"meta_env.json": env, FILE: results()}))

    assert (row.identity.framework, row.identity.precision) == ("sglang", "fp4")


def test_an_artifact_without_its_environment_is_refused() -> None:
    assert only_skip(artifact({FILE: results()})).reason == "missing_meta_env"


def test_an_artifact_without_results_is_reported() -> None:
    row = only_skip(artifact({"meta_env.json": META_ENV}))

    assert row.reason == "missing_results"


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ({"results": {}}, "no_score"),
        ({"results": []}, "wrong_type"),
        (["no", "object"], "wrong_type"),
    ],
)
def test_broken_results_are_refused(value: object, reason: str) -> None:
    row = only_skip(artifact({"meta_env.json": META_ENV, FILE: value}))

    assert row.reason == reason


def test_one_result_in_aggregate_and_own_artifact_is_one_eval() -> None:
    conversion = RunConversion()
    own = [record(META_ENV, "meta_env.json"), record(results(), FILE)]
    moved = "eval_results/results_2026-08-21T10-00-00.100000.json"
    listed = [
        record(EVAL | {"source": f"eval_results/{SINGLE}/{FILE}"}, index=0),
        record(EVAL | {"source": moved}, index=1),
        record(EVAL | {"conc": 128, "source": moved}, index=2),
    ]

    first = list(conversion.rows(ArtifactMeta(0, SINGLE), own))
    second: list[Any] = list(
        conversion.rows(ArtifactMeta(1, "eval_results_all"), listed)
    )

    assert len(first) == 1
    assert [row.identity.concurrency for row in second] == [128]


def test_the_only_artifact_is_known_by_its_file_whatever_its_pipelines() -> None:
    conversion = RunConversion()
    name = SINGLE.replace("pp1", "pp2")
    own = [record(META_ENV | {"pp": 2}, "meta_env.json"), record(results(), FILE)]
    listed = [
        record(EVAL | {"source": f"eval_results/{FILE}"}, index=0),
        record(EVAL | {"source": "eval_results/results_x.json", "conc": 8}, index=1),
    ]

    first = list(conversion.rows(ArtifactMeta(0, name), own))
    second: list[Any] = list(
        conversion.rows(ArtifactMeta(1, "eval_results_all"), listed)
    )

    assert only_eval(first).identity.deployment.pp == 2
    assert [row.identity.concurrency for row in second] == [8]


def test_two_tasks_in_one_file_are_two_evals_and_a_bad_one_is_told() -> None:
    both = results()
    both["results"]["mmlu"] = {"acc,none": 0.8}
    both["results"]["percent"] = {"exact_match,strict-match": 96.97}
    both["n-samples"]["mmlu"] = {"original": 10, "effective": 10}

    rows = artifact({"meta_env.json": META_ENV, FILE: both})

    scores = {r.task: r.score for r in rows if isinstance(r, EvalRow)}
    assert scores == {"gsm8k": 0.9697, "mmlu": 0.8}
    (refused,) = (r for r in rows if isinstance(r, SkipRow))
    assert (refused.reason, refused.detail) == (
        "score_out_of_range",
        "percent: score out of [0,1]: strict is 96.97",
    )


@pytest.mark.parametrize(
    ("changes", "code", "text"),
    [
        ({"n_eff": 0}, "no_questions", "is 0"),
        ({"n_eff": None}, "no_questions", "is None"),
        ({"em_strict": None, "score": None}, "missing_score", "its strict score"),
        ({"source": "eval_results/a/results.json"}, "no_file_time", "no time"),
    ],
)
def test_what_makes_a_result_unfit_is_flagged(
    changes: dict[str, Any], code: str, text: str
) -> None:
    source = {"source": f"eval_results/{SINGLE}/{FILE}"}

    row = aggregate_row(**(source | changes))

    assert isinstance(row, EvalRow)
    (warning,) = row.warnings
    assert warning[0] == code
    assert text in warning[1]


def test_a_task_judged_by_its_flexible_score_lacks_none() -> None:
    gpqa = {"task": "gpqa_diamond_cot_n_shot", "em_strict": None, "score": None}
    row = aggregate_row(**gpqa, source=f"eval_results/{SINGLE}/{FILE}")

    assert (row.flexible, row.score, row.warnings) == (0.9568, None, [])


def test_nul_bytes_in_texts_are_no_reason_to_lose_a_score() -> None:
    odd = results() | {"lm_eval_version": "0.4\0.9", "model_name": "a\0b"}

    row = only_eval(artifact({"meta_env.json": META_ENV, FILE: odd}))

    assert "\0" not in row.lm_eval_version
    assert row.strict == 0.9697


def test_the_same_row_twice_is_one_eval() -> None:
    assert len(rows_of("eval_results_all", EVAL, EVAL)) == 1
