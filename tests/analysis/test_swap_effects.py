"""What differs at matched points of two sweeps of other weights."""

import pandas as pd
import pytest

from dashboard.analysis.swap_effects import Effect, effects

METRICS = ("tput_per_gpu", "median_intvty")


def points(*rows: tuple[int, int, float | None, float | None]) -> pd.DataFrame:
    frame = pd.DataFrame(rows, columns=["deployment", "concurrency", *METRICS])
    return frame.assign(is_out=False)


def test_only_places_that_both_measured_count():
    base = points((1, 4, 100.0, 50.0), (2, 4, 100.0, 50.0), (1, 64, 100.0, 10.0))
    head = points((1, 4, 110.0, 45.0), (1, 64, 130.0, 10.0), (3, 4, 900.0, 1.0))
    throughput, interactivity = effects(base, head, METRICS)
    assert (throughput.metric, throughput.count) == ("tput_per_gpu", 2)
    assert throughput.change == pytest.approx(0.2)
    assert (throughput.low, throughput.high) == pytest.approx((0.1, 0.3))
    assert interactivity.change == pytest.approx(-0.05)


def test_a_value_that_is_missing_or_was_zero_makes_no_pair():
    base = points((1, 4, 0.0, 50.0), (1, 8, 100.0, None), (1, 16, 100.0, 40.0))
    head = points((1, 4, 110.0, None), (1, 8, 110.0, 45.0), (1, 16, 105.0, 44.0))
    throughput, interactivity = effects(base, head, METRICS)
    assert (throughput.count, interactivity.count) == (2, 1)
    assert interactivity.change == pytest.approx(0.1)


def test_without_a_common_place_nothing_is_said():
    found = effects(points((1, 4, 1.0, 1.0)), points((2, 4, 1.0, 1.0)), METRICS)
    assert found == [Effect("tput_per_gpu", 0), Effect("median_intvty", 0)]


def test_a_point_that_a_flag_keeps_off_takes_no_part():
    base = points((1, 4, 100.0, 50.0)).assign(is_out=True)
    found = effects(base, points((1, 4, 110.0, 50.0)), METRICS)
    assert [effect.count for effect in found] == [0, 0]
