"""Values that no table can hold, in every kind of record: a skip, never a crash."""

import json
from typing import Any

import pytest

from dashboard.models import ChangelogEntry, EvalResult, Point, RawRecord, RunStat
from ingest.pipeline import replay_run
from tests.ingest import golden
from tests.pipeline.bundles import (
    changelog,
    disagg_row,
    eval_row,
    evals,
    jobs_for,
    results,
    row,
)
from tests.pipeline.conftest import Desk, flags, skips, the_point, the_run

NUL, HALF = "\0", "\ud800"
REPLACED = "\N{REPLACEMENT CHARACTER}"

# Of two rows the odd one is refused for this reason, and the other one counts.
REFUSED_ROWS: dict[str, tuple[dict[str, Any], str]] = {
    "concurrency beyond 32 bits": (row(conc=2**31), "out_of_range"),
    "concurrency of 30 digits": (row(conc=10**30), "out_of_range"),
    "concurrency is negative": (row(conc=-4), "missing_isl_osl_conc"),
    "concurrency is zero": (row(conc=0), "missing_isl_osl_conc"),
    "concurrency is true": (row(conc=[64]), "wrong_type"),
    "sizes beyond 32 bits": (row(tp=2**40), "out_of_range"),
    "product beyond 64 bits": (row(tp=2**30, pp=2**30, pcp_size=2**30), "out_of_range"),
    "count is negative": (row(num_gpus=-2), "out_of_range"),
    "count is huge": (row(num_gpus=10**12), "out_of_range"),
    "role count is negative": (disagg_row(num_decode_gpu=-1), "out_of_range"),
    "workers are negative": (disagg_row(decode_num_workers=-1), "out_of_range"),
    "lengths are huge": (row(isl=10**50), "out_of_range"),
    "precision is long": (row(precision="p" * 500), "out_of_range"),
    "framework is long": (row(framework="f" * 500), "out_of_range"),
    "spec method is long": (row(spec_decoding="s" * 500), "out_of_range"),
    "model is long": (row(model="m" * 5000), "out_of_range"),
    "role hardware is long": (disagg_row(prefill_hw="h" * 500), "out_of_range"),
    "metric is text": (row(median_ttft="soon"), "wrong_type"),
    "metric is a list": (row(median_ttft=[1]), "wrong_type"),
    "metric is true": (row(median_ttft=True), "wrong_type"),
    "metric is an integer of 400 digits": (row(median_ttft=10**400), "wrong_type"),
    "hardware is a number": (row(hw=355), "wrong_type"),
    "hardware is half a character": (row(hw=HALF), "unmapped_hw"),
    "model is NUL": (row(infmax_model_prefix=NUL, model=NUL), "unmapped_model"),
    "tp is text": (row(tp="two"), "wrong_type"),
}


@pytest.mark.parametrize("case", REFUSED_ROWS)
def test_a_row_that_no_table_can_hold_is_a_skip(case: str, desk: Desk) -> None:
    odd, reason = REFUSED_ROWS[case]
    desk.ingest(None, results(odd, row(conc=8)))
    assert len(skips()) == 1
    # A schema may say it before the tables' own bounds do.
    assert skips().keys() <= {reason, "wrong_type"}
    assert Point.objects.get().concurrency == 8
    assert RawRecord.objects.count() == 2
    _replay_changes_nothing()


def _replay_changes_nothing() -> None:
    before = golden.state(), golden.stamps()
    assert replay_run(the_run()).tally.is_unchanged
    assert (golden.state(), golden.stamps()) == before


# The row is stored, the odd part of it made harmless.
TAKEN_ROWS: dict[str, dict[str, Any]] = {
    "NUL in texts": row(image=f"img{NUL}", model=f"a/b{NUL}", framework=f"s{NUL}g"),
    "halves in texts": row(image=HALF, model=f"a/{HALF}", precision=f"f{HALF}"),
    "NUL in facts": row(router={"name": NUL, NUL: [HALF, {HALF: NUL}]}),
    "huge integers in facts": row(router={"name": "r", "version": 10**40}),
    "unknown fields": row(**{f"future_{n}": {"x": [n]} for n in range(50)}),
    "unknown field with NUL": row(**{f"future{NUL}": HALF}),
    "fingerprint is odd": row(recipe_fingerprint=f"{NUL}{HALF}" * 40),
    "fingerprint is a number": row(recipe_fingerprint=10**40),
    "tiny and large": row(median_ttft=5e-324, p99_ttft=1.7e308, mean_e2el=1e308),
    "zero latency": row(median_e2el=0, mean_e2el=0),
    "negative latency": row(median_e2el=-1.0, mean_e2el=-2.0),
    "image is long": row(image="i" * 50_000),
    "numbers are texts": row(conc="64", tp="2", median_ttft="0.3"),
}


@pytest.mark.parametrize("case", TAKEN_ROWS)
def test_an_odd_row_is_taken_with_what_can_be_stored(case: str, desk: Desk) -> None:
    desk.ingest(None, results(TAKEN_ROWS[case]))
    assert skips() == {}
    assert Point.objects.count() == 1
    _replay_changes_nothing()


def test_unknown_future_fields_stay_in_the_raw_record(desk: Desk) -> None:
    desk.ingest(None, results(row(future={"deep": [1, "\0", "\ud800"]})))
    stored = json.loads(RawRecord.objects.get().body)
    assert stored["future"] == {"deep": [1, "\0", "\ud800"]}


def test_floats_beyond_range_are_missing_with_a_warning(desk: Desk) -> None:
    text = json.dumps(row()).replace('"p99_ttft": 1.0', '"p99_ttft": 1e400')
    desk.ingest(None, {"results_bmk": {"agg_bmk.json": f"[{text}]".encode()}})
    assert "p99_ttft" not in the_point().metrics
    assert "nan_token" in flags(the_point())
    _replay_changes_nothing()


def test_of_duplicate_keys_the_last_counts(desk: Desk) -> None:
    text = json.dumps(row())[:-1] + ', "conc": 8}'
    desk.ingest(None, {"results_bmk": {"agg_bmk.json": f"[{text}]".encode()}})
    assert the_point().concurrency == 8


def test_impossible_latency_is_flagged_not_divided_by(desk: Desk) -> None:
    desk.ingest(None, results(row(median_e2el=0), row(conc=8, median_e2el=-1.0)))
    assert Point.objects.count() == 2
    assert "negative_value" in flags(Point.objects.get(concurrency=8))


REFUSED_EVALS: dict[str, tuple[dict[str, Any], str]] = {
    "n is negative": (eval_row(n_eff=-5), "out_of_range"),
    "n is huge": (eval_row(n_eff=10**20), "out_of_range"),
    "task is long": (eval_row(task="t" * 500), "out_of_range"),
    "task is missing": (eval_row(task=None), "wrong_type"),
    "score is percent": (eval_row(em_strict=96.97), "score_out_of_range"),
    "concurrency is huge": (eval_row(conc=2**40), "out_of_range"),
    "sizes are huge": (eval_row(tp=2**40), "out_of_range"),
}


@pytest.mark.parametrize("case", REFUSED_EVALS)
def test_an_eval_that_no_table_can_hold_is_a_skip(case: str, desk: Desk) -> None:
    odd, reason = REFUSED_EVALS[case]
    desk.ingest(None, evals(odd, eval_row(conc=8)))
    assert len(skips()) == 1
    assert skips().keys() <= {reason, "wrong_type"}
    assert EvalResult.objects.get().concurrency == 8
    _replay_changes_nothing()


def test_odd_texts_of_evals_are_stored(desk: Desk) -> None:
    meta = eval_row(task=None) | {"conc": 64}
    found = {
        "results": {f"gsm8k{NUL}": {"exact_match,strict-match": 0.97}},
        "lm_eval_version": "v" * 200,
    }
    members = {"meta_env.json": meta, "results_a.json": found}
    desk.ingest(None, {"eval_x": members, **evals(eval_row(source=f"{HALF}/{NUL}"))})
    tasks = set(EvalResult.objects.values_list("task", flat=True))
    assert tasks == {"gsm8k", f"gsm8k{REPLACED}"}
    _replay_changes_nothing()


def test_odd_changelogs_never_stop_a_run(desk: Desk) -> None:
    odd = changelog(
        f"key{NUL}{HALF}",
        "k" * 5000,
        "../../etc/passwd",
        "a key with blanks",
        description=[NUL, HALF, "x" * 100_000],
        **{"pr-link": f"https://github.com/o/r/pull/{'9' * 40}"},
    )
    odd |= {"base_ref": "b" * 9000, "head_ref": f"h{NUL}"}
    desk.ingest(None, results(row()), changelog=odd)
    entry = ChangelogEntry.objects.get()
    assert (entry.link_state, entry.pr_number) == ("invalid", None)
    assert the_point().sweep.config_key.is_synthetic
    _replay_changes_nothing()


@pytest.mark.parametrize("key", ["k" * 5000, "a b", "../x", f"k{NUL}", "<script>", ""])
def test_a_changelog_never_invents_a_key_that_no_master_could_hold(
    desk: Desk, key: str
) -> None:
    desk.ingest(None, results(row()), changelog=changelog(key))
    assert the_point().sweep.config_key.key.startswith("unmapped-")


def test_odd_statistics_are_skips(desk: Desk) -> None:
    stats = {
        "mi355x-amds": {"n_success": 1, "total": 1},
        "negative": {"n_success": -1, "total": 1},
        "huge": {"n_success": 1, "total": 10**12},
        f"odd{NUL}{HALF}": {"n_success": 1, "total": 1},
        "k" * 9000: {"n_success": 1, "total": 1},
        "list": [1],
    }
    desk.ingest(None, {"run-stats": {"run_stats.json": stats}})
    keys = set(RunStat.objects.values_list("raw_key", flat=True))
    assert {"mi355x-amds", f"odd{REPLACED}{REPLACED}"} <= keys
    assert "negative" not in keys
    assert "huge" not in keys
    _replay_changes_nothing()


@pytest.mark.parametrize("source", ["abc", -1, 10**30, True, None, 1.5])
def test_odd_reuse_notes_are_skips(desk: Desk, source: Any) -> None:
    note = {"source_run_id": source, "ingest_run_id": 90001}
    desk.ingest(None, {"reused-ingest-metadata": {"reuse_source_run.json": note}})
    assert the_run().reuse_source_run_id in (None, 1)
    _replay_changes_nothing()


LONG_RUNNER = "bmk_qwen3.5_1k1k_fp4_sglang_tp2-ep1-dpafalse_disagg-false_spec-none"


@pytest.mark.parametrize(
    "name",
    [
        f"{LONG_RUNNER}_conc64_{'r' * 150}_01",
        f"{LONG_RUNNER}_conc{'9' * 100}_mi355x_01",
        LONG_RUNNER.replace("tp2", "tp" + "9" * 100) + "_conc64_mi355x_01",
    ],
)
def test_odd_artifact_names_never_stop_a_run(desk: Desk, name: str) -> None:
    sparse = row(conc=None, tp=None)
    desk.ingest(None, {name: {"agg_a.json": sparse}, **results(row(conc=8))})
    assert Point.objects.filter(concurrency=8).exists()
    _replay_changes_nothing()


def test_jobs_with_impossible_numbers_plan_nothing_that_breaks(desk: Desk) -> None:
    jobs = jobs_for([64, 9_999_999], body="qwen3.5 fp4 mi355x-amds sglang TP999999")
    desk.ingest(None, results(row()), jobs=jobs)
    assert the_run().planned_count == 2
