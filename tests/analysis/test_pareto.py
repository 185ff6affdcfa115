"""The frontier: its definition, its laws, and recorded rows."""

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dashboard.analysis.pareto import frontier, on_frontier, standings
from dashboard.vocabulary.metrics import METRICS

HIGHER, OTHER, LOWER = "median_intvty", "tput_per_gpu", "median_ttft"
GROUP = ("model", "hardware", "framework", "precision", "spec_method", "disagg")
PAIRS = [
    ("median_intvty", "tput_per_gpu"),
    ("p90_intvty", "tput_per_gpu"),
    ("median_intvty", "output_tput_per_gpu"),
    ("median_e2el", "tput_per_gpu"),
    ("median_ttft", "input_tput_per_gpu"),
    ("median_ttft", "median_tpot"),
    ("median_intvty", "joules_per_output_token"),
]

values = st.sampled_from([-1.0, 0.0, 1.0, 2.0, 3.0, 4.5, math.nan, math.inf, -math.inf])
pairs = st.lists(st.tuples(values, values), max_size=30)
axes = st.sampled_from([(HIGHER, OTHER), (LOWER, OTHER), (HIGHER, LOWER)])


def points(
    rows: list[tuple[Any, Any]], x: str = HIGHER, y: str = OTHER
) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=[x, y], dtype="float64")


def brute_force(frame: pd.DataFrame, x: str, y: str) -> list[bool]:
    """The definition, word by word: compare every point with every other."""
    sign_x = 1 if METRICS[x].direction == "higher" else -1
    sign_y = 1 if METRICS[y].direction == "higher" else -1
    rows = [
        (sign_x * a, sign_y * b)
        if math.isfinite(a) and a > 0 and math.isfinite(b)
        else None
        for a, b in zip(frame[x], frame[y], strict=True)
    ]
    entered = [row for row in rows if row is not None]
    return [
        row is not None
        and not any(
            other[0] >= row[0] and other[1] >= row[1] and other != row
            for other in entered
        )
        for row in rows
    ]


def test_dominated_points_ties_zero_and_missing_x():
    placed = [(10, 100), (5, 100), (10, 100), (20, 90), (15, 95)]
    unplaced = [(0, 500), (None, 900), (math.nan, 900)]
    frame = points([*unplaced, *placed])
    found = frontier(frame, HIGHER, OTHER)
    assert list(found.itertuples(index=False, name=None)) == [
        (10, 100),
        (10, 100),
        (15, 95),
        (20, 90),
    ]


def test_a_lower_better_x_turns_the_frontier_around():
    frame = points([(0.3, 100), (0.5, 200), (0.6, 150), (0.2, 50)], x=LOWER)
    assert frontier(frame, LOWER, OTHER)[LOWER].tolist() == [0.2, 0.3, 0.5]


def test_one_point_and_no_point():
    assert on_frontier(points([(3, 4)]), HIGHER, OTHER).tolist() == [True]
    assert on_frontier(points([]), HIGHER, OTHER).tolist() == []


def test_frontier_does_not_change_its_argument():
    frame = points([(3, 4), (1, 2)])
    before = frame.copy()
    frontier(frame, HIGHER, OTHER)
    pd.testing.assert_frame_equal(frame, before)


def test_a_metric_without_direction_is_refused():
    frame = points([(3, 4)], y="duration_seconds")
    with pytest.raises(ValueError, match="duration_seconds"):
        on_frontier(frame, HIGHER, "duration_seconds")


def test_a_missing_column_is_named():
    with pytest.raises(KeyError, match="median_ttft"):
        on_frontier(points([]), LOWER, OTHER)


def test_standings_keep_keys_apart_and_flagged_points_off():
    frame = points([(10, 10), (5, 5), (20, 20), (5, 5), (99, 99), (None, 1)])
    frame["key"] = ["a", "a", "b", "c", "a", "a"]
    frame["is_out"] = [False, False, False, False, True, False]
    assert standings(frame, "key", HIGHER, OTHER).tolist() == [
        "frontier",
        "dominated",
        "frontier",
        "frontier",
        "out",
        "unplaced",
    ]


def test_standings_of_nothing():
    frame = points([]).assign(key=[], is_out=[])
    assert standings(frame, "key", HIGHER, OTHER).empty


@given(pairs, axes)
def test_frontier_equals_the_definition(rows, names):
    x, y = names
    frame = points(rows, x, y)
    assert on_frontier(frame, x, y).tolist() == brute_force(frame, x, y)


@given(pairs, axes, st.randoms(use_true_random=False))
def test_order_of_rows_does_not_matter(rows, names, random):
    x, y = names
    shuffled = random.sample(rows, len(rows))
    first = frontier(points(rows, x, y), x, y)
    second = frontier(points(shuffled, x, y), x, y)
    assert first.to_numpy().tolist() == second.to_numpy().tolist()


@given(pairs, axes)
def test_frontier_of_the_frontier_is_itself(rows, names):
    x, y = names
    once = frontier(points(rows, x, y), x, y)
    pd.testing.assert_frame_equal(frontier(once, x, y), once)


@given(pairs, axes)
def test_what_is_left_out_is_dominated_by_the_frontier(rows, names):
    x, y = names
    frame = points(rows, x, y)
    mask = on_frontier(frame, x, y)
    entered = np.isfinite(frame[x]) & (frame[x] > 0) & np.isfinite(frame[y])
    for position in frame.index[entered & ~mask]:
        pair = pd.concat([frame[mask], frame.loc[[position]]])
        assert not on_frontier(pair, x, y)[-1]


def recorded_groups(folder: Path) -> list[pd.DataFrame]:
    rows = json.loads((folder / "published" / "benchmarks.json").read_text())
    frame = pd.json_normalize(rows).rename(columns=lambda n: n.removeprefix("metrics."))
    return [group for _, group in frame.groupby([*GROUP, "isl", "osl"], dropna=False)]


@pytest.mark.parametrize(("x", "y"), PAIRS)
def test_recorded_rows_equal_brute_force_in_every_group(shared_data, x, y):
    groups = recorded_groups(shared_data)
    assert sum(map(len, groups)) == 435
    for group in groups:
        assert on_frontier(group, x, y).tolist() == brute_force(group, x, y)
