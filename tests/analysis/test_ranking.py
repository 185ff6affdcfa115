"""The step rule: what a target costs, whichever way is better."""

import math

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dashboard.analysis.ranking import best_at, farthest, value_at

X, Y = "median_intvty", "tput_per_gpu"
LATENCY = "median_ttft"
PLACES = [(230, 120), (150, 300), (90, 600), (40, 1100), (20, 1500)]

measured = st.floats(0.1, 1000)
places = st.lists(st.tuples(measured, measured), min_size=1, max_size=20)


def frame(rows, x=X, y=Y, key="a", *, is_out=False):
    columns = pd.DataFrame(rows, columns=[x, y], dtype="float64")
    return columns.assign(config_key=key, is_out=is_out)


@pytest.mark.parametrize(
    ("at", "expected"),
    [(50, 600), (90, 600), (91, 300), (230, 120), (230.1, None), (20, 1500), (1, 1500)],
)
def test_best_value_among_points_at_least_as_interactive(at, expected):
    assert value_at(frame(PLACES), X, Y, at) == expected


@pytest.mark.parametrize(
    ("at", "expected"), [(0.5, 100), (0.2, None), (0.3, 100), (1, 400), (9, 400)]
)
def test_a_latency_is_reached_from_below(at, expected):
    points = frame([(0.3, 100), (0.9, 400), (2, 300)], x=LATENCY)
    assert value_at(points, LATENCY, Y, at) == expected


def test_the_smallest_is_best_where_lower_is_better():
    assert value_at(frame([(50, 0.4), (90, 0.9)], y=LATENCY), X, LATENCY, 40) == 0.4


def test_flagged_and_unmeasured_points_reach_nothing():
    points = pd.concat(
        [
            frame([(100, 9000)], is_out=True),
            frame([(math.nan, 5), (90, math.nan), (0, 7), (50, 10)]),
        ]
    )
    assert value_at(points, X, Y, 1) == 10
    assert value_at(points, X, Y, 60) is None


def test_no_points_have_no_value():
    assert value_at(frame([]), X, Y, 1) is None


def test_keys_are_ranked_and_those_that_cannot_reach_are_left_out():
    points = pd.concat(
        [
            frame(PLACES),
            frame([(60, 700), (55, 700)], key="b"),
            frame([(30, 9)], key="c"),
        ]
    )
    best = best_at(points, "config_key", X, Y, 50)
    assert list(best["config_key"]) == ["b", "a"]
    assert list(best[X]) == [60, 90]
    assert dict(farthest(points, "config_key", X, Y)[["config_key", X]].values) == {
        "a": 230,
        "b": 60,
        "c": 30,
    }


@given(places, measured, measured)
def test_a_looser_target_is_never_worse(rows, one, other):
    tight, loose = max(one, other), min(one, other)
    points = frame(rows)
    at_tight, at_loose = value_at(points, X, Y, tight), value_at(points, X, Y, loose)
    assert at_tight is None or (at_loose is not None and at_loose >= at_tight)


@given(places, measured)
def test_the_value_is_that_of_a_point_that_reaches(rows, at):
    value = value_at(frame(rows), X, Y, at)
    reaching = [y for x, y in rows if x >= at]
    assert value == (max(reaching) if reaching else None)


@given(places, measured)
def test_below_and_above_mirror_each_other(rows, at):
    mirrored = frame([(1 / x, y) for x, y in rows], x=LATENCY)
    assert value_at(frame(rows), X, Y, at) == value_at(
        mirrored, LATENCY, Y, 1 / at
    ) or any(math.isclose(x, at) for x, _ in rows)


@given(places, measured)
def test_dominated_points_change_nothing(rows, at):
    worse = [(x * 0.9, y * 0.9) for x, y in rows]
    assert value_at(frame(rows), X, Y, at) == value_at(frame(rows + worse), X, Y, at)
