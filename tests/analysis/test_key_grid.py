"""The grid of a key: today's value, and who added or dropped a place."""

import pytest

from dashboard.analysis.history import History, history_of
from dashboard.analysis.key_grid import key_grid
from tests.analysis.history_frames import Y, member, points, swapped, usual


def cells(history, frame):
    return {(c.deployment, c.concurrency): c for c in key_grid(history, frame, Y).cells}


def test_a_dropped_band_names_the_swap_that_dropped_it():
    cell = cells(swapped(), usual())["TP4", 4]
    assert (cell.is_current, cell.event, cell.value) == (False, "dropped", None)
    assert cell.by is not None
    assert cell.by.is_swap
    assert (cell.by.sweep_id, cell.last.sweep_id) == (3, 2)


def test_change_is_against_the_sweep_before_of_the_same_segment():
    cell = cells(swapped(), usual())["TP2", 4]
    assert cell.value == 150
    assert cell.change == pytest.approx(150 / 130 - 1)


def test_the_first_sweep_of_a_segment_has_no_change():
    history = history_of(s for s in swapped().sweeps if s.sweep_id < 4)
    assert cells(history, usual())["TP2", 4].change is None


def test_a_place_that_came_later_or_came_back_names_who_added_it():
    history = history_of(
        [
            member(1, grid={"TP2": [4, 8]}),
            member(2, grid={"TP2": [4]}),
            member(3, grid={"TP2": [4, 8, 16]}),
        ]
    )
    found = cells(history, usual())
    events = {place: (c.event, c.by and c.by.sweep_id) for place, c in found.items()}
    assert events == {
        ("TP2", 4): ("", None),
        ("TP2", 8): ("added", 3),
        ("TP2", 16): ("added", 3),
    }


def test_an_addition_drops_nothing():
    history = history_of(
        [member(1, grid={"TP2": [4]}), member(2, grid={"TP2": [8]}, extends=1)]
    )
    found = cells(history, points((1, "TP2", 4, 1, 7), (2, "TP2", 8, 1, 9)))
    assert [(c.is_current, c.value) for c in found.values()] == [(True, 7), (True, 9)]
    assert found["TP2", 8].event == "added"


def test_held_sweeps_change_nothing():
    held = member(2, grid={"TP2": []}, state="held")
    found = cells(history_of([member(1, grid={"TP2": [4]}), held]), usual([1]))
    assert found["TP2", 4].is_current


def test_deployments_are_in_the_order_of_their_sizes():
    grid = {"TP16": [4], "TP2": [4], "TP4/EP4": [4]}
    found = key_grid(history_of([member(1, grid=grid)]), usual([1]), Y)
    assert [row.deployment for row in found.rows] == ["TP2", "TP4/EP4", "TP16"]
    assert key_grid(History(), usual([1]), Y).rows == []
