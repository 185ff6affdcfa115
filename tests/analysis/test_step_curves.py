"""Step curves: the best y at an interactivity or better, and the gap between two."""

import pandas as pd
import pytest

from dashboard.analysis.step_curves import (
    Stretch,
    folded_points,
    paired_stretches,
    paired_with,
    step_curve,
    stretches,
)

X, Y = "median_intvty", "tput_per_gpu"
BASE = [(230, 120), (150, 300), (90, 600), (40, 1100), (20, 1500)]
HEAD = [(230, 126), (150, 310), (90, 560), (40, 1100)]


def points(values, **columns):
    frame = pd.DataFrame(values, columns=[X, Y], dtype=float)
    return frame.assign(
        deployment=1, concurrency=range(len(frame)), is_out=False
    ).assign(**columns)


def test_corners_run_from_left_to_right_without_dominated_points():
    corners = step_curve(points([*BASE, (30, 500)]), X, Y)
    assert corners == [(20, 1500), (40, 1100), (90, 600), (150, 300), (230, 120)]


def test_points_that_a_flag_keeps_off_are_no_corner():
    assert step_curve(points([(50, 100), (60, 900)], is_out=[False, True]), X, Y) == [
        (50, 100)
    ]


def test_equal_points_are_one_corner():
    assert step_curve(points([(50, 100), (50, 100)]), X, Y) == [(50, 100)]


def test_a_metric_that_is_better_when_lower_has_no_step_curve():
    with pytest.raises(ValueError, match="higher is not better"):
        step_curve(points(BASE).assign(median_ttft=1.0), "median_ttft", Y)


def test_the_gap_follows_the_step_rule_to_the_digit():
    found = stretches(step_curve(points(BASE), X, Y), step_curve(points(HEAD), X, Y))
    assert found == [
        Stretch(0, 20, 1500, 1100),
        Stretch(20, 40, 1100, 1100),
        Stretch(40, 90, 600, 560),
        Stretch(90, 150, 300, 310),
        Stretch(150, 230, 120, 126),
    ]


def test_beyond_the_reach_of_a_side_it_has_no_value():
    assert stretches([(50, 100)], [(80, 90)]) == [
        Stretch(0, 50, 100, 90),
        Stretch(50, 80, None, 90),
    ]


def test_without_points_there_is_no_stretch():
    assert stretches([], []) == []


def test_repeats_of_a_place_are_folded_to_their_median():
    frame = points([(50, 100), (52, 104), (54, 300)]).assign(concurrency=4)
    folded = folded_points(frame, X, Y)
    assert folded[[X, Y, "standing"]].to_numpy().tolist() == [[52, 104, "frontier"]]


def test_places_of_both_sides_are_paired():
    base = folded_points(points(BASE), X, Y)
    head = folded_points(points(HEAD), X, Y)
    assert paired_with(base, head)["is_paired"].tolist() == [True] * 4 + [False]
    assert paired_with(head, base)["is_paired"].all()


def test_a_gap_is_only_where_both_curves_rest_on_pairs():
    base, head = (folded_points(points(side), X, Y) for side in (BASE, HEAD))
    old, new = paired_with(base, head), paired_with(head, base)
    found = paired_stretches(old, new, X, Y)
    # The base's point at 20 was not measured again: what lies left of it is no gap.
    assert found[0] == Stretch(20, 40, 1100, 1100)
    assert found == stretches(step_curve(base, X, Y), step_curve(head, X, Y))[1:]


def test_a_lost_point_in_the_middle_leaves_a_bare_stretch():
    left = points([p for p in BASE if p != (90, 600)]).assign(concurrency=[0, 1, 3, 4])
    base, head = folded_points(points(BASE), X, Y), folded_points(left, X, Y)
    found = paired_stretches(paired_with(base, head), paired_with(head, base), X, Y)
    assert [(s.low, s.high) for s in found if s.base != s.head] == []
    assert (40, 90) not in [(s.low, s.high) for s in found]
