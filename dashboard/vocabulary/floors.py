"""Floors of eval scores per model and task, and which scores a task judges by."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from typing import Literal, NamedTuple

from dashboard.vocabulary.models import PREFIXES

Filter = Literal["strict", "flexible", "score"]

FILTERS: tuple[Filter, ...] = ("strict", "flexible", "score")
BUILT_IN = "built in"

# The producer's thresholds: a model's own value, else the task's, else the last one.
_OF_MODEL = {
    ("dsr1", "gsm8k"): 0.91,
    ("dsv4", "gsm8k"): 0.91,
    ("gptoss", "gsm8k"): 0.91,
    ("glm5", "gsm8k"): 0.94,
    ("qwen3.5", "gsm8k"): 0.94,
    ("glm5.1", "gsm8k"): 0.93,
    ("minimaxm2.5", "gsm8k"): 0.92,
    ("kimik2.5", "gsm8k"): 0.90,
}
_OF_TASK = {"gsm8k": 0.90, "gpqa_diamond_cot_n_shot": 0.30, "swebench_lite": 0.50}
OTHERWISE = 0.85

_FILTERS: dict[str, tuple[Filter, ...]] = {
    "gsm8k": ("strict", "flexible"),
    "gpqa_diamond_cot_n_shot": ("flexible",),
    "swebench_lite": ("score",),
}
# Without this one a score says nothing; the others may be absent.
_DECISIVE: dict[str, Filter] = {"gsm8k": "strict"}
# Below this many questions an interval is too wide to pass.
_QUESTIONS = {"gsm8k": 1000}

Scope = tuple[str, str]  # model prefix and task; "" is any of them


def filters(task: str) -> tuple[Filter, ...]:
    """Return the scores that a task judges by, the decisive one first."""
    return _FILTERS.get(task, ("score",))


def decisive_filter(task: str) -> Filter:
    """Return the score without which a task counts as not measured."""
    return _DECISIVE.get(task, filters(task)[0])


def fewest_questions(task: str) -> int:
    """Return how many questions a passing score needs at least."""
    return _QUESTIONS.get(task, 1)


@dataclass(frozen=True, slots=True)
class Floor:
    """What a task demands: a fraction, of which scores, and who says so."""

    task: str
    minimum: float
    filters: tuple[Filter, ...]
    source: str = BUILT_IN

    @property
    def decisive(self) -> Filter:
        """Return the score without which the task counts as not measured."""
        usual = decisive_filter(self.task)
        return usual if usual in self.filters else self.filters[0]

    @property
    def fewest_questions(self) -> int:
        """Return how many questions a passing score needs at least."""
        return fewest_questions(self.task)


class FloorRow(NamedTuple):
    """A floor that somebody set from a day on; ``""`` is any model, or any task."""

    model: str
    task: str
    minimum: float
    filters: tuple[str, ...]
    valid_from: date
    source: str


class FloorTable:
    """Floors by day: rows that somebody set, over the producer's built-in start."""

    def __init__(self, rows: Iterable[FloorRow] = ()) -> None:
        """Take rows in any order; at most one of a scope and day."""
        self._rows: dict[Scope, list[FloorRow]] = {}
        for row in sorted(rows, key=lambda row: row.valid_from, reverse=True):
            self._rows.setdefault((row.model, row.task), []).append(row)

    def at(self, model: str, task: str, day: date) -> Floor:
        """Return what counts on a day, as the producer looks it up by model prefix.

        The model's own floor of the task, else the task's, else the model's of any
        task, else that of everything.
        """
        prefix = PREFIXES.get(model, model)
        own = dict.fromkeys([(model, task), (prefix, task)])
        any_task = dict.fromkeys([(model, ""), (prefix, "")])
        for scope in (*own, ("", task), *any_task, ("", "")):
            row = self.newest(scope, day)
            if row is not None:
                return Floor(task, row.minimum, _known(row.filters, task), row.source)
            minimum = built_in().get(scope)
            if minimum is not None:
                return Floor(task, minimum, filters(task))
        raise AssertionError("the last scope has a built-in floor")

    def newest(self, scope: Scope, day: date) -> FloorRow | None:
        """Return the row that was set last for exactly this scope by a day."""
        found = (row for row in self._rows.get(scope, ()) if row.valid_from <= day)
        return next(found, None)

    def scopes(self) -> set[Scope]:
        """Return everything for which there is a floor."""
        return set(self._rows) | set(built_in())


@lru_cache
def built_in() -> dict[Scope, float]:
    """Return the producer's floors that count where nobody set another one."""
    of_tasks = {("", task): minimum for task, minimum in _OF_TASK.items()}
    return {**_OF_MODEL, **of_tasks, ("", ""): OTHERWISE}


def _known(named: Iterable[str], task: str) -> tuple[Filter, ...]:
    """Return the named scores in the task's order, the usual ones where none is."""
    chosen = set(named)
    order = (*filters(task), *FILTERS)
    found = tuple(dict.fromkeys(name for name in order if name in chosen))
    return found or filters(task)
