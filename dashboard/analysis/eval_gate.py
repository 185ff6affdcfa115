"""Which points stand behind an eval that passed: the gate of a frontier."""

from collections.abc import Hashable, Iterable, Mapping, Sequence

from dashboard.analysis.evals import PASSED, Outcome

RULE = (
    "A point stays where every eval of its own deployment passed, for its key and "
    "checkpoint; where that deployment has none, every eval of its key and checkpoint, "
    "of which there is at least one. A point without an eval is not passed."
)

# A key and checkpoint, and a deployment of it.
Line = Hashable
Arm = tuple[Line, Hashable]


def gate(
    arms: Sequence[Arm], judged: Iterable[tuple[Arm, Iterable[Outcome]]]
) -> list[bool]:
    """Tell of each point's arm whether it stays; ``judged`` are the evals by arm."""
    by_arm: dict[Arm, list[Outcome]] = {}
    by_line: dict[Line, list[Outcome]] = {}
    for arm, outcomes in judged:
        found = list(outcomes)
        by_arm.setdefault(arm, []).extend(found)
        by_line.setdefault(arm[0], []).extend(found)
    return [_passes(arm, by_arm, by_line) for arm in arms]


def _passes(
    arm: Arm,
    by_arm: Mapping[Arm, Sequence[Outcome]],
    by_line: Mapping[Line, Sequence[Outcome]],
) -> bool:
    told = by_arm.get(arm) or by_line.get(arm[0]) or ()
    return bool(told) and PASSED.issuperset(told)
