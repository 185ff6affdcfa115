"""Floors of eval scores per model and task, and which scores a task judges by."""

from typing import Literal

Filter = Literal["strict", "flexible", "score"]

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
_OTHERWISE = 0.85

_FILTERS: dict[str, tuple[Filter, ...]] = {
    "gsm8k": ("strict", "flexible"),
    "gpqa_diamond_cot_n_shot": ("flexible",),
    "swebench_lite": ("score",),
}
# Without this one a score says nothing; the others may be absent.
_DECISIVE: dict[str, Filter] = {"gsm8k": "strict"}
# Below this many questions an interval is too wide to pass.
_QUESTIONS = {"gsm8k": 1000}


def floor(model: str, task: str) -> float:
    """Return the lowest fraction that a model must score on a task."""
    return _OF_MODEL.get((model, task), _OF_TASK.get(task, _OTHERWISE))


def filters(task: str) -> tuple[Filter, ...]:
    """Return the scores that a task judges by, the decisive one first."""
    return _FILTERS.get(task, ("score",))


def decisive_filter(task: str) -> Filter:
    """Return the score without which a task counts as not measured."""
    return _DECISIVE.get(task, filters(task)[0])


def fewest_questions(task: str) -> int:
    """Return how many questions a passing score needs at least."""
    return _QUESTIONS.get(task, 1)
