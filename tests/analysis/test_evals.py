"""Eval scores against their floors."""

import pytest

from dashboard.analysis.evals import outcome, wilson
from dashboard.vocabulary.floors import floor


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
    assert outcome("qwen3.5", "gsm8k", scores, n) == expected


def test_gpqa_is_judged_by_flexible_and_swebench_by_its_score():
    gpqa = {"strict": 0.0, "flexible": 0.6}
    assert outcome("dsr1", "gpqa_diamond_cot_n_shot", gpqa, 198) == "pass"
    assert outcome("dsr1", "swebench_lite", {"score": 0.7}, 300) == "pass"
    assert outcome("dsr1", "swebench_lite", {"strict": 0.7}, 300) == "not measured"


def test_wilson_interval_of_a_known_case():
    low, high = wilson(0.9447, 1319)
    assert low == pytest.approx(0.931, abs=0.0005)
    assert high == pytest.approx(0.956, abs=0.001)


def test_floor_falls_back_from_model_to_task_to_all():
    assert floor("qwen3.5", "gsm8k") == 0.94
    assert floor("glm5.2", "gsm8k") == 0.90
    assert floor("qwen3.5", "mmlu") == 0.85
