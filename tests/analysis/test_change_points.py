"""Since when a history is worse."""

import numpy as np
import pytest

from dashboard.analysis.change_points import first_bad

Y, TTFT, NOISE = "tput_per_gpu", "median_ttft", 0.0075


def history(*levels, seed=1):
    """Measure levels given as (value, sweeps)."""
    truth = np.concatenate([np.full(count, value) for value, count in levels])
    rng = np.random.default_rng(seed)
    return list(truth * np.exp(NOISE * rng.standard_normal(len(truth))))


def found(values, metric=Y):
    return first_bad(values, metric=metric, noise=NOISE)


def test_the_first_sweep_on_the_worse_level_is_named():
    assert found(history((100, 8), (94, 4))) == 8


def test_the_newest_sweep_alone_can_be_the_first_bad_one():
    assert found(history((100, 11), (92, 1))) == 11


def test_a_latency_is_worse_when_it_rises():
    assert found(history((1.0, 8), (1.1, 4)), TTFT) == 8
    assert found(history((1.0, 8), (0.9, 4)), TTFT) is None


def test_the_last_of_two_falls_is_named():
    assert found(history((100, 8), (94, 5), (88, 4))) == 13


@pytest.mark.parametrize(
    "levels",
    [
        [(100, 12)],
        [(100, 8), (107, 4)],
        [(100, 8), (92, 3), (100, 4)],
        [(100, 20), (98, 20)],
    ],
    ids=["steady", "better", "recovered", "below 3 %"],
)
def test_what_is_not_worse_now_has_no_first_bad_sweep(levels):
    assert found(history(*levels)) is None


def test_fewer_than_ten_sweeps_have_no_level():
    assert found(history((100, 5), (80, 4))) is None
    assert found([]) is None


def test_missing_values_are_left_out_and_positions_stay():
    values = history((100, 8), (94, 4))
    values[3:3] = [None, float("nan"), 0.0]
    assert found(values) == 11
