"""What the evals of a sweep say beside those of its baseline, and when they fail it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

from dashboard.analysis.eval_changes import CHANCE, Level, ScoreChange, score_change
from dashboard.analysis.evals import PASSED, Outcome

NOT_COMPARABLE = "not comparable"
NO_BASELINE = "no baseline"
NO_DIFFERENCE = "no difference shown"
LOWER = "lower"

Place = tuple[str, int | None, str]  # deployment, concurrency, task


@dataclass(frozen=True, slots=True)
class Scored:
    """An eval held against its floor. ``shares`` are fractions by score.

    ``filters`` are the scores that the task is judged by, the decisive one among
    them; ``run_id`` is the run that measured it.
    """

    deployment: str
    concurrency: int | None
    task: str
    shares: Mapping[str, float | None]
    n: int | None
    floor: float
    filters: tuple[str, ...]
    decisive: str
    outcome: Outcome
    run_id: int

    @property
    def share(self) -> float | None:
        """Return the decisive score, None where not measured."""
        return self.shares.get(self.decisive)

    @property
    def place(self) -> Place:
        """Return what was evaluated, and by which task."""
        return self.deployment, self.concurrency, self.task

    @property
    def where(self) -> str:
        """Return the deployment and concurrency: "TP2 c64"."""
        at = "" if self.concurrency is None else f" c{self.concurrency}"
        return f"{self.deployment}{at}"

    @property
    def words(self) -> str:
        """Return the eval with its scores: "gsm8k TP2 c64 strict 0.8947"."""
        return f"{self.task} {self.where} {self.told}"

    @property
    def told(self) -> str:
        """Return the scores that it is judged by: "strict 0.8947, flexible 0.8800"."""
        measured = ((name, self.shares.get(name)) for name in self.filters)
        said = [f"{name} {share:.4f}" for name, share in measured if share is not None]
        return ", ".join(said) or "no score"


@dataclass(frozen=True, slots=True)
class EvalVerdict:
    """One eval of a sweep against the same eval of its baseline, None without one.

    ``is_comparable`` is false where the sweeps are of two segments.
    """

    head: Scored
    base: Scored | None
    is_comparable: bool = True

    @property
    def has_failed(self) -> bool:
        """Tell whether the eval fails its floor, beyond its interval."""
        return self.head.outcome == "fail"

    @property
    def change(self) -> ScoreChange | None:
        """Return how the decisive score changed, None where a side has none."""
        return None if self.base is None else change_of(self.base, self.head)

    @property
    def level(self) -> Level:
        """Return how far the score fell; nothing where it may not be compared."""
        change = self.change
        return change.level if change is not None and self.is_comparable else ""

    @property
    def words(self) -> str:
        """Return in a few words what came of the comparison."""
        change = self.change
        if change is None:
            return NO_BASELINE
        return change.words if self.is_comparable else NOT_COMPARABLE

    @property
    def is_regression(self) -> bool:
        """Tell whether it fails where the baseline passed, or fell far and surely."""
        if self.base is None or not self.is_comparable:
            return False
        if self.has_failed and self.base.outcome in PASSED:
            return True
        change = self.change
        return change is not None and change.level == "red" and change.is_shown


def eval_verdicts(
    head: Iterable[Scored], base: Iterable[Scored], *, is_comparable: bool
) -> tuple[EvalVerdict, ...]:
    """Hold each eval of a sweep against that of its baseline at the same place."""
    former = {scored.place: scored for scored in base}
    ordered = sorted(head, key=lambda s: (s.task, s.deployment, s.concurrency or 0))
    return tuple(EvalVerdict(s, former.get(s.place), is_comparable) for s in ordered)


def change_of(before: Scored, after: Scored) -> ScoreChange | None:
    """Return how the decisive score of two evals differs, None where one has none."""
    old, new = before.shares.get(after.decisive), after.share
    if old is None or new is None:
        return None
    return score_change((old, before.n or 0), (new, after.n or 0))


def failed_words(found: Sequence[EvalVerdict]) -> str:
    """Name the evals that fail and their floors, empty where none does."""
    said = [
        f"{one.head.words} below the floor {one.head.floor:g}"
        for one in found
        if one.has_failed
    ]
    more = f" and {len(said) - 1} more" if len(said) > 1 else ""
    return f"{said[0]}{more}" if said else ""


class Apart(NamedTuple):
    """The two evals of a run that lie farthest apart.

    ``p`` is corrected for the number of ``pairs`` of which these were chosen
    (Bonferroni).
    """

    low: Scored
    high: Scored
    change: ScoreChange
    pairs: int

    @property
    def p(self) -> float:
        """Return the probability of such a pair by chance."""
        return min(1.0, self.change.p * self.pairs)

    @property
    def words(self) -> str:
        """Return in a few words what the numbers show."""
        return NO_DIFFERENCE if self.p >= CHANCE else f"{self.low.where} {LOWER}"


def farthest_apart(scored: Sequence[Scored]) -> Apart | None:
    """Return which evals of one task and key differ most; None for fewer than two."""
    measured = [one for one in scored if one.share is not None and one.n]
    pairs = list(combinations(measured, 2))
    if not pairs:
        return None
    low = min(measured, key=_share)
    high = max((one for one in measured if one is not low), key=_share)
    change = change_of(low, high)
    return None if change is None else Apart(low, high, change, len(pairs))


def _share(scored: Scored) -> float:
    return scored.share if scored.share is not None else 0.0
