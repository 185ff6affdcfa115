"""How an eval score changed: difference, interval, and whether chance explains it."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from math import erfc, sqrt
from typing import Literal

from scipy.stats import binomtest

from dashboard.analysis.evals import Z95, wilson

# Falls from which a change is marked, in fractions: one point, and one and a half.
AMBER, RED = 0.010, 0.015

# Repeats of one eval that differ by more are no steady measurement.
UNSTABLE_SPREAD = 0.02

# Above this probability a difference is said not to be shown.
CHANCE = 0.05

Level = Literal["red", "amber", ""]


@dataclass(frozen=True, slots=True)
class ScoreChange:
    """A score against a former one of the same task, all fractions.

    ``low`` and ``high`` bound the difference at 95 %. ``p`` is two-sided, by ``test``;
    ``z`` is None for a test of pairs.
    """

    before: float
    after: float
    low: float
    high: float
    z: float | None
    p: float
    test: Literal["two proportions", "McNemar"]

    @property
    def difference(self) -> float:
        """Return after minus before."""
        return self.after - self.before

    @property
    def is_shown(self) -> bool:
        """Tell whether chance does not explain the difference."""
        return self.p < CHANCE

    @property
    def level(self) -> Level:
        """Return how far the score fell, however sure that is."""
        # 0.9697 - 0.9547 is 1.5 points for people, a hair less in binary.
        fall = round(self.before - self.after, 6)
        if fall >= RED:
            return "red"
        return "amber" if fall >= AMBER else ""

    @property
    def words(self) -> str:
        """Return in a few words what the numbers show."""
        if not self.is_shown:
            return "no difference shown"
        return "better" if self.difference > 0 else "worse"


def score_change(
    before: tuple[float, int], after: tuple[float, int]
) -> ScoreChange | None:
    """Compare two (share, questions); None where one side has no questions.

    Pooled two-proportion z test; the interval is Newcombe's hybrid of two Wilson
    intervals (Newcombe 1998, method 10).
    """
    (old, n), (new, m) = before, after
    if n < 1 or m < 1:
        return None
    low, high = newcombe(old, n, new, m)
    pooled = (old * n + new * m) / (n + m)
    spread = sqrt(pooled * (1 - pooled) * (1 / n + 1 / m))
    z = (new - old) / spread if spread else 0.0
    p = erfc(abs(z) / sqrt(2))
    return ScoreChange(old, new, low, high, z, p, "two proportions")


def newcombe(old: float, n: int, new: float, m: int) -> tuple[float, float]:
    """Return the 95 % interval of ``new - old`` of independent samples."""
    old_low, old_high = wilson(old, n)
    new_low, new_high = wilson(new, m)
    difference = new - old
    below = sqrt((new - new_low) ** 2 + (old_high - old) ** 2)
    above = sqrt((new_high - new) ** 2 + (old - old_low) ** 2)
    return difference - below, difference + above


@dataclass(frozen=True, slots=True)
class Flips:
    """Documents that both runs answered: those that flipped, by which way."""

    shared: int
    lost: tuple[int, ...]
    won: tuple[int, ...]
    before: float
    after: float
    p: float


def flips(
    before: Collection[tuple[int, bool]], after: Collection[tuple[int, bool]]
) -> Flips | None:
    """Compare answers to the same documents, each (document, passed).

    Exact McNemar test: of the documents that flipped, half would be lost by chance.
    None where no document is shared.
    """
    old, new = dict(before), dict(after)
    shared = sorted(old.keys() & new.keys())
    if not shared:
        return None
    lost = tuple(doc for doc in shared if old[doc] and not new[doc])
    won = tuple(doc for doc in shared if new[doc] and not old[doc])
    flipped = len(lost) + len(won)
    p = float(binomtest(len(lost), flipped).pvalue) if flipped else 1.0
    share = [
        sum(answers[doc] for doc in shared) / len(shared) for answers in (old, new)
    ]
    return Flips(len(shared), lost, won, share[0], share[1], p)


def paired_change(found: Flips) -> ScoreChange:
    """Return the change over the shared documents, with McNemar's probability.

    The interval is Wald's for paired shares (Agresti, Categorical Data Analysis,
    10.1.1).
    """
    n = found.shared
    lost, won = len(found.lost) / n, len(found.won) / n
    difference = won - lost
    spread = Z95 * sqrt(max(lost + won - difference**2, 0.0) / n)
    return ScoreChange(
        found.before,
        found.after,
        difference - spread,
        difference + spread,
        None,
        found.p,
        "McNemar",
    )


def spread(scores: Sequence[float]) -> float | None:
    """Return how far repeats of one eval lie apart; None for fewer than two."""
    # 0.97 - 0.95 is two points for people, a hair more in binary.
    return round(max(scores) - min(scores), 6) if len(scores) > 1 else None


def is_unstable(scores: Sequence[float]) -> bool:
    """Tell whether repeats of one eval differ by more than two points."""
    found = spread(scores)
    return found is not None and found > UNSTABLE_SPREAD


def recovery(score: float, reference: float) -> float | None:
    """Return the share of a reference checkpoint's score; None for a reference of 0."""
    return score / reference if reference > 0 else None
