"""The columns of the evaluation page: what each sorts by, and the rows in order."""

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from dashboard.analysis.evals import Outcome
from dashboard.views.evaluation_rows import EvalRow
from dashboard.views.run_columns import Column
from dashboard.vocabulary.hardware import hardware_order

# From what needs a look to what is well.
_STATES: tuple[Outcome, ...] = (
    *("fail", "borderline", "too few questions", "not measured"),
    *("thin margin", "pass"),
)


class _Column(NamedTuple):
    """A column of the table, and what of a row it sorts by; None is blank."""

    label: str
    name: str
    value: Callable[[EvalRow], Any]


def _result(name: str) -> Callable[[EvalRow], Any]:
    return lambda row: getattr(row.judged.result, name) if row.judged else None


def _change(row: EvalRow) -> float | None:
    change = row.standing.change if row.standing else None
    return change.difference if change else None


def _recovery(row: EvalRow) -> float | None:
    found = row.standing.recovery if row.standing else None
    return found.share if found else None


def _results(row: EvalRow) -> int | None:
    return len(row.standing.repeats) if row.standing else None


COLUMNS = (
    _Column("Config key", "key", lambda row: row.key.key),
    _Column("Deployment", "deployment", lambda row: row.deployment),
    _Column("Concurrency", "concurrency", lambda row: row.concurrency),
    _Column("State", "state", lambda row: _STATES.index(row.outcome)),
    _Column("Strict", "strict", _result("strict")),
    _Column("Flexible", "flexible", _result("flexible")),
    _Column("95 % interval", "low", lambda r: r.interval and r.interval[0]),
    _Column("Floor", "floor", lambda r: r.judged.floor if r.judged else None),
    _Column("n", "n", _result("n")),
    _Column("Change", "change", _change),
    _Column("Results", "results", _results),
    _Column("Recovery", "recovery", _recovery),
    _Column("Task", "task", lambda row: row.task or None),
    _Column("Scenario", "scenario", lambda row: row.scenario),
    _Column("Checkpoint", "checkpoint", lambda row: row.checkpoint or None),
    _Column("Image", "image", lambda row: row.image or None),
    _Column("Run", "run", lambda row: row.run.github_run_id),
    _Column("Date", "date", lambda row: row.run.official_at),
)
SORTS = tuple(f"{sign}{c.name}" for c in COLUMNS for sign in ("", "-"))
_NUMBERS = frozenset(
    {
        *("concurrency", "strict", "flexible", "low", "floor", "n"),
        *("change", "results", "recovery"),
    }
)


def sorted_rows(rows: Iterable[EvalRow], sort: str) -> list[EvalRow]:
    """Return the rows in order: those of the link first, blanks last.

    Without a column by hardware, key, deployment and concurrency.
    """
    usual = sorted(rows, key=_usual)
    by = {column.name: column.value for column in COLUMNS}.get(sort.lstrip("-"))
    if by is not None:
        known = [row for row in usual if by(row) is not None]
        known.sort(key=by, reverse=sort.startswith("-"))
        usual = [*known, *(row for row in usual if by(row) is None)]
    return sorted(usual, key=lambda row: row.state is None)


def _usual(row: EvalRow) -> tuple[object, ...]:
    key = row.key
    where = (row.deployment, row.concurrency or 0, row.task, row.row_id)
    return (hardware_order(key.hardware), key.key, row.scenario, *where)


def columns(sort: str) -> list[Column]:
    """Return the header of the table."""
    directions = {sort: "descending" if sort.startswith("-") else "ascending"}
    return [
        Column(
            c.label,
            c.name,
            c.name in _NUMBERS,
            directions.get(f"-{c.name}") or directions.get(c.name, ""),
        )
        for c in COLUMNS
    ]
