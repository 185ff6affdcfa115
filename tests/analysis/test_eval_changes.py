"""Scores against former ones: worked examples of the literature, and the limits."""

import pytest
from scipy.stats import binomtest

from dashboard.analysis.eval_changes import (
    flips,
    is_unstable,
    newcombe,
    paired_change,
    recovery,
    score_change,
    spread,
)


@pytest.mark.parametrize(
    ("before", "n", "after", "m", "low", "high"),
    [
        # Newcombe 1998, Statistics in Medicine 17, table II, method 10.
        (48, 80, 56, 70, 0.0524, 0.3339),
        (3, 10, 9, 10, 0.1705, 0.8090),
        (0, 20, 10, 10, 0.6791, 1.0),
        (0, 10, 10, 10, 0.6075, 1.0),
    ],
)
def test_newcombe_intervals_are_the_published_ones(before, n, after, m, low, high):
    found = newcombe(before / n, n, after / m, m)
    assert found == pytest.approx((low, high), abs=6e-5)


def test_two_proportions_of_the_quoted_evals_show_no_difference():
    change = score_change((0.9697, 1319), (0.9651, 1319))
    assert change is not None
    assert change.z == pytest.approx(-0.665, abs=0.0005)
    assert change.p == pytest.approx(0.506, abs=0.0005)
    assert (change.words, change.level) == ("no difference shown", "")


def test_two_proportions_of_a_textbook():
    # Agresti, Categorical Data Analysis, 3.1.2: 189 of 11,034 and 104 of 11,037.
    change = score_change((189 / 11034, 11034), (104 / 11037, 11037))
    assert change is not None
    assert change.z == pytest.approx(-5.0, abs=0.01)
    assert change.words == "worse"


@pytest.mark.parametrize(
    ("before", "after", "level"),
    [
        (0.9697, 0.9547, "red"),
        (0.9697, 0.9545, "red"),
        (0.9697, 0.9548, "amber"),
        (0.9697, 0.9597, "amber"),
        (0.9697, 0.9598, ""),
        (0.95, 0.99, ""),
    ],
)
def test_c30_a_fall_is_amber_from_one_point_red_from_one_and_a_half(
    before, after, level
):
    change = score_change((before, 1319), (after, 1319))
    assert change is not None
    assert change.level == level


def test_no_questions_no_change_and_equal_scores_no_z():
    assert score_change((0.9, 0), (0.9, 10)) is None
    certain = score_change((1.0, 10), (1.0, 10))
    assert certain is not None
    assert (certain.z, certain.p, certain.words) == (0.0, 1.0, "no difference shown")


def answers(passed: int, failed: int, start: int = 0) -> list[tuple[int, bool]]:
    outcomes = [True] * passed + [False] * failed
    return list(enumerate(outcomes, start))


def test_mcnemar_of_a_worked_example():
    # Fay, vignette of R's exact2x2: 21 and 12 pairs alike, 9 and 2 unlike, p 0.06543.
    before = answers(21 + 9, 2 + 12)
    after = [*answers(21, 9), *answers(2, 12, 30)]
    found = flips(before, after)
    assert found is not None
    assert (found.shared, len(found.lost), len(found.won)) == (44, 9, 2)
    assert found.p == pytest.approx(0.06543, abs=5e-6)
    assert found.p == pytest.approx(binomtest(9, 11, 0.5).pvalue)
    change = paired_change(found)
    assert (change.test, change.z) == ("McNemar", None)
    assert change.words == "no difference shown"
    assert change.difference == pytest.approx(-7 / 44)


def test_paired_interval_of_a_textbook():
    # Agresti, Categorical Data Analysis, 10.1: 1,600 asked twice, 794 to 86 and 150 to
    # 570; the second share is 4 points lower with a standard error of 0.95 points.
    before = answers(794 + 150, 86 + 570)
    after = answers(794, 150) + answers(86, 570, 944)
    found = flips(before, after)
    assert found is not None
    change = paired_change(found)
    assert change.difference == pytest.approx(-0.04)
    error = (change.high - change.low) / 2 / 1.96
    assert error == pytest.approx(0.0095, abs=5e-5)
    assert change.low < change.difference < change.high


def test_documents_that_only_one_run_answered_do_not_count():
    assert flips([(1, True)], [(2, True)]) is None
    found = flips([(1, True), (2, True)], [(2, False), (3, True)])
    assert found is not None
    assert (found.shared, found.lost, found.won) == (1, (2,), ())
    same = flips([(1, True)], [(1, True)])
    assert same is not None
    assert (same.p, paired_change(same).difference) == (1.0, 0.0)


def test_repeats_more_than_two_points_apart_are_unstable():
    assert spread([0.97]) is None
    assert spread([0.9697, 0.9447]) == pytest.approx(0.025)
    assert is_unstable([0.9697, 0.9447])
    assert not is_unstable([0.97, 0.96])
    assert not is_unstable([0.97, 0.95])  # just two points
    assert not is_unstable([])


def test_recovery_is_the_share_of_the_reference():
    assert recovery(0.95, 0.97) == pytest.approx(0.979, abs=0.001)
    assert recovery(0.5, 0) is None
