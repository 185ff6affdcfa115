"""What an eval score says: whether it reaches its floor, and how surely."""

from collections.abc import Iterable, Iterator, Mapping
from math import sqrt
from typing import Literal, NamedTuple

from dashboard.vocabulary.floors import Floor

Outcome = Literal[
    "not measured", "too few questions", "fail", "borderline", "thin margin", "pass"
]

# From worst to best: an eval is as good as the worst of its scores, a point as the
# worst of its tasks. Doubt about one outweighs that another passed.
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

# A flexible score so far below the strict one says more of the prompt than of answers.
TEMPLATE_GAP = 0.10


def wilson(share: float, n: int) -> tuple[float, float]:
    """Return the 95 % Wilson score interval of a fraction of ``n`` answers."""
    spread = Z95 * sqrt(share * (1 - share) / n + Z95**2 / (4 * n**2))
    centre = share + Z95**2 / (2 * n)
    scale = 1 + Z95**2 / n
    # The ends of nothing and of everything are exact, but for rounding.
    low = (centre - spread) / scale if share > 0 else 0.0
    high = (centre + spread) / scale if share < 1 else 1.0
    return low, high


class Judgement(NamedTuple):
    """What a task's scores say together, of each score alone, and beside that."""

    outcome: Outcome
    of_filters: Mapping[str, Outcome]
    notes: tuple[str, ...]


def judge(
    needed: Floor, scores: Mapping[str, float | None], n: int | None
) -> Judgement:
    """Hold every score that a task judges by against its floor.

    ``scores`` are fractions, None where not measured; ``n`` counts the questions.
    """
    found = {name: scores.get(name) for name in needed.filters}
    of_filters: dict[str, Outcome] = {
        name: "not measured" if share is None else _of_one(needed, share, n)
        for name, share in found.items()
    }
    measured = [one for one in of_filters.values() if one != "not measured"]
    if of_filters[needed.decisive] == "not measured":
        together: Outcome = "not measured"
    else:
        together = min(measured, key=_OF_TASKS.index)
    return Judgement(together, of_filters, tuple(_notes(of_filters, scores)))


def outcome(
    needed: Floor, scores: Mapping[str, float | None], n: int | None
) -> Outcome:
    """Return what a task's scores say together; see `judge`."""
    return judge(needed, scores, n).outcome


def _of_one(needed: Floor, share: float, n: int | None) -> Outcome:
    if n is None or n < 1:
        return "not measured"
    if n < needed.fewest_questions:
        return "too few questions"
    return _against(needed.minimum, share, n)


def _notes(
    of_filters: Mapping[str, Outcome], scores: Mapping[str, float | None]
) -> Iterator[str]:
    for name, one in of_filters.items():
        if scores.get(name) is None and len(of_filters) > 1:
            yield f"{name} not measured"
        elif one in ("fail", "borderline"):
            yield f"{one}: {name}"
    strict, flexible = scores.get("strict"), scores.get("flexible")
    if strict is None or flexible is None:
        return
    below = round(strict - flexible, 6)
    if below >= TEMPLATE_GAP:
        yield (
            f"flexible is {100 * below:.1f} pp below strict: "
            "the prompt template may be wrong"
        )


def worst(outcomes: Iterable[Outcome]) -> Outcome:
    """Return what the outcomes of several tasks say together; none is not measured."""
    return min(outcomes, key=_OF_TASKS.index, default="not measured")


def _against(lowest: float, share: float, n: int) -> Outcome:
    low, high = wilson(share, n)
    if share >= lowest:
        return "pass" if low >= lowest else "thin margin"
    return "borderline" if high >= lowest else "fail"
