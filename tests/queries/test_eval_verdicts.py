"""The verdict on runs whose evals fail, fall, or have nothing to be held against."""

import math
from typing import Any

import pytest

from dashboard.analysis.detection import ACCURACY, PERFORMANCE, regressions
from dashboard.analysis.sides import SweepVerdict
from dashboard.analysis.verdict_json import verdict_json
from dashboard.analysis.verdict_report import text_report
from dashboard.models import Regression, Sweep
from dashboard.queries.regressions import movements
from dashboard.queries.run_verdicts import run_verdict
from dashboard.queries.verdicts import judge_run
from ingest.detection import judge_official
from tests.factories import DeploymentFactory, EvalResultFactory
from tests.verdict_builders import official, unofficial

pytestmark = pytest.mark.django_db


def add_eval(sweep: Sweep, strict: float, **given: Any) -> None:
    usual: dict[str, Any] = {"run": sweep.run, "config_key": sweep.config_key}
    usual |= {"deployment": DeploymentFactory(tp=2), "scenario": sweep.scenario}
    usual |= {"flexible": strict, "score": strict}
    EvalResultFactory(**{**usual, "strict": strict, **given})


def judged(sweep: Sweep) -> SweepVerdict:
    (found,) = judge_run(sweep.run)
    return found


def test_a_failing_eval_outweighs_faster_points_and_both_are_said() -> None:
    add_eval(official(0), 0.9697)
    fast = unofficial(1, scale=1.3)
    add_eval(fast, 0.8947)
    found = judged(fast)
    assert (found.verdict, found.performance) == ("failed evals", "improvement")
    assert found.sentence.startswith(
        "failed evals: gsm8k TP2 c64 strict 0.8947, flexible 0.8947 below the floor "
        "0.94; improvement: +30.0 % total throughput per GPU"
    )
    assert found.headline.startswith("failed evals, improvement")
    assert run_verdict(fast.run).line == found.sentence


def test_json_and_text_tell_each_eval_against_the_baseline() -> None:
    base = official(0)
    add_eval(base, 0.9697)
    head = unofficial(1)
    add_eval(head, 0.9545)
    add_eval(head, 0.97, concurrency=256, flexible=None)
    found = judged(head)
    first, second = verdict_json(found)["evals"]
    told = {name: first[name] for name in ("state", "level", "words", "baseline")}
    assert told == {
        "state": "pass",
        "level": "red",
        "words": "worse",
        "baseline": 0.9697,
    }
    assert first["baseline_run_id"] == base.run.github_run_id
    assert first["difference"] == pytest.approx(-0.0152)
    assert first["z"] < 0 < first["p"] < 0.05
    assert (second["flexible"], second["baseline"], second["p"]) == (None, None, None)
    assert second["words"] == "no baseline"
    report = run_verdict(head.run)
    text = "\n".join(text_report(report.facts, report.verdicts))
    assert "-1.52 pp, z -2.04, p 0.041, worse" in text


def test_evals_of_what_extends_the_baseline_stand_with_it() -> None:
    base = official(0)
    extension = official(1, extends=base, curve=[(256, 10.0, 1000.0)])
    add_eval(extension, 0.9697, concurrency=256)
    head = unofficial(2)
    add_eval(head, 0.9690, concurrency=256)
    (found,) = judged(head).evals
    assert found.base is not None
    assert found.base.run_id == extension.run.github_run_id


def test_an_attempt_is_judged_by_its_own_evals() -> None:
    head = unofficial(1)
    add_eval(head, 0.8947, attempt=1, is_current=False)
    add_eval(head, 0.9697, attempt=2)
    shares = [
        [
            one.head.share
            for verdict in judge_run(head.run, attempt=n)
            for one in verdict.evals
        ]
        for n in (None, 1, 2)
    ]
    assert shares == [[0.9697], [0.8947], [0.9697]]


def test_accuracy_is_a_regression_of_its_own_kind_beside_performance() -> None:
    base = official(0)
    add_eval(base, 0.9697)
    add_eval(base, 0.9697, concurrency=256)
    head = unofficial(1, scale=0.8)
    add_eval(head, 0.8947)
    add_eval(head, 0.9690, concurrency=256)
    found = {finding.kind: finding for finding in regressions(judged(head))}
    assert set(found) == {PERFORMANCE, ACCURACY}
    assert found[ACCURACY].change == pytest.approx(-0.075)
    assert found[ACCURACY].is_strong
    assert found[ACCURACY].places == [["TP2", [64]]]
    assert "0.8947" in found[ACCURACY].summary


def test_an_eval_that_failed_before_too_is_no_new_regression() -> None:
    add_eval(official(0), 0.8947)
    head = unofficial(1)
    add_eval(head, 0.8940)
    assert regressions(judged(head)) == []


def test_a_fall_of_accuracy_is_listed_and_detected_once() -> None:
    base = official(0)
    add_eval(base, 0.9697)
    head = official(1)
    add_eval(head, 0.9500)
    assert judge_official(head.run) > 0
    assert judge_official(head.run) == 0
    (found,) = Regression.objects.all()
    assert (found.kind, found.run) == ("accuracy", head.run)
    assert found.change == pytest.approx(-0.0197)
    assert found.numbers["verdict"]["evals"][0]["level"] == "red"


def test_a_sweep_with_failing_evals_still_moves_with_its_siblings() -> None:
    add_eval(official(0), 0.9697)
    head = official(1, scale=0.8)
    add_eval(head, 0.8947)
    judge_official(head.run)
    (movement,) = movements([head.run_id])[head.run_id]
    assert movement.verdict == "regression"
    assert movement.size == pytest.approx(math.log(0.8), abs=0.01)
