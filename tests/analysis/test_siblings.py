"""Siblings: keys of one run that moved by the same factor, and those that did not."""

from hypothesis import given
from hypothesis import strategies as st

from dashboard.analysis.siblings import (
    Movement,
    common_movements,
    is_alike,
    siblings,
)


def moved(key: str, change: float | None, **given: str) -> Movement:
    named = {"framework": "sglang", "hardware": "mi355x", "verdict": "regression"}
    return Movement(config_key=key, scenario="8k/1k", change=change, **named | given)


def test_the_same_factor_is_told_from_another_and_from_none():
    of = moved("a", -0.08)
    run = [
        of,
        moved("b", -0.075),
        moved("c", -0.03),
        moved("d", 0.08, verdict="improvement"),
        moved("e", 0.001, verdict="within noise"),
        moved("f", -0.08, verdict="not comparable"),
        moved("g", None, verdict="no baseline"),
    ]
    found = siblings(of, run)
    assert [one.config_key for one in found.alike] == ["b"]
    assert [one.config_key for one in found.others] == ["c", "d", "e"]
    assert [one.config_key for one in found.untold] == ["f", "g"]


def test_another_scenario_of_the_same_key_is_a_sibling():
    of = moved("a", -0.08)
    assert siblings(of, [of, of._replace(scenario="1k/1k")]).alike == (
        of._replace(scenario="1k/1k"),
    )


def test_what_did_not_move_is_alike_to_nothing():
    still = moved("a", -0.004, verdict="within noise")
    assert not is_alike(still, moved("b", -0.004, verdict="within noise"))


def test_a_run_in_which_everything_fell_says_so_once():
    run = [moved("a", -0.08), moved("b", -0.09, framework="vllm", hardware="b200")]
    (common,) = common_movements(run)
    assert common.sentence == (
        "All 2 keys of the run moved alike (-8.5 %): check harness or image."
    )


def test_a_framework_that_moved_alone_is_named():
    run = [
        moved("a", -0.08),
        moved("b", -0.082, hardware="mi325x"),
        moved("c", 0.0, framework="vllm", verdict="within noise"),
    ]
    (common,) = common_movements(run)
    assert (common.shared, common.name, common.keys) == (
        "framework",
        "sglang",
        ("a", "b"),
    )
    assert "All 2 keys of sglang moved alike (-8.1 %)" in common.sentence


def test_hardware_that_moved_alone_is_named():
    run = [
        moved("a", -0.08),
        moved("b", -0.08, framework="vllm"),
        moved("c", 0.0, hardware="b200", verdict="within noise"),
        moved("d", 0.0, hardware="b200", framework="vllm", verdict="within noise"),
    ]
    assert [(c.shared, c.name) for c in common_movements(run)] == [
        ("hardware", "mi355x")
    ]


def test_one_key_of_a_framework_that_stood_still_silences_it():
    run = [
        moved("a", -0.08),
        moved("b", -0.08),
        moved("c", 0.0, verdict="within noise"),
    ]
    assert common_movements(run) == []


def test_one_key_alone_is_no_group_whatever_its_scenarios():
    one = moved("a", -0.08)
    assert common_movements([one, one._replace(scenario="1k/1k")]) == []
    assert common_movements([]) == []


changes = st.floats(-0.9, 2.0)


@given(changes, changes)
def test_being_alike_is_mutual(first: float, second: float):
    one, other = moved("a", first), moved("b", second)
    assert is_alike(one, other) == is_alike(other, one)


@given(st.lists(changes, min_size=2, max_size=6))
def test_a_common_movement_holds_between_all_of_its_keys(found: list[float]):
    run = [moved(f"key-{n}", change) for n, change in enumerate(found)]
    for common in common_movements(run):
        assert all(
            is_alike(one, other)
            for one in common.movements
            for other in common.movements
        )
