"""The dominated area and the shortfall, held against an independent library."""

import moocore
import numpy as np
import pytest

from dashboard.analysis.hypervolume import hypervolume, shortfalls

BASE = [(230, 120), (150, 300), (90, 600), (40, 1100), (20, 1500)]
HEAD = [(230, 126), (150, 310), (90, 560), (40, 1100)]


def area(points):
    xs, ys = np.array(points, dtype=float).reshape(-1, 2).T
    return float(hypervolume(xs, ys))


@pytest.mark.parametrize(
    ("points", "expected"),
    [(BASE, 109600), (BASE[:4], 101600), (HEAD, 100680), ([(3, 4)], 12), ([], 0)],
)
def test_area_of_known_points(points, expected):
    assert area(points) == expected


def test_dominated_equal_and_worthless_points_add_nothing():
    assert area([*BASE, (90, 500), (150, 300), (0, 9999), (-5, 7), (9999, 0)]) == 109600


def test_sets_before_the_last_axis_are_apart():
    xs = np.array([[1.0, 2.0], [3.0, 3.0]])
    assert hypervolume(xs, xs).tolist() == [4, 9]


def test_the_largest_shortfall_is_where_the_head_lost():
    factors = shortfalls(np.array(BASE[:4], float), np.array(HEAD, float))
    assert factors.argmax() == 2
    assert factors.max() == pytest.approx(1.0714, abs=5e-5)


def random_fronts():
    rng = np.random.default_rng(6)
    for _ in range(1000):
        base, head = (
            rng.lognormal(3, 1, (rng.integers(1, 20), 2)).round(1) + 0.1
            for _ in range(2)
        )
        yield base, head


def test_area_and_epsilon_of_1000_random_fronts_agree_with_moocore():
    for base, head in random_fronts():
        expected = moocore.hypervolume(base, ref=[0, 0], maximise=True)
        assert area(base) == pytest.approx(expected, rel=1e-9)
        epsilon = moocore.epsilon_mult(head, ref=base, maximise=True)
        assert shortfalls(base, head).max() == pytest.approx(epsilon, rel=1e-9)
