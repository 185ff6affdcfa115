"""Breaks and markers in words, and what a dropped band means."""

import pytest

from dashboard.analysis.changes import badge, sentence
from dashboard.analysis.dropped import dropped, intended
from dashboard.vocabulary.changes import change_text

SWAP = {"kind": "checkpoint", "from": "org/Old", "to": "org/New"}
TP4 = [("TP4", [4, 16])]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (SWAP, "checkpoint swapped from org/Old to org/New"),
        (
            {"kind": "image", "from": "img:1@sha256:a", "to": "img:1@sha256:b"},
            "image changed under the same tag from img:1@sha256:a to img:1@sha256:b",
        ),
        (
            {"kind": "image", "from": "img:1", "to": "img:2"},
            "image changed from img:1 to img:2",
        ),
        (
            {"kind": "grid", "dropped": [["TP4", [4]]], "added": [["TP2", [8, 16]]]},
            "grid changed: dropped TP4 c4, added TP2 c8, c16",
        ),
        (
            {"kind": "notice", "text": "other power limit", "at": ""},
            "said by staff: other power limit",
        ),
    ],
)
def test_a_change_is_one_line(change, words):
    assert sentence(change) == words


def test_several_breaks_share_a_badge():
    assert badge([SWAP, {"kind": "precision"}]) == "swap, other precision"


def test_what_is_planned_no_more_was_removed_on_purpose():
    found = dropped(TP4, {("TP2", 64), ("TP4", 16)})
    assert (found.on_purpose, found.lost) == ([("TP4", [4])], [("TP4", [16])])


def test_without_a_plan_the_changelog_tells():
    told = dropped(TP4, None, ["Swap the weights", "Drop the tp4 band"])
    assert (told.on_purpose, told.quotes) == (TP4, ("Drop the tp4 band",))
    for line in ("Drop the TP48 band", "Tune TP4", "Drop the TP2 band"):
        assert dropped(TP4, None, [line]).untold == TP4


def test_the_plan_counts_more_than_the_changelog():
    found = dropped(TP4, {("TP4", 4), ("TP4", 16)}, ["Drop TP4"])
    assert (found.lost, found.on_purpose, found.quotes) == (TP4, [], ("Drop TP4",))


def test_what_a_plan_still_asks_for_is_no_change_of_the_grid():
    image = {"kind": "image", "from": "a", "to": "b"}
    grid = {"kind": "grid", "dropped": [["TP2", [4, 8]]], "added": [["TP4", [1, 2]]]}
    before, after = {("TP4", 1)}, {("TP2", 8)}
    assert intended([image, grid], before, after) == [
        image,
        {"kind": "grid", "dropped": [["TP2", [4]]], "added": [["TP4", [2]]]},
    ]
    asked = {("TP2", 4), ("TP2", 8), ("TP4", 1), ("TP4", 2)}
    assert intended([image, grid], asked, asked) == [image]
    assert intended([grid], None, None) == [grid]


def test_places_are_written_alike_wherever_a_grid_is_told():
    grid = {"kind": "grid", "dropped": [["TP2", [4, 8]]], "added": [["TP4", [16]]]}
    told = "dropped TP2 c4, c8, added TP4 c16"
    assert change_text(grid) == told
    assert sentence(grid) == f"grid changed: {told}"
