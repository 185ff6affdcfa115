"""Evals through the whole pipeline: whose they are, and that they come once."""

import json
from collections import Counter
from datetime import timedelta
from operator import itemgetter
from pathlib import Path
from typing import Any

import pytest

from dashboard.analysis.eval_changes import is_unstable
from dashboard.models import EvalResult, Point
from dashboard.queries.run_parts import evals as evals_of
from ingest.pipeline import replay_run
from tests.pipeline.bundles import (
    KEY,
    MODEL,
    STARTED,
    changelog,
    eval_row,
    evals,
    iso,
    master,
    results,
    row,
    run_object,
)
from tests.pipeline.conftest import Desk, skips, the_point, the_run


def test_c22_an_evals_only_run_publishes_no_speed(desk: Desk) -> None:
    desk.ingest(
        None,
        {
            **results(row()),
            **evals(eval_row()),
            "run-stats": {
                "run_stats.json": {"mi355x-amds": {"n_success": 1, "total": 1}}
            },
        },
        changelog=changelog(**{"evals-only": True}),
        configs={"amd-master.yaml": master()},
    )
    assert not Point.objects.exists()
    assert EvalResult.objects.get().config_key.key == KEY
    assert not the_run().stats.exists()
    assert len(skips()["evals_only"]) == 2


@pytest.mark.parametrize("attention", ["False", "false", "none", None])
@pytest.mark.parametrize("hw", ["MI355X-AMDS", "mi355x-amds"])
def test_c25_an_eval_joins_the_deployment_that_was_measured(
    desk: Desk, attention: str | None, hw: str
) -> None:
    roles = {
        f"{role}_{name}": value
        for role in ("prefill", "decode")
        for name, value in {"num_workers": 1, "tp": 2, "ep": 1}.items()
    }
    odd = eval_row(dp_attention=attention, spec_decoding=None, hw=hw, **roles)
    desk.ingest(None, {**results(row()), **evals(odd)})
    point, found = the_point(), EvalResult.objects.get()
    assert found.deployment_id == point.deployment_id
    assert found.config_key_id == point.sweep.config_key_id
    assert found.concurrency == point.concurrency


def test_c26_an_eval_on_several_nodes_is_filed_as_such(desk: Desk) -> None:
    for flag in ("true", "True", True):
        several = eval_row(
            is_multinode=flag, tp=None, ep=None, dp_attention=None, prefill_tp=4,
            decode_tp=8, prefill_num_workers=2, decode_num_workers=1,
        )  # fmt: skip
        run_id = 90001 + ["true", "True", True].index(flag)
        desk.ingest(run_object(run_id), evals(several))
    found = {e.deployment for e in EvalResult.objects.all()}
    assert {d.label for d in found} == {"2P TP4 x 1D TP8"}
    assert all(d.multinode for d in found)


def test_c29_unknown_lengths_and_concurrency_are_one_eval(desk: Desk) -> None:
    for conc in (None, 0):
        unknown = eval_row(isl=None, osl=None, conc=conc)
        desk.ingest(None, evals(unknown, unknown | {"note": "twice"}))
    found = EvalResult.objects.get()
    assert found.concurrency is None


@pytest.mark.parametrize(
    ("scores", "expected", "notes"),
    [
        ({"em_strict": 0.9447}, "thin margin", ()),
        ({"em_strict": 0.9350}, "borderline", ("borderline: strict",)),
        ({"em_strict": 0.8947}, "fail", ("fail: strict",)),
        ({"em_strict": 0.95, "n_eff": 100}, "too few questions", ()),
        (
            {"em_strict": None, "em_flexible": 0.96},
            "not measured",
            ("strict not measured",),
        ),
        (
            {"em_flexible": 0.7700},
            "fail",
            (
                "fail: flexible",
                "flexible is 20.0 pp below strict: the prompt template may be wrong",
            ),
        ),
        ({"em_strict": 0.9545}, "pass", ()),
    ],
)
def test_c30_the_gate_is_that_of_the_models_floor(
    desk: Desk, scores: dict[str, Any], expected: str, notes: tuple[str, ...]
) -> None:
    strict = scores.get("em_strict", 0.9697)
    desk.ingest(None, evals(eval_row(**({"score": strict} | scores))))
    (judged,) = evals_of(the_run(), None)
    assert (judged.floor, judged.outcome, judged.notes) == (0.94, expected, notes)


def test_c30_a_percentage_is_no_score(desk: Desk) -> None:
    desk.ingest(None, evals(eval_row(em_strict=96.97, score=96.97)))
    assert not EvalResult.objects.exists()
    (told,) = skips()["score_out_of_range"]
    assert "score out of [0,1]: strict is 96.97" in told


def own_artifact(
    strict: float, time: str, *, task: str = "gsm8k", runner: str = "mi355x-amds_02"
) -> dict[str, dict[str, Any]]:
    """The artifact of one eval job: its description and one results file."""
    name = (
        "eval_qwen3.5_1k1k_qwen3.5_1k1k_fp4_sglang_tp2-pp1-dcp1-pcp1-ep1-dpafalse"
        f"_disagg-false_spec-none_conc64_{runner}"
    )
    scores = {"exact_match,strict-match": strict, "exact_match,flexible-extract": 0.95}
    meta = {
        "is_multinode": False, "framework": "sglang", "precision": "fp4",
        "spec_decoding": "none", "tp": 2, "ep": 1, "conc": 64, "dp_attention": False,
        "model": MODEL, "infmax_model_prefix": "qwen3.5", "hw": "mi355x-amds",
        "isl": "1024", "osl": "1024",
    }  # fmt: skip
    found = {
        "results": {task: scores},
        "n-samples": {task: {"original": 1319, "effective": 1319}},
    }
    return {name: {"meta_env.json": meta, f"results_{time}.json": found}}


# Rows of supplemental-evals.json by model, hardware and task.
REAL = {
    ("dsr1", "b200", "gsm8k"): 23,
    ("dsr1", "h200", "gsm8k"): 4,
    ("dsr1", "mi300x", "gsm8k"): 2,
    ("dsr1", "mi325x", "gsm8k"): 1,
    ("dsr1", "mi355x", "gsm8k"): 4,
    ("gptoss120b", "b200", "gsm8k"): 8,
    ("gptoss120b", "h100", "gsm8k"): 3,
    ("gptoss120b", "h200", "gsm8k"): 6,
    ("gptoss120b", "mi300x", "gsm8k"): 4,
    ("gptoss120b", "mi325x", "gsm8k"): 4,
    ("gptoss120b", "mi355x", "gsm8k"): 3,
    ("minimaxm2.5", "mi355x", "gsm8k"): 2,
    ("qwen3.5", "b200", "gsm8k"): 1,
    ("qwen3.5", "mi355x", "gsm8k"): 1,
}


def repeats(e: EvalResult) -> list[tuple[Any, ...]]:
    return [tuple(older) for older in e.repeats]


def test_aggregate_and_own_artifact_are_one_row_in_any_order(desk: Desk) -> None:
    own = own_artifact(0.9697, "2026-08-01T20-30-00.1")
    (name,) = own
    source = f"eval_results/{name}/results_2026-08-01T20-30-00.1.json"
    listed = eval_row(em_flexible=0.95, source=source)
    desk.ingest(None, evals(listed))
    first = EvalResult.objects.get()
    desk.ingest(None, own, first_id=2000)
    found = EvalResult.objects.get()
    assert (found.pk, found.strict, found.repeats) == (first.pk, 0.9697, [])
    assert found.raw_record is not None
    assert found.raw_record.artifact.name == name


def test_a_rerun_on_another_runner_counts_by_its_time_and_remembers(desk: Desk) -> None:
    newer = own_artifact(0.9697, "2026-08-01T21-30-00.1")
    older = own_artifact(0.9447, "2026-08-01T20-30-00.1", runner="mi355x-amds_07")
    desk.ingest(None, newer | older)
    found = EvalResult.objects.get()
    assert found.strict == 0.9697
    assert repeats(found) == [("2026-08-01T20:30:00.100000+00:00", 0.9447, 0.95)]
    assert len(skips()["superseded_eval"]) == 1
    assert is_unstable([found.strict, *(older[1] for older in found.repeats)])
    stamp = found.updated_at
    replay_run(the_run())
    assert EvalResult.objects.get().updated_at == stamp


def test_an_attempt_remembers_the_results_of_those_before_it(desk: Desk) -> None:
    second = STARTED + timedelta(hours=5)
    attempts = [
        run_object(),
        run_object(run_attempt=2, run_started_at=iso(second)),
    ]
    desk.ingest(None, own_artifact(0.96, "2026-08-01T20-30-00.1"))
    desk.ingest(
        attempts[1],
        own_artifact(0.97, "2026-08-02T02-30-00.1"),
        attempts=attempts,
        uploaded_at=second + timedelta(hours=1),
        first_id=2000,
    )
    former, current = EvalResult.objects.order_by("attempt")
    assert (former.strict, former.is_current, former.repeats) == (0.96, False, [])
    assert (current.strict, current.is_current) == (0.97, True)
    assert repeats(current) == [("2026-08-01T20:30:00.100000+00:00", 0.96, 0.95)]


def test_results_of_one_time_are_kept_and_said_to_be_a_guess(desk: Desk) -> None:
    time = "2026-08-01T21-30-00.1"
    desk.ingest(
        None,
        own_artifact(0.97, time) | own_artifact(0.96, time, runner="mi355x-amds_07"),
    )
    found = EvalResult.objects.get()
    assert len(found.repeats) == 1
    assert [code for code, _ in found.flags] == ["ambiguous_rerun"]


def test_any_task_is_taken_and_a_truncated_file_takes_none_along(desk: Desk) -> None:
    good = own_artifact(0.7, "2026-08-01T20-30-00.1", task="aime25_\u4e2d")
    (members,) = good.values()
    members["results_2026-08-01T21-30-00.1.json"] = b'{"results": {"gsm8k": {"exa'
    desk.ingest(None, good)
    assert EvalResult.objects.get().task == "aime25_\u4e2d"
    assert list(skips()) == ["bad_json"]


def test_the_real_rows_of_january_come_in_without_a_loss(
    desk: Desk, shared_data: Path
) -> None:
    rows = json.loads((shared_data / "supplemental-evals.json").read_text())
    january = [row for row in rows if "results_2026-01" in row["source"]]
    later = [row for row in rows if row not in january]
    for run_id, taken in ((90001, january), (90002, later)):
        report = desk.ingest(run_object(run_id), evals(*taken))
        assert (report.evals, report.skips) == (len(taken), {})
    found = list(EvalResult.objects.select_related("config_key", "run"))
    keys = [(e.config_key.model, e.config_key.hardware, e.task) for e in found]
    assert Counter(keys) == REAL
    columns = itemgetter("em_strict", "em_flexible", "n_eff")
    stored = Counter((e.strict, e.flexible, e.n) for e in found)
    assert stored == Counter(map(columns, rows))
    months = Counter(e.measured_at.month for e in found if e.measured_at)
    assert months == {1: len(january), 2: len(later)} == {1: 25, 2: 41}
    assert {e.scenario for e in found} == {"1k/8k"}


def test_real_rows_of_one_run_lose_no_result_of_a_rerun(
    desk: Desk, shared_data: Path
) -> None:
    rows = json.loads((shared_data / "supplemental-evals.json").read_text())
    report = desk.ingest(None, evals(*rows))
    assert report.skips == {"superseded_eval": 18}
    found = list(EvalResult.objects.all())
    assert len(found) + sum(len(e.repeats) for e in found) == len(rows) == 66
