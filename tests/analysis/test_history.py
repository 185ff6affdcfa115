"""The history of a key: what stands under each date, and what is not joined."""

import pandas as pd
import pytest

from dashboard.analysis.history import (
    History,
    area_series,
    best_series,
    default_place,
    default_targets,
    history_of,
    matched_changes,
    place_series,
)
from tests.analysis.history_frames import X, Y, member, points, swapped, usual


def values(series) -> dict[int, float]:
    return {sweep: found.value for sweep, found in series.values.items()}


def test_best_is_read_by_the_step_rule_and_names_its_point():
    (series,) = best_series(usual([1]), history_of([member(1)]), X, Y, [50])
    assert values(series) == {1: 110}
    assert series.values[1].where == "TP2 c4"
    assert series.name == "at 50 tok/s/user or more"


def test_best_is_blank_above_the_range_and_the_best_of_all_below_it():
    history = history_of([member(1)])
    above, below = best_series(usual([1]), history, X, Y, [101, 1])
    assert above.values == {}
    assert values(below) == {1: 501}


def test_points_that_are_out_reach_nothing():
    frame = usual([1]).assign(is_out=[False, True])
    history = history_of([member(1)])
    (series,) = best_series(frame, history, X, Y, [10])
    assert values(series) == {1: 110}
    assert values(area_series(frame, history, X, Y)) == {1: 100 * 110}


def test_hypervolume_is_the_area_under_the_steps():
    area = area_series(usual([1]), history_of([member(1)]), X, Y)
    assert values(area) == {1: 100 * 110 + 20 * (501 - 110)}


def test_an_addition_counts_with_what_it_adds_to_under_its_own_date():
    history = history_of([member(2, extends=1), member(1), member(3)])
    assert [s.members for s in history.sweeps] == [(1,), (1, 2), (3,)]
    frame = points((1, "TP2", 4, 100, 100), (2, "TP2", 8, 60, 300), (3, "TP2", 4, 9, 9))
    (series,) = best_series(frame, history, X, Y, [5])
    assert values(series) == {1: 100, 2: 300, 3: 9}


def test_a_place_is_blank_where_a_sweep_did_not_measure_it_itself():
    history = history_of([member(1), member(2, extends=1)])
    frame = points((1, "TP2", 4, 100, 100), (2, "TP2", 8, 60, 300))
    assert history.sweeps[1].members == (1, 2)
    assert values(place_series(frame, Y, "TP2", 4)) == {1: 100}


def test_recipes_of_one_place_are_folded_to_their_median():
    rows = [(1, "TP2", 4, 1.0, y) for y in (10, 30, 20)]
    missing = (1, "TP2", 4, 1.0, None)
    assert values(place_series(points(*rows, missing), Y, "TP2", 4)) == {1: 20}


def test_ghosts_are_the_sweep_before_and_the_last_before_the_segment():
    history = swapped()
    assert history.current is not None
    assert history.current.sweep.sweep_id == 5
    former, across = history.ghosts
    assert (former.curve.sweep.sweep_id, across.curve.sweep.sweep_id) == (3, 2)
    assert former.words.startswith("former sweep, 2026-08-04")
    assert across.words == "before the swap, 2026-08-03, Weights"


def test_the_first_sweep_of_a_segment_has_one_ghost():
    kept = history_of(s for s in swapped().sweeps if s.sweep_id < 4)
    assert [ghost.curve.sweep.sweep_id for ghost in kept.ghosts] == [2]


def test_without_a_sweep_that_counts_there_is_no_curve():
    history = history_of([member(1, state="held")])
    assert (history.current, history.ghosts, History().current) == (None, [], None)


def test_usual_targets_are_round_and_within_the_frontier():
    wide = points((1, "a", 1, 13.5, 9), (1, "a", 2, 50, 5), (1, "a", 4, 99.9, 1))
    assert default_targets(wide, X, Y) == (30.0, 50.0, 75.0)


@pytest.mark.parametrize(
    ("xs", "expected"),
    [([], ()), ([3.27], (3.2,)), ([0.042], (0.042,)), ([330.0, 410.0], (410.0,))],
)
def test_usual_targets_of_odd_ranges_can_be_reached(xs, expected):
    frame = points(*((1, "a", n, x, 10.0 - n) for n, x in enumerate(xs, start=1)))
    assert default_targets(frame, X, Y) == pytest.approx(expected)


def test_the_usual_place_is_the_one_measured_most_of_those_of_today():
    history = swapped()
    assert default_place(history) == ("TP2", 64)
    assert default_place(History()) is None


def test_matched_points_of_a_swap_are_raw_changes():
    history = swapped()
    before, after = history.sweeps[1], history.sweeps[2]
    found = matched_changes(usual(), before, after, Y)
    assert [(c.deployment, c.concurrency) for c in found] == [("TP2", 4), ("TP2", 64)]
    assert found[0].change == pytest.approx(130 / 120 - 1)


def test_frames_without_the_columns_are_refused_by_name():
    with pytest.raises(KeyError, match="sweep_id"):
        area_series(pd.DataFrame({X: [1.0]}), History(), X, Y)
