"""Which keys of one run moved alike: what they share is then likelier than each key."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import log1p
from statistics import median
from typing import NamedTuple

from dashboard.analysis.verdicts import Verdict

# Two moves are alike where their factors differ by no more than this, or by a quarter
# of the larger move: like-for-like changes are uncertain by about a percent each.
ALIKE = 0.01
ALIKE_SHARE = 0.25

# A smaller move is no movement, whoever shares it.
LEAST_MOVE = 0.02

KEYS_NEEDED = 2

FRAMEWORK = "framework"
HARDWARE = "hardware"
RUN = "run"


class Movement(NamedTuple):
    """How one key and scenario of a run moved; ``change`` is like for like, a fraction.

    ``change`` is None where nothing could be compared.
    """

    config_key: str
    scenario: str
    framework: str
    hardware: str
    verdict: str
    change: float | None

    @property
    def place(self) -> tuple[str, str]:
        """Return the config key and the scenario."""
        return self.config_key, self.scenario

    @property
    def size(self) -> float | None:
        """Return the log of the factor, None where the move cannot be told."""
        if self.verdict not in _COMPARED or self.change is None or self.change <= -1:
            return None
        return log1p(self.change)


_COMPARED = frozenset(
    (Verdict.REGRESSION, Verdict.MIXED, Verdict.IMPROVEMENT, Verdict.WITHIN_NOISE)
)


@dataclass(frozen=True, slots=True)
class Siblings:
    """The other keys of a run: moved by the same factor, not, and not to be told."""

    alike: tuple[Movement, ...]
    others: tuple[Movement, ...]
    untold: tuple[Movement, ...]


def siblings(of: Movement, run: Iterable[Movement]) -> Siblings:
    """Part the other sweeps of a run by whether they moved as ``of`` did.

    Where the move of ``of`` itself cannot be told, or is no movement, none is alike.
    """
    rest = [one for one in run if one.place != of.place]
    alike = [one for one in rest if is_alike(of, one)]
    told = [one for one in rest if one.size is not None]
    return Siblings(
        alike=tuple(alike),
        others=tuple(one for one in told if one not in alike),
        untold=tuple(one for one in rest if one.size is None),
    )


def is_alike(one: Movement, other: Movement) -> bool:
    """Tell whether two sweeps moved by the same factor, in the same direction."""
    if one.size is None or other.size is None or not (_moved(one) and _moved(other)):
        return False
    if (one.size > 0) != (other.size > 0):
        return False
    larger = max(abs(one.size), abs(other.size))
    return abs(one.size - other.size) <= max(ALIKE, ALIKE_SHARE * larger)


def _moved(one: Movement) -> bool:
    return one.size is not None and abs(one.size) >= LEAST_MOVE


@dataclass(frozen=True, slots=True)
class CommonMovement:
    """All keys of a run, or all of one framework or hardware in it, moved alike.

    ``change`` is their median, a fraction.
    """

    shared: str
    name: str
    movements: tuple[Movement, ...]

    @property
    def keys(self) -> tuple[str, ...]:
        """Return the config keys, each once."""
        return tuple(dict.fromkeys(one.config_key for one in self.movements))

    @property
    def change(self) -> float:
        """Return the median change, a fraction."""
        return median(one.change for one in self.movements if one.change is not None)

    @property
    def sentence(self) -> str:
        """Say who moved alike, and where to look first."""
        of = "the run" if self.shared == RUN else self.name
        moved = f"moved alike ({self.change * 100:+.1f} %)"
        return f"All {len(self.keys)} keys of {of} {moved}: check harness or image."


def common_movements(run: Iterable[Movement]) -> list[CommonMovement]:
    """Return what moved together in a run, the widest group first and alone.

    A group is at least two keys, all of whose comparable sweeps moved alike. Where the
    whole run did, nothing narrower is said; a framework whose keys moved is said
    before hardware, and each sweep belongs to one group.
    """
    told = [one for one in run if one.size is not None]
    whole = _common(RUN, "", told)
    if whole is not None:
        return [whole]
    found: list[CommonMovement] = []
    for shared in (FRAMEWORK, HARDWARE):
        names = sorted({str(getattr(one, shared)) for one in told} - {""})
        for name in names:
            group = [one for one in told if getattr(one, shared) == name]
            is_new = not any(one in said.movements for said in found for one in group)
            common = _common(shared, name, group) if is_new else None
            found += [common] if common else []
    return found


def _common(shared: str, name: str, group: Sequence[Movement]) -> CommonMovement | None:
    if len({one.config_key for one in group}) < KEYS_NEEDED:
        return None
    # By the extremes: what lies between them is alike as well.
    ordered = sorted(group, key=lambda one: (one.size or 0.0, one.place))
    if not is_alike(ordered[0], ordered[-1]):
        return None
    return CommonMovement(shared, name, tuple(group))
