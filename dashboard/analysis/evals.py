"""What an eval score says: whether it reaches its floor, and how surely."""

from collections.abc import Iterable, Mapping
from math import sqrt
from typing import Literal

from dashboard.vocabulary.floors import (
    decisive_filter,
    fewest_questions,
    filters,
    floor,
)

Outcome = Literal[
    "not measured", "too few questions", "fail", "borderline", "thin margin", "pass"
]

# From worst to best: an eval is as good as the worst of its scores.
_ORDER: tuple[Outcome, ...] = ("fail", "borderline", "thin margin", "pass")
# A point has several tasks; doubt about one outweighs that another passed.
_OF_TASKS: tuple[Outcome, ...] = (
    "fail",
    "borderline",
    "too few questions",
    "not measured",
    "thin margin",
    "pass",
)
PASSED: frozenset[Outcome] = frozenset({"pass", "thin margin"})

Z95 = 1.959964


def wilson(share: float, n: int) -> tuple[float, float]:
    """Return the 95 % Wilson score interval of a fraction of ``n`` answers."""
    spread = Z95 * sqrt(share * (1 - share) / n + Z95**2 / (4 * n**2))
    centre = share + Z95**2 / (2 * n)
    scale = 1 + Z95**2 / n
    return ((centre - spread) / scale, (centre + spread) / scale)


def outcome(
    model: str, task: str, scores: Mapping[str, float | None], n: int | None
) -> Outcome:
    """Hold every score that a task judges by against the floor of its model.

    ``scores`` are fractions, None where not measured; ``n`` counts the questions.
    """
    if scores.get(decisive_filter(task)) is None or n is None or n < 1:
        return "not measured"
    if n < fewest_questions(task):
        return "too few questions"
    lowest = floor(model, task)
    found = [scores.get(name) for name in filters(task)]
    outcomes = [_against(lowest, share, n) for share in found if share is not None]
    return min(outcomes, key=_ORDER.index)


def worst(outcomes: Iterable[Outcome]) -> Outcome:
    """Return what the outcomes of several tasks say together; none is not measured."""
    return min(outcomes, key=_OF_TASKS.index, default="not measured")


def _against(lowest: float, share: float, n: int) -> Outcome:
    low, high = wilson(share, n)
    if share >= lowest:
        return "pass" if low >= lowest else "thin margin"
    return "borderline" if high >= lowest else "fail"
