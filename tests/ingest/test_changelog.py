"""Changelog metadata, job statistics and reuse notes to rows."""

from typing import Any

import pytest

from ingest.conversion.changelog import link_state
from ingest.rows import ChangelogRow, ReuseRow, RunStatRow, SkipRow
from tests.ingest.records import rows_of

ENTRY = {
    "config-keys": ["qwen3.5-fp4-mi355x-sglang"],
    "description": ["note"],
    "pr-link": "https://github.com/o/r/pull/501",
}


def entries(*values: object) -> list[Any]:
    changelog = {"base_ref": "b1", "head_ref": "h1", "entries": list(values)}
    return rows_of("changelog-metadata", changelog)


@pytest.mark.parametrize(
    ("link", "state", "number"),
    [
        ("https://github.com/SemiAnalysisAI/InferenceX/pull/2305", "good", 2305),
        ("https://github.com/o/r/pull/2305/changes", "good", 2305),
        ("https://github.com/o/r/pull/2305/files", "good", 2305),
        ("https://github.com/o/r/pull/XXX", "placeholder", None),
        ("https://github.com/o/r/pull/XXXX", "placeholder", None),
        ("XXX", "placeholder", None),
        ("TBD", "placeholder", None),
        ("PR_LINK_PLACEHOLDER", "placeholder", None),
        ("", "missing", None),
        ("https://example.com/pull/5", "invalid", None),
        ("see chat", "invalid", None),
    ],
)
def test_link_states(link: str, state: str, number: int | None) -> None:
    assert link_state(link) == (state, number)


def test_entries_keep_order_and_words() -> None:
    second = ENTRY | {"evals-only": True, "scenario-type": ["agentic-coding"]}

    first_row, second_row = entries(ENTRY, second)

    assert (first_row.index, second_row.index) == (0, 1)
    assert first_row.config_keys == ["qwen3.5-fp4-mi355x-sglang"]
    assert (first_row.base_ref, first_row.head_ref) == ("b1", "h1")
    assert first_row.pr_number == 501
    assert first_row.defects == []
    assert first_row.scenario_types is None
    assert not first_row.evals_only
    assert second_row.evals_only
    assert second_row.scenario_types == ["agentic-coding"]


def test_a_missing_link_is_named_and_the_entry_kept() -> None:
    (row,) = entries({k: v for k, v in ENTRY.items() if k != "pr-link"})

    assert (row.link_state, row.pr_link, row.pr_number) == ("missing", "", None)
    assert row.defects == ["pr-link is missing"]


def test_a_description_may_be_one_string_with_the_link_inside() -> None:
    text = "Bump the image. PR: https://github.com/o/r/pull/77."

    (row,) = entries({"config-keys": ["a-*-b"], "description": text})

    assert row.description == [text]
    assert (row.link_state, row.pr_number) == ("good", 77)
    assert row.config_keys == ["a-*-b"]
    assert row.defects == ["description is a string instead of a list"]


def test_defects_of_an_entry_are_listed() -> None:
    (row,) = entries({"config-keys": ["a", 5], "description": [], "pr-link": 12})

    assert row.config_keys == ["a"]
    assert len(row.defects) == 4


@pytest.mark.parametrize("value", [[ENTRY], "text", {"entries": "none"}, 5], ids=repr)
def test_a_file_of_another_shape_is_a_skip(value: object) -> None:
    rows = rows_of("changelog-metadata", value)

    assert {type(row) for row in rows} == {SkipRow}
    assert {row.reason for row in rows} == {"bad_changelog"}


def test_one_bad_entry_leaves_the_others() -> None:
    skipped, row = entries("text", ENTRY)

    assert isinstance(skipped, SkipRow)
    assert isinstance(row, ChangelogRow)
    assert row.index == 1


def test_statistics_keep_raw_keys_and_zeros() -> None:
    rows = rows_of(
        "run-stats",
        {
            "mi355x-amds": {"n_success": 41, "total": 44},
            "b200": {"n_success": 0, "total": 0},
            "odd-cluster": {"n_success": 1, "total": 1},
            "broken": {"n_success": 1},
        },
    )

    stats = [
        (row.raw_key, row.hardware, row.successes, row.total)
        for row in rows
        if isinstance(row, RunStatRow)
    ]
    assert stats == [
        ("mi355x-amds", "mi355x", 41, 44),
        ("b200", "b200", 0, 0),
        ("odd-cluster", "", 1, 1),
    ]
    assert [row.reason for row in rows if isinstance(row, SkipRow)] == ["bad_run_stats"]


def test_statistics_may_be_null() -> None:
    (row,) = rows_of("run-stats", None)

    assert row.reason == "empty_run_stats"


def test_reuse_ids_may_be_strings() -> None:
    reuse = {
        "source_run_id": "31000000001",
        "source_run_attempt": 2,
        "source_pr_number": None,
        "ingest_run_id": 31000000777,
    }

    (row,) = rows_of("reused-ingest-metadata", reuse)

    assert isinstance(row, ReuseRow)
    assert row.source_run_id == 31000000001


@pytest.mark.parametrize("run_id", [0, -1, "x", None])
def test_reuse_of_no_run_is_a_skip(run_id: object) -> None:
    value = {"source_run_id": run_id, "ingest_run_id": 5}

    (row,) = rows_of("reused-ingest-metadata", value)

    assert row.reason == "bad_reuse"
