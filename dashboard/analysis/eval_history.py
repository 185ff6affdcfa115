"""Which former eval one may be held against: the same place, weights and segment."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from dashboard.analysis.eval_changes import recovery
from dashboard.analysis.eval_verdicts import Scored
from dashboard.analysis.segments import SweepIdentity, breaks
from dashboard.analysis.sides import break_words


@dataclass(frozen=True, slots=True)
class EvalMoment:
    """An eval and the sweep that it belongs to; ``segment`` is None out of history.

    ``eval_id`` names its row; ``identity`` is None where the run has no sweep of the
    key: what was served is then not known.
    """

    scored: Scored
    at: datetime
    run: int
    sha: str
    segment: int | None
    identity: SweepIdentity | None
    eval_id: int = 0


@dataclass(frozen=True, slots=True)
class Former:
    """The eval to be held against; None with the reason why there is none."""

    moment: EvalMoment | None
    reason: str = ""


def former(of: EvalMoment, official: Iterable[EvalMoment]) -> Former:
    """Return the newest earlier official eval that may be compared.

    ``official`` are the evals of the same place and task. Repeats on one commit are no
    history. Within the history of a key the segment decides; an eval outside of it is
    held against what served the same.
    """
    earlier = sorted(
        (one for one in official if _precedes(one, of)),
        key=lambda one: (one.at, one.run),
        reverse=True,
    )
    if not earlier:
        return Former(None, "no earlier official eval")
    obstacles = [_obstacle(of, one) for one in earlier]
    if "" in obstacles:
        return Former(earlier[obstacles.index("")])
    return Former(None, obstacles[0])


def _precedes(one: EvalMoment, of: EvalMoment) -> bool:
    is_repeat = bool(of.sha) and one.sha == of.sha
    return one.at < of.at and one.run != of.run and not is_repeat


def _obstacle(of: EvalMoment, one: EvalMoment) -> str:
    """Return why two evals may not be compared, empty where they may."""
    if of.identity is None or one.identity is None:
        return "what was served is not known"
    if one.segment is None:
        return "the earlier one is held"
    if of.segment is not None and of.segment == one.segment:
        return ""
    differing = break_words(breaks(one.identity, of.identity))
    if differing:
        verb = "differs" if len(differing) == 1 else "differ"
        return f"{' and '.join(differing)} {verb}"
    return "" if of.segment is None else "another segment"


@dataclass(frozen=True, slots=True)
class Recovery:
    """A score as a share of the reference checkpoint's.

    ``is_elsewhere`` where that one was measured at another place.
    """

    share: float
    reference: EvalMoment
    is_elsewhere: bool


def recovered(
    of: Scored, key: str, references: Sequence[tuple[str, EvalMoment]]
) -> Recovery | None:
    """Return how much of the reference's score is kept, None where that is unknown.

    ``references`` are (config key, official eval) of the reference checkpoint and of
    the same task. The same place goes first, then the same key, then the newest.
    """
    usable = [(name, one) for name, one in references if _ratio(of, one) is not None]
    if not usable:
        return None
    name, best = max(
        usable,
        key=lambda found: (
            found[0] == key and found[1].scored.place == of.place,
            found[0] == key,
            found[1].at,
            found[1].run,
        ),
    )
    is_here = name == key and best.scored.place == of.place
    return Recovery(_ratio(of, best) or 0.0, best, not is_here)


def _ratio(of: Scored, reference: EvalMoment) -> float | None:
    before = reference.scored.shares.get(of.decisive)
    if before is None or of.share is None:
        return None
    return recovery(of.share, before)
