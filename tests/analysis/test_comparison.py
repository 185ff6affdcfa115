"""Two sweeps side by side: what is told apart, and what bad input gives."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dashboard.analysis.best_at import BestAt
from dashboard.analysis.comparison import compare
from dashboard.analysis.noise import NoiseTable
from dashboard.analysis.pairing import pairs
from dashboard.analysis.ranking import value_at
from tests.analysis.sweeps import X, Y, simulated, sweep

# The vector that the design is held against.
BASE = [(230, 120), (150, 300), (90, 600), (40, 1100), (20, 1500)]
HEAD = [(230, 126), (150, 310), (90, 560), (40, 1100)]
TTFT = "median_ttft"

rows = st.lists(st.tuples(st.floats(1, 400), st.floats(1, 9999)), max_size=8)


def compared(base, head, *, axes=(X, Y), metrics=(), planned=None):
    return compare(
        base, head, axes=axes, metrics=metrics, noise=NoiseTable(), planned=planned
    )


def changes(comparison, metric):
    return [p.change for p in comparison.points if p.metric == metric]


@pytest.fixture
def vector():
    return compared(sweep(BASE), sweep(HEAD))


def test_raw_area_counts_every_point_and_like_for_like_the_pairs(vector):
    assert vector.raw_hypervolume == 100680 / 109600 - 1
    assert round(100 * vector.raw_hypervolume, 2) == -8.14
    assert vector.like_for_like.change == 100680 / 101600 - 1
    assert round(100 * vector.like_for_like.change, 2) == -0.91
    assert vector.like_for_like.pairs == vector.pairs == 4


def test_the_worst_place_is_named(vector):
    assert vector.worst_local.loss == pytest.approx(600 / 560 - 1)
    assert vector.worst_local.x == 90
    assert (vector.worst_local.deployment, vector.worst_local.concurrency) == (1, 4)


def test_the_best_at_a_target_is_read_of_all_points(vector):
    assert BestAt(50, 600, 560) in vector.best_at
    # The head measured nothing at the place that is best there.
    assert BestAt(20, 1500, 1100, base_only=True) in vector.best_at
    assert [best.x for best in vector.best_at][-1] == 200


def test_coverage_names_lost_points_and_the_stretch_of_x(vector):
    assert vector.coverage.lost == ((1, (16,)),)
    assert vector.coverage.gained == ()
    assert vector.coverage.lost_x_range == ((20, 40),)
    back = compared(sweep(HEAD), sweep(BASE), planned=5).coverage
    assert (back.lost, back.gained, back.lost_x_range) == ((), ((1, (16,)),), ())
    assert (back.received, back.planned) == (5, 5)


def test_noise_in_x_loses_no_coverage():
    moved = [(x * 0.99, y) for x, y in BASE]
    assert compared(sweep(BASE), sweep(moved)).coverage.lost_x_range == ()


def test_only_places_of_both_sides_are_paired():
    """CASES E12: series 1 and 2 against 1 and 3, and never two devices as one."""
    base = pd.concat([sweep(BASE[:2]), sweep(BASE[2:4], deployment=2)])
    head = pd.concat([sweep(HEAD[:2]), sweep(HEAD[2:4], deployment=3)])
    comparison = compared(base, head)
    assert comparison.pairs == 2
    assert comparison.coverage.lost == ((2, (1, 2)),)
    assert comparison.coverage.gained == ((3, (1, 2)),)


def test_pairs_have_both_values_of_each_metric():
    found = pairs(sweep(BASE[1:]), sweep(HEAD), (X, Y))
    assert found.to_dict("records") == [
        {
            "deployment": 1,
            "concurrency": 2**n,
            f"{X}_base": BASE[1 + n][0],
            f"{X}_head": HEAD[n][0],
            f"{Y}_base": BASE[1 + n][1],
            f"{Y}_head": HEAD[n][1],
        }
        for n in range(4)
    ]


def test_several_recipes_of_one_place_are_folded_to_the_median():
    base = sweep([(10, 100), (10, 300), (20, None)], concurrencies=(4, 4, 4))
    head = sweep([(10, 100), (12, 110), (14, 900)], concurrencies=(4, 4, 4))
    (found,) = pairs(base, head, (X, Y)).to_dict("records")
    assert (found[f"{X}_base"], found[f"{Y}_base"]) == (10, 200)
    assert (found[f"{X}_head"], found[f"{Y}_head"]) == (12, 110)


def test_points_that_are_out_take_no_part_and_are_counted():
    base = sweep(BASE).assign(is_out=[True, False, False, False, False])
    comparison = compared(base, sweep(HEAD))
    assert comparison.pairs == 3
    assert comparison.coverage.left_out_base == 1
    assert comparison.coverage.left_out_head == 0
    # It was measured: nothing is gained where the other side has it.
    assert comparison.coverage.gained == ()


def test_gain_follows_the_direction_of_the_metric():
    """CASES C08 and E04: TTFT .30 to .36 is worse, throughput 100 to 120 is better."""
    base = sweep([(10, 100, 0.30)], (X, Y, TTFT))
    head = sweep([(10, 120, 0.36)], (X, Y, TTFT))
    gains = {p.metric: p.gain for p in compared(base, head, metrics=(TTFT,)).points}
    assert gains[Y] == pytest.approx(0.2)
    assert gains[TTFT] == pytest.approx(-0.2)


def test_z_counts_deviations_of_the_difference_of_two_runs():
    comparison = compared(sweep([(10, 100)]), sweep([(10, 97)]))
    (point,) = [p for p in comparison.points if p.metric == Y]
    assert point.z == pytest.approx(math.log(0.97) / (math.sqrt(2) * 0.0075))
    assert point.p == pytest.approx(0.00408, abs=1e-5)


def test_a_lower_is_better_axis_has_no_area_but_a_worst_place():
    base = sweep([(0.30, 100), (0.60, 400)], (TTFT, Y))
    head = sweep([(0.33, 100), (0.60, 400)], (TTFT, Y))
    comparison = compared(base, head, axes=(TTFT, Y))
    assert comparison.like_for_like is None
    assert comparison.raw_hypervolume is None
    assert comparison.worst_local.loss == pytest.approx(0.1)
    assert comparison.worst_local.x == 0.30
    assert comparison.best_at == ()


def test_a_gain_above_two_needs_a_look_whichever_way_is_better():
    base = sweep([(10, 100, 1.0)], (X, Y, TTFT))
    head = sweep([(20, 201, 0.4)], (X, Y, TTFT))
    found = compared(base, head, metrics=(TTFT,)).points
    assert {p.metric: p.needs_look for p in found} == {X: False, Y: True, TTFT: True}


def test_a_zero_baseline_gives_no_change_and_never_infinity():
    comparison = compared(sweep([(10, 0), (20, 50)]), sweep([(10, 5), (20, 0)]))
    zero, fallen = [p for p in comparison.points if p.metric == Y]
    assert (zero.change, zero.gain, zero.z, zero.p) == (None, None, None, None)
    assert (fallen.change, fallen.z, fallen.p) == (-1, None, 0)
    assert not zero.needs_look


def test_missing_and_impossible_values_leave_their_point_out():
    base = sweep([(10, 100), (20, None), (30, 60), (None, 50), (50, -1)])
    head = sweep([(10, 100), (20, 80), (30, math.inf), (40, 50), (50, 9)])
    comparison = compared(base, head)
    assert changes(comparison, Y) == [0, 0]
    assert changes(comparison, X) == [0, 0, 0, 0]
    assert comparison.like_for_like.pairs == 2
    assert comparison.pairs == 5


def test_nothing_on_one_side_or_on_both_is_a_state_and_no_number():
    full, empty = sweep(BASE), sweep([])
    out = sweep(BASE, is_out=True)
    for base, head in ((full, empty), (empty, full), (empty, empty), (out, full)):
        comparison = compared(base, head)
        assert comparison.pairs == 0
        assert comparison.like_for_like is None
        assert comparison.worst_local is None
        assert comparison.raw_hypervolume is None
        assert comparison.points == ()


def test_one_pair_has_its_numbers():
    comparison = compared(sweep([(10, 100)]), sweep([(10, 110)]))
    assert comparison.pairs == 1
    assert comparison.like_for_like.change == pytest.approx(0.1)


def test_without_known_noise_there_is_no_interval():
    axes = ("median_e2e_norm_intvty", Y)
    comparison = compared(sweep(BASE, axes), sweep(HEAD, axes), axes=axes)
    assert comparison.like_for_like.low is None
    assert comparison.like_for_like.change == 100680 / 101600 - 1
    assert {p.z for p in comparison.points if p.metric == axes[0]} == {None}


def test_a_missing_column_is_named():
    with pytest.raises(KeyError, match="deployment"):
        compared(sweep(BASE).drop(columns="deployment"), sweep(HEAD))


def test_the_same_sweeps_have_the_same_interval():
    first, second = (compared(sweep(BASE), sweep(HEAD)) for _ in range(2))
    assert first == second
    assert first.like_for_like.low < first.like_for_like.change
    assert first.like_for_like.change < first.like_for_like.high


def test_the_interval_holds_the_truth_in_most_runs():
    rng = np.random.default_rng(8)
    found = [compared(simulated(rng), simulated(rng)).like_for_like for _ in range(60)]
    holds = sum(one.low <= 0 <= one.high for one in found)
    assert 52 <= holds <= 59


def test_a_comparison_changes_neither_sweep():
    base, head = sweep(BASE), sweep(HEAD)
    before = base.copy(), head.copy()
    compared(base, head)
    pd.testing.assert_frame_equal(base, before[0])
    pd.testing.assert_frame_equal(head, before[1])


@settings(max_examples=30, deadline=None)
@given(rows)
def test_best_at_is_the_step_rule(points):
    frame = sweep(points)
    for best in compared(frame, frame).best_at:
        expected = value_at(frame, X, Y, best.x)
        assert best.base == best.head == expected


@settings(max_examples=30, deadline=None)
@given(rows, rows)
def test_swapping_the_sides_turns_every_number_around(first, second):
    there = compared(sweep(first), sweep(second))
    back = compared(sweep(second), sweep(first))
    assert there.coverage.lost == back.coverage.gained
    if there.like_for_like is not None:
        both = (1 + there.like_for_like.change) * (1 + back.like_for_like.change)
        assert both == pytest.approx(1)


def test_the_ids_of_deployments_decide_no_number():
    # Ids follow the order of arrival; a verdict must not.
    def both(one, other):
        ids = [one, other, one, other]
        return [sweep(rows[:4]).assign(deployment=ids) for rows in (BASE, HEAD)]

    first, again = (
        compare(*sides, axes=(X, Y), metrics=(), noise=NoiseTable()).like_for_like
        for sides in (both(1, 2), both(2, 1))
    )
    assert first == again
    assert first is not None
    assert first.low is not None
