"""Quantiles and bins of requests, against numbers worked out by hand."""

import math

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dashboard.analysis.request_distributions import (
    distribution,
    rate_of_errors,
    spread_out,
)

NUMBERS = st.lists(st.floats(1e-6, 1e9), min_size=1, max_size=30)


def test_percentiles_are_interpolated_linearly_and_std_is_the_populations() -> None:
    found = distribution(np.array([1.0, 2.0, 3.0, 4.0, math.nan, math.inf]))
    assert found is not None
    assert (found["n"], found["mean"], found["min"], found["max"]) == (4, 2.5, 1, 4)
    assert found["std"] == pytest.approx(math.sqrt(1.25))
    assert found["quantiles"]["median"] == 2.5
    assert found["quantiles"]["p90"] == pytest.approx(3.7)


def test_nothing_finite_has_no_distribution() -> None:
    assert distribution(np.array([])) is None
    assert distribution(np.array([math.nan, math.inf])) is None


def test_one_value_fills_one_bin() -> None:
    found = distribution(np.array([3.0, 3.0]))
    assert found is not None
    assert found["counts"] == [2]
    assert found["edges"][0] < 3.0 < found["edges"][1]


# A busy machine draws slowly, which says nothing of the rule.
@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(NUMBERS)
def test_every_value_is_in_some_bin(values: list[float]) -> None:
    found = distribution(np.array(values))
    assert found is not None
    assert sum(found["counts"]) == found["n"] == len(values)
    assert found["edges"] == sorted(found["edges"])
    ordered = list(found["quantiles"].values())
    assert ordered == sorted(ordered)


def test_a_wide_spread_has_bins_that_grow() -> None:
    found = distribution(np.array([1.0, 10.0, 1000.0]))
    assert found is not None
    widths = np.diff(found["edges"])
    assert widths[-1] > 100 * widths[0]


def test_a_sample_keeps_the_ends() -> None:
    assert spread_out(3, 5).tolist() == [0, 1, 2]
    assert spread_out(101, 3).tolist() == [0, 50, 100]


def test_errors_are_a_share_of_what_is_no_warm_up() -> None:
    assert rate_of_errors({"errors": 1, "retained": 3, "warm_up": 96}) == 0.25
    assert rate_of_errors({"errors": 0, "retained": 0}) is None
