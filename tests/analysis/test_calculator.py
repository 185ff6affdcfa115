"""What a key gives at a target, and what the official spline would say there."""

from datetime import date

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dashboard.analysis.calculator import read_at, usual_target
from dashboard.analysis.derived import with_derived
from dashboard.analysis.interpolation import interpolated, spline_at
from dashboard.vocabulary.prices import PriceRow, Prices

X, Y = "median_intvty", "tput_per_gpu"
COST, JOULES = "cost_total_neocloud", "provisioned_joules_per_total_token"
PLACES = [(20, 1500), (40, 1100), (90, 600), (150, 300), (230, 120)]
AUGUST = date(2026, 8, 1)
PRICES = Prices([PriceRow("mi355x", AUGUST, 1.50, 2.09, 2.10, 2.09)], AUGUST)


def frame(places=PLACES, key="a", **given):
    points = pd.DataFrame(places, columns=[X, Y], dtype="float64").assign(
        config_key=key,
        is_out=False,
        hardware="mi355x",
        prefill_hardware="",
        decode_hardware="",
        disagg=False,
        scenario="8k/1k",
        gpus=2.0,
        prefill_gpus=None,
        decode_gpus=None,
        **given,
    )
    return with_derived(points, [COST, JOULES, "tput_per_mw"], PRICES)


def official(at, y=Y):
    found = interpolated(frame(), X, y, at)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("at", "throughput"),
    [(20, 1500), (5, 1500), (50, 600), (90, 600), (90.1, 300), (230, 120)],
)
def test_a_value_is_that_of_the_best_point_which_is_at_least_as_fast(at, throughput):
    found = read_at(frame(), X, [Y, COST, JOULES], at)
    assert found[Y]["a"].value == throughput
    assert found[COST]["a"].value == pytest.approx(2.09 / (throughput * 0.0036))
    assert found[JOULES]["a"].value == pytest.approx(2090 / throughput)
    point = found[COST]["a"].point
    assert point is not None
    assert point[Y] == throughput


def test_above_the_highest_measured_point_it_is_blank_never_extrapolated():
    reading = read_at(frame(), X, [Y], 230.1)[Y]["a"]
    assert reading == (None, None, 230)


def test_a_metric_that_no_point_has_is_blank_and_reaches_nothing():
    points = pd.concat([frame(), frame([(50, np.nan)], key="b")])
    found = read_at(points, X, [Y], 30)[Y]
    assert found["a"].value == 1100
    assert found["b"] == (None, None, None)


def test_points_that_a_flag_keeps_off_take_no_part():
    points = frame().assign(is_out=[False, True, False, False, False])
    assert read_at(points, X, [Y], 30)[Y]["a"].value == 600
    assert interpolated(points.assign(is_out=True), X, Y, 30) is None


def test_the_usual_target_is_reached_by_half_of_the_keys():
    points = pd.concat([frame(), frame([(60, 900)], key="b"), frame([(8, 1)], key="c")])
    assert usual_target(points, X, Y) == 50
    assert usual_target(frame([(3, 100)]), X, Y) == 10
    assert usual_target(points.head(0), X, Y) is None


def test_the_spline_of_three_knots_by_hand():
    # Secants -10 and -20 over widths 10: mean -15, slope -2 * min(10, 20, 7.5) = -15.
    # At 5 of the first 10: 100/2 + 0/2 with slopes (3 * -10 + 15) / 2 = -7.5 and -15.
    xs, ys = np.array([0.0, 10.0, 20.0]), np.array([300.0, 200.0, 0.0])
    by_hand = 0.5 * 300 + 0.125 * 10 * -7.5 + 0.5 * 200 - 0.125 * 10 * -15
    assert spline_at(xs, ys, 5) == pytest.approx(by_hand)
    assert spline_at(xs, ys, 10) == 200


def test_two_knots_are_joined_as_the_official_page_does_and_one_is_itself():
    # Secant .4: slopes .6 and (3 * .4 - .6) / 2, so .125 * 10 * (.6 - .3) above 6.
    between = spline_at(np.array([10.0, 20.0]), np.array([4.0, 8.0]), 15)
    assert between == pytest.approx(6.375)
    assert spline_at(np.array([10.0]), np.array([4.0]), 10) == 4


@given(
    st.lists(st.floats(1, 1000), min_size=2, max_size=8, unique=True),
    st.lists(st.floats(1, 1000), min_size=8, max_size=8),
    st.floats(0, 1),
)
def test_the_spline_is_monotone_and_stays_between_its_neighbours(xs, ys, share):
    xs = np.sort(np.round(xs, 2))
    if (np.diff(xs) <= 0).any():
        return
    falling = np.sort(np.array(ys[: len(xs)]))[::-1]
    at = xs[0] + share * (xs[-1] - xs[0])
    place = min(int(np.searchsorted(xs, at, side="right")), len(xs) - 1)
    value = spline_at(xs, falling, float(at))
    assert falling[place] - 1e-6 <= value <= falling[place - 1] + 1e-6


def test_the_official_value_lies_between_the_points_where_the_step_rule_takes_one():
    found = official(50)
    assert 600 < found.value < 1100
    assert not found.is_clamped
    assert read_at(frame(), X, [Y], 50)[Y]["a"].value == 600


@pytest.mark.parametrize(("at", "value"), [(5, 1500), (500, 120)])
def test_outside_the_official_value_stays_at_the_outermost_point(at, value):
    assert interpolated(frame(), X, Y, at) == (value, True)


def test_official_costs_and_energy_follow_from_the_throughput_read_there():
    rate = official(50).value
    cost = official(50, COST).value
    assert cost == pytest.approx(2.09 / (rate * 0.0036))
    assert official(50, JOULES).value == pytest.approx(2090 / rate)
    per_mw = official(50, "tput_per_mw").value
    assert per_mw == pytest.approx(rate * 1000 / 2.09)


def test_the_official_frontier_is_one_of_throughput():
    # The dominated point would bend the line down if it were a knot.
    with_dominated = pd.concat([frame(), frame([(60, 10)])])
    assert interpolated(with_dominated, X, Y, 50) == interpolated(frame(), X, Y, 50)


def test_no_points_give_no_official_value():
    assert interpolated(frame().head(0), X, Y, 50) is None
