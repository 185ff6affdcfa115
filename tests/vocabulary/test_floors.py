"""Floors by model, task and day: whose value counts."""

from datetime import date

import pytest

from dashboard.vocabulary.floors import BUILT_IN, OTHERWISE, FloorRow, FloorTable

BEFORE, DAY, AFTER = date(2026, 7, 1), date(2026, 8, 1), date(2026, 9, 1)


def row(model: str, task: str, minimum: float, **changes) -> FloorRow:
    given = FloorRow(model, task, minimum, (), DAY, "a file")
    return given._replace(**changes)


def minimum(table: FloorTable, model: str, task: str, day: date = DAY) -> float:
    return table.at(model, task, day).minimum


def test_models_own_floor_then_the_tasks_then_that_of_everything():
    table = FloorTable(
        [row("a", "t", 0.1), row("", "t", 0.2), row("a", "", 0.3), row("", "", 0.4)]
    )
    assert minimum(table, "a", "t") == 0.1
    assert minimum(table, "b", "t") == 0.2
    assert minimum(table, "a", "u") == 0.3
    assert minimum(table, "b", "u") == 0.4


@pytest.mark.parametrize(
    ("model", "task", "expected"),
    [
        ("qwen3.5", "gsm8k", 0.94),
        ("glm5", "gsm8k", 0.94),
        ("glm5.1", "gsm8k", 0.93),
        ("minimaxm2.5", "gsm8k", 0.92),
        ("dsr1", "gsm8k", 0.91),
        ("dsv4", "gsm8k", 0.91),
        ("gptoss", "gsm8k", 0.91),
        ("kimik2.5", "gsm8k", 0.90),
        ("gptoss120b", "gsm8k", 0.91),
        ("kimik3", "gsm8k", 0.90),
        ("dsr1", "gpqa_diamond_cot_n_shot", 0.30),
        ("dsr1", "swebench_lite", 0.50),
        ("dsr1", "aime25", 0.85),
    ],
)
def test_without_rows_the_producers_table_counts(model, task, expected):
    found = FloorTable().at(model, task, DAY)
    assert (found.minimum, found.source) == (expected, BUILT_IN)


def test_a_family_answers_to_the_producers_prefix_too():
    table = FloorTable([row("gptoss", "t", 0.2), row("kimik2.7-code", "t", 0.3)])
    assert minimum(table, "gptoss120b", "t") == 0.2
    assert minimum(table, "kimik2.7-code", "t") == 0.3


def test_a_floor_counts_from_its_day_on():
    rows = [row("qwen3.5", "gsm8k", 0.95), row("qwen3.5", "gsm8k", 0.96)]
    table = FloorTable([rows[1]._replace(valid_from=AFTER), rows[0]])
    days = (BEFORE, DAY, date(2026, 8, 31), AFTER)
    found = [minimum(table, "qwen3.5", "gsm8k", day) for day in days]
    assert found == [0.94, 0.95, 0.95, 0.96]


def test_a_row_of_any_task_does_not_outweigh_what_is_said_of_the_task():
    table = FloorTable([row("", "", 0.99)])
    assert minimum(table, "qwen3.5", "gsm8k") == 0.94
    assert minimum(table, "qwen3.5", "aime25") == 0.99
    assert FloorTable().at("x", "y", DAY).minimum == OTHERWISE


@pytest.mark.parametrize(
    ("named", "expected", "decisive"),
    [
        ((), ("strict", "flexible"), "strict"),
        (("flexible", "strict"), ("strict", "flexible"), "strict"),
        (("flexible",), ("flexible",), "flexible"),
        (("score", "nonsense"), ("score",), "score"),
        (("nonsense",), ("strict", "flexible"), "strict"),
    ],
)
def test_a_row_may_name_the_scores_that_have_to_reach_it(named, expected, decisive):
    found = FloorTable([row("", "gsm8k", 0.9, filters=named)]).at("m", "gsm8k", DAY)
    assert (found.filters, found.decisive) == (expected, decisive)


def test_what_has_a_floor_is_listed_once():
    table = FloorTable([row("", "gsm8k", 0.9), row("new", "t", 0.5)])
    assert ("new", "t") in table.scopes()
    assert ("", "") in table.scopes()
    assert table.newest(("", "gsm8k"), BEFORE) is None
