"""Intervals and tests of eval scores against an independent library."""

import warnings

import pytest

from dashboard.analysis.eval_changes import newcombe, score_change
from dashboard.analysis.evals import wilson

with warnings.catch_warnings():
    # The library warns of its own dependencies while it is imported.
    warnings.simplefilter("ignore")
    from statsmodels.stats.proportion import (
        confint_proportions_2indep,
        proportion_confint,
        proportions_ztest,
    )

PAIRS = [((0.9697, 1319), (0.9651, 1319)), ((0.9771, 1319), (0.9697, 1319))]
PAIRS += [((0.70, 198), (0.62, 198)), ((0.5, 40), (0.9, 60))]


@pytest.mark.parametrize("n", [1, 100, 198, 1319])
@pytest.mark.parametrize("share", [0.0, 0.3, 0.9447, 0.9697, 1.0])
def test_wilson_intervals_are_those_of_statsmodels(share: float, n: int) -> None:
    right = round(share * n)
    low, high = proportion_confint(right, n, method="wilson")
    assert wilson(right / n, n) == pytest.approx((low, high), abs=1e-6)


@pytest.mark.parametrize(("before", "after"), PAIRS)
def test_two_proportions_are_those_of_statsmodels(
    before: tuple[float, int], after: tuple[float, int]
) -> None:
    (old, n), (new, m) = before, after
    z, p = proportions_ztest([new * m, old * n], [m, n])
    change = score_change(before, after)
    assert change is not None
    assert (change.z, change.p) == pytest.approx((z, p), abs=1e-9)


@pytest.mark.parametrize(("before", "after"), PAIRS)
def test_newcombe_intervals_are_those_of_statsmodels(
    before: tuple[float, int], after: tuple[float, int]
) -> None:
    (old, n), (new, m) = before, after
    known = confint_proportions_2indep(
        new * m, m, old * n, n, method="newcomb", compare="diff"
    )
    assert newcombe(old, n, new, m) == pytest.approx(known, abs=1e-6)
