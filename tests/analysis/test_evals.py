"""Eval scores against their floors."""

from datetime import date

import pytest
from scipy.stats import binomtest

from dashboard.analysis.evals import judge, outcome, wilson
from dashboard.vocabulary.floors import Floor, FloorTable

TODAY = date(2026, 9, 3)


def floor(model: str, task: str) -> Floor:
    return FloorTable().at(model, task, TODAY)


@pytest.mark.parametrize(
    ("strict", "flexible", "n", "expected"),
    [
        (0.9697, 0.9568, 1319, "pass"),
        (0.9447, 0.9568, 1319, "thin margin"),
        (0.9350, 0.9568, 1319, "borderline"),
        (0.8947, 0.9568, 1319, "fail"),
        (0.95, 0.95, 100, "too few questions"),
        (None, 0.96, 1319, "not measured"),
        (0.9697, None, 1319, "pass"),
        (0.9697, 0.77, 1319, "fail"),
        (0.9697, 0.9568, None, "not measured"),
        (0.9697, 0.9568, 0, "not measured"),
        (0.0, 0.0, 1319, "fail"),
        (1.0, 1.0, 1319, "pass"),
    ],
)
def test_an_eval_is_as_good_as_the_worst_of_its_scores(strict, flexible, n, expected):
    scores = {"strict": strict, "flexible": flexible}
    assert outcome(floor("qwen3.5", "gsm8k"), scores, n) == expected


def test_gpqa_is_judged_by_flexible_and_swebench_by_its_score():
    gpqa = {"strict": 0.0, "flexible": 0.6}
    swebench = floor("dsr1", "swebench_lite")
    assert outcome(floor("dsr1", "gpqa_diamond_cot_n_shot"), gpqa, 198) == "pass"
    assert outcome(swebench, {"score": 0.7}, 300) == "pass"
    assert outcome(swebench, {"strict": 0.7}, 300) == "not measured"


def test_nothing_and_everything_end_at_zero_and_one():
    assert wilson(0.0, 7)[0] == 0.0
    assert wilson(1.0, 7)[1] == 1.0


def test_wilson_interval_of_a_known_case():
    low, high = wilson(0.9447, 1319)
    assert low == pytest.approx(0.931, abs=0.0005)
    assert high == pytest.approx(0.956, abs=0.001)


def test_floor_falls_back_from_model_to_task_to_all():
    assert floor("qwen3.5", "gsm8k").minimum == 0.94
    assert floor("glm5.2", "gsm8k").minimum == 0.90
    assert floor("qwen3.5", "mmlu").minimum == 0.85


@pytest.mark.parametrize("n", [1, 100, 198, 1319, 10_000])
@pytest.mark.parametrize("share", [0.0, 0.3, 0.9447, 1.0])
def test_wilson_intervals_are_those_of_scipy(share, n):
    right = round(share * n)
    known = binomtest(right, n).proportion_ci(method="wilson")
    assert wilson(right / n, n) == pytest.approx((known.low, known.high), abs=1e-7)


@pytest.mark.parametrize(
    ("strict", "flexible", "n", "expected", "notes"),
    [
        (0.9447, 0.9568, 1319, "thin margin", []),
        (0.9350, 0.9568, 1319, "borderline", ["borderline: strict"]),
        (0.8947, 0.9568, 1319, "fail", ["fail: strict"]),
        (0.95, None, 100, "too few questions", ["flexible not measured"]),
        (None, 0.96, 1319, "not measured", ["strict not measured"]),
        (
            0.9697,
            0.7700,
            1319,
            "fail",
            [
                "fail: flexible",
                "flexible is 20.0 pp below strict: the prompt template may be wrong",
            ],
        ),
        (0.9674, None, 1319, "pass", ["flexible not measured"]),
    ],
)
def test_c30_gate_says_which_score_and_why(strict, flexible, n, expected, notes):
    scores = {"strict": strict, "flexible": flexible}
    said = judge(floor("qwen3.5", "gsm8k"), scores, n)
    assert (said.outcome, list(said.notes)) == (expected, notes)


def test_c30_intervals_are_the_written_ones():
    assert wilson(0.9447, 1319) == pytest.approx((0.931, 0.956), abs=0.0006)
    assert wilson(0.9350, 1319) == pytest.approx((0.920, 0.947), abs=0.0006)


def test_only_the_named_scores_have_to_reach_a_floor():
    strict_only = Floor("gsm8k", 0.94, ("strict",))
    assert outcome(strict_only, {"strict": 0.9697, "flexible": 0.5}, 1319) == "pass"
    flexible_only = Floor("gsm8k", 0.94, ("flexible",))
    assert outcome(flexible_only, {"flexible": 0.97}, 1319) == "pass"
