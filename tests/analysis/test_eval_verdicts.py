"""Evals of a sweep against those of its baseline: numbers of CASES C30 and others."""

from typing import Any

import pytest

from dashboard.analysis.eval_verdicts import (
    EvalVerdict,
    Scored,
    eval_verdicts,
    failed_words,
    farthest_apart,
)
from dashboard.analysis.evals import judge
from dashboard.vocabulary.floors import Floor

FLOOR = Floor("gsm8k", 0.94, ("strict", "flexible"))


def scored(strict: float | None, flexible: float | None = None, **given: Any) -> Scored:
    shares = {"strict": strict, "flexible": flexible}
    n = given.pop("n", 1319)
    usual = {
        "deployment": "TP2",
        "concurrency": 64,
        "task": "gsm8k",
        "shares": shares,
        "n": n,
        "floor": FLOOR.minimum,
        "filters": FLOOR.filters,
        "decisive": FLOOR.decisive,
        "outcome": judge(FLOOR, shares, n).outcome,
        "run_id": 1,
    }
    return Scored(**{**usual, **given})


def test_c30_a_fall_of_one_and_a_half_points_is_red_though_it_passes() -> None:
    found = EvalVerdict(scored(0.9545), scored(0.9697))
    assert found.head.outcome == "pass"
    assert found.level == "red"
    assert found.change is not None
    assert found.change.difference == pytest.approx(-0.0152)
    assert found.change.p == pytest.approx(0.0411, abs=5e-4)
    assert found.is_regression


@pytest.mark.parametrize(
    ("before", "after", "level", "is_regression"),
    [
        (0.9697, 0.9597, "amber", False),
        (0.9697, 0.9608, "", False),
        (0.9697, 0.9700, "", False),
        (0.9697, 0.8947, "red", True),
        (0.8900, 0.8947, "", False),
    ],
)
def test_levels_of_a_fall(
    before: float, after: float, level: str, *, is_regression: bool
) -> None:
    found = EvalVerdict(scored(after), scored(before))
    assert (found.level, found.is_regression) == (level, is_regression)


def test_a_large_fall_that_chance_explains_is_red_and_no_regression() -> None:
    found = EvalVerdict(scored(0.955, n=200), scored(0.975, n=200))
    assert (found.level, found.words) == ("red", "no difference shown")
    assert not found.is_regression


def test_nothing_is_judged_across_a_break_and_the_numbers_stay() -> None:
    found = EvalVerdict(scored(0.8947), scored(0.9697), is_comparable=False)
    assert (found.level, found.words) == ("", "not comparable")
    assert found.change is not None
    assert found.has_failed
    assert not found.is_regression


def test_evals_are_paired_by_deployment_concurrency_and_task() -> None:
    head = [scored(0.97), scored(0.97, concurrency=256), scored(0.97, deployment="TP4")]
    base = [scored(0.96, run_id=7), scored(0.95, concurrency=128)]
    found = eval_verdicts(head, base, is_comparable=True)
    assert [(one.head.where, one.base and one.base.run_id) for one in found] == [
        ("TP2 c64", 7),
        ("TP2 c256", None),
        ("TP4 c64", None),
    ]
    assert [one.words for one in found][1:] == ["no baseline"] * 2


def test_failed_evals_are_named_with_their_floor() -> None:
    failing = EvalVerdict(scored(0.8947, 0.88), None)
    assert failed_words([failing, EvalVerdict(scored(0.97), None), failing]) == (
        "gsm8k TP2 c64 strict 0.8947, flexible 0.8800 below the floor 0.94 and 1 more"
    )
    assert failed_words([EvalVerdict(scored(0.935), None)]) == ""


def test_the_quoted_scores_of_one_key_show_no_difference() -> None:
    found = farthest_apart(
        [scored(0.9697, 0.9568), scored(0.9651, 0.9530, concurrency=256)]
    )
    assert found is not None
    assert (found.low.where, found.high.where) == ("TP2 c256", "TP2 c64")
    assert found.change.z == pytest.approx(0.67, abs=0.005)
    assert found.p == pytest.approx(0.51, abs=0.005)
    assert found.words == "no difference shown"


def test_the_farthest_of_many_pairs_is_held_against_their_number() -> None:
    many = [scored(0.97 - 0.004 * n, concurrency=2**n) for n in range(5)]
    found = farthest_apart(many)
    assert found is not None
    assert found.pairs == 10
    assert found.change.p < 0.05 < found.p == pytest.approx(10 * found.change.p)


def test_one_eval_or_equal_ones_are_not_apart() -> None:
    assert farthest_apart([scored(0.97)]) is None
    assert farthest_apart([scored(0.97), scored(None)]) is None
    equal = farthest_apart([scored(0.97), scored(0.97, concurrency=8)])
    assert equal is not None
    assert (equal.change.z, equal.p, equal.words) == (0.0, 1.0, "no difference shown")
