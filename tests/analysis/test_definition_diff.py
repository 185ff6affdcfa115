"""Config entries side by side: only the fields, and the lines of lists, that differ."""

from typing import Any

from dashboard.analysis.definition_diff import field_changes

ENTRY: dict[str, Any] = {
    "image": "img:1",
    "model": "org/Old",
    "multinode": False,
    "scenarios": {
        "fixed-seq-len": [
            {
                "isl": 8192,
                "osl": 1024,
                "search-space": [
                    {"tp": 2, "conc-end": 256},
                    {"tp": 4, "conc-end": 16},
                ],
            }
        ]
    },
}


def changed(**given: Any) -> list[tuple[str, tuple[str, ...], tuple[str, ...]]]:
    found = field_changes(ENTRY, {**ENTRY, **given})
    return [(c.field, c.before, c.after) for c in found]


def test_equal_entries_differ_in_nothing():
    assert changed() == []


def test_fields_that_differ_stand_side_by_side():
    assert changed(model="org/New", multinode=True) == [
        ("model", ("org/Old",), ("org/New",)),
        ("multinode", ("false",), ("true",)),
    ]


def test_of_a_search_space_only_the_lines_that_went_or_came_are_shown():
    space = [{"tp": 2, "conc-end": 256}, {"tp": 8, "conc-end": 4}]
    lengths = [{"isl": 8192, "osl": 1024, "search-space": space}]
    (field,) = changed(scenarios={"fixed-seq-len": lengths})
    assert field == (
        "scenarios.fixed-seq-len[1].search-space",
        ("tp: 4, conc-end: 16",),
        ("tp: 8, conc-end: 4",),
    )


def test_a_field_that_one_side_lacks_is_blank_there():
    assert changed(runner="mi355x") == [("runner", (), ("mi355x",))]
    assert changed(scenarios={}) == [
        ("scenarios", (), ("",)),
        ("scenarios.fixed-seq-len[1].isl", ("8192",), ()),
        ("scenarios.fixed-seq-len[1].osl", ("1024",), ()),
        (
            "scenarios.fixed-seq-len[1].search-space",
            ("tp: 2, conc-end: 256", "tp: 4, conc-end: 16"),
            (),
        ),
    ]


def test_another_order_of_the_same_lines_is_shown_whole():
    found = field_changes({"a": ["x", "y"]}, {"a": ["y", "x"]})
    assert (found[0].before, found[0].after) == (("x", "y"), ("y", "x"))
