"""Where a history breaks, and what is only marked inside a stretch of it."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from dashboard.analysis.segments import StaffMark, SweepIdentity, segments

START = datetime(2026, 8, 1, tzinfo=UTC)
OLD, NEW = "org-a/Model-397B-FP4", "org-a/Model-397B-FP4-Attn8-V2"
USUAL: dict[str, Any] = {
    "checkpoint": OLD,
    "precision": "fp4",
    "spec_methods": frozenset({"none"}),
    "images": ("img:1@sha256:a",),
    "recipes": frozenset({"a" * 64}),
    "pools": frozenset({"mi355x-amds"}),
    "grid": {"TP2": frozenset({4, 64}), "TP4": frozenset({4})},
}


def identity(number: int, **given: Any) -> SweepIdentity:
    return SweepIdentity(
        sweep_id=number, at=START + timedelta(days=number), **{**USUAL, **given}
    )


def history(*given: dict[str, Any], marks: tuple[StaffMark, ...] = ()) -> list[Any]:
    return segments([identity(n, **g) for n, g in enumerate(given, start=1)], marks)


def last(*given: dict[str, Any], marks: tuple[StaffMark, ...] = ()) -> Any:
    return history(*given, marks=marks)[-1]


def kinds(changes: Any) -> list[str]:
    return [change["kind"] for change in changes]


def test_the_first_sweep_begins_the_first_segment_without_a_break():
    (first,) = history({})
    assert (first.segment, first.previous, first.breaks, first.markers) == (
        *(1, None, (), ()),
    )


def test_equal_sweeps_are_one_segment_without_a_marker():
    found = history({}, {}, {})
    assert [p.segment for p in found] == [1, 1, 1]
    assert [p.previous for p in found] == [None, 1, 2]
    assert not any(p.breaks or p.markers for p in found)


def test_another_checkpoint_is_a_swap_with_both_names():
    found = last({}, {"checkpoint": NEW})
    assert (found.segment, found.is_swap) == (2, True)
    assert found.breaks == ({"kind": "checkpoint", "from": OLD, "to": NEW},)


def test_there_and_back_is_two_swaps():
    found = history({}, {"checkpoint": NEW}, {})
    assert [p.segment for p in found] == [1, 2, 3]
    assert [p.is_swap for p in found] == [False, True, True]


def test_letter_case_of_a_checkpoint_is_no_swap():
    found = last({}, {"checkpoint": OLD.upper()})
    assert (found.segment, found.breaks) == (1, ())


def test_a_local_path_of_the_same_weights_is_no_swap_and_hides_none():
    path = {"checkpoint": f"/models/{OLD.rpartition('/')[2]}"}
    other = {"checkpoint": OLD.replace("org-a", "org-b")}
    found = history({}, path, {}, path, other)
    assert [p.segment for p in found] == [1, 1, 1, 1, 2]
    assert found[-1].breaks[0]["from"] == OLD


def test_an_unknown_checkpoint_is_taken_over_and_breaks_nothing():
    found = history({}, {"checkpoint": ""}, {"checkpoint": NEW})
    assert [p.segment for p in found] == [1, 1, 2]
    assert found[-1].breaks[0]["from"] == OLD
    assert [p.segment for p in history({}, {"checkpoint": ""}, {})] == [1, 1, 1]


@pytest.mark.parametrize(
    ("name", "before", "after", "kind"),
    [
        ("precision", "fp4", "fp8", "precision"),
        ("harness", "traces", "traces (20-minute replay)", "harness"),
        ("spec_methods", frozenset({"none"}), frozenset({"mtp"}), "spec_method"),
        ("acceptance_source", "real", "synthetic_by_policy", "acceptance"),
    ],
)
def test_what_makes_sweeps_incomparable_begins_a_segment(name, before, after, kind):
    found = last({name: before}, {name: after})
    assert (found.segment, kinds(found.breaks), found.is_swap) == (2, [kind], False)


@pytest.mark.parametrize(
    ("name", "empty", "told"),
    [
        ("precision", "", "fp4"),
        ("harness", "", "traces"),
        ("spec_methods", frozenset(), frozenset({"mtp"})),
        ("acceptance_source", "unknown", "real"),
        ("acceptance_source", "", "real"),
    ],
)
def test_what_one_side_does_not_tell_breaks_nothing(name, empty, told):
    assert last({name: told}, {name: empty}).segment == 1
    assert last({name: empty}, {name: told}).segment == 1
    assert [p.segment for p in history({name: told}, {name: empty}, {name: told})] == [
        *(1, 1, 1)
    ]


def test_one_spec_method_in_common_is_no_break():
    both = frozenset({"none", "mtp"})
    assert (
        last({"spec_methods": both}, {"spec_methods": frozenset({"mtp"})}).segment == 1
    )


def test_another_configured_acceptance_length_is_a_break():
    source = {"acceptance_source": "synthetic_declared"}
    found = last(
        {**source, "acceptance_length": 3.39}, {**source, "acceptance_length": 2.5}
    )
    assert found.breaks == (
        {
            "kind": "acceptance",
            "from": "synthetic declared 3.39",
            "to": "synthetic declared 2.5",
        },
    )
    assert last({**source, "acceptance_length": 3.39}, source).segment == 1


def test_several_breaks_at_once_are_one_segment_and_all_told():
    found = last({}, {"checkpoint": NEW, "precision": "fp8"})
    assert (found.segment, kinds(found.breaks)) == (2, ["checkpoint", "precision"])


def test_another_image_is_a_marker_with_tag_and_digest():
    found = last({}, {"images": ("img:1@sha256:b",)})
    assert (found.segment, found.breaks) == (1, ())
    assert found.markers == (
        {"kind": "image", "from": "img:1@sha256:a", "to": "img:1@sha256:b"},
    )


def test_a_swap_and_another_image_are_both_told_once():
    found = last({}, {"checkpoint": NEW, "images": ("img:2",)})
    assert (kinds(found.breaks), kinds(found.markers)) == (["checkpoint"], ["image"])


def test_a_recipe_is_a_marker_where_neither_image_nor_weights_explain_it():
    other = {"recipes": frozenset({"b" * 64})}
    found = last({}, other)
    assert found.markers == ({"kind": "recipe", "from": "a" * 8, "to": "b" * 8},)
    assert kinds(last({}, {**other, "images": ("img:2",)}).markers) == ["image"]
    assert last({}, {**other, "checkpoint": NEW}).markers == ()


def test_recipes_that_only_went_with_their_places_are_no_other_recipe():
    two = {"recipes": frozenset({"a" * 64, "b" * 64})}
    assert last(two, {}).markers == ()


def test_dropped_and_added_places_are_a_marker():
    found = last({}, {"grid": {"TP2": frozenset({4, 128})}})
    assert (found.segment, found.markers) == (
        1,
        (
            {
                "kind": "grid",
                "dropped": [["TP2", [64]], ["TP4", [4]]],
                "added": [["TP2", [128]]],
            },
        ),
    )


def test_another_runner_pool_is_a_marker():
    found = last({}, {"pools": frozenset({"mi355x-oci", "mi355x-amds"})})
    assert found.markers == (
        {"kind": "runner", "from": "mi355x-amds", "to": "mi355x-amds, mi355x-oci"},
    )
    assert last({}, {"pools": frozenset()}).markers == ()


def test_an_extension_belongs_to_what_it_extends():
    added = {"TP2": frozenset({128})}
    base, extension, after = history(
        {},
        {"extends": 1, "grid": added, "checkpoint": NEW},
        {"grid": {**USUAL["grid"], "TP2": frozenset({4, 64, 128})}},
    )
    assert (extension.previous, extension.segment, extension.breaks) == (1, 1, ())
    assert extension.markers == (
        {"kind": "grid", "dropped": [], "added": [["TP2", [128]]]},
    )
    assert (after.previous, after.markers) == (base.sweep_id, ())


def test_staff_break_and_mark_at_the_next_sweep():
    at = START + timedelta(days=2)
    marks = (
        StaffMark("other data centre", at, is_break=True),
        StaffMark("new driver", at, is_break=False),
    )
    found = history({}, {}, {}, marks=marks)
    assert [p.segment for p in found] == [1, 2, 2]
    assert [kinds(p.breaks) for p in found] == [[], ["notice"], []]
    assert found[1].markers == (
        {"kind": "notice", "text": "new driver", "at": at.isoformat()},
    )
    assert not found[1].is_swap


def test_what_staff_said_before_the_first_and_after_the_last_sweep_marks_none():
    marks = tuple(
        StaffMark("note", START + timedelta(days=day), is_break=True) for day in (0, 9)
    )
    assert [p.segment for p in history({}, {}, marks=marks)] == [1, 1]
