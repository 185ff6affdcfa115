"""Which points an eval belongs to: its deployment, or the only one it can mean."""

from collections.abc import Hashable, Iterable
from typing import NamedTuple


class EvalPlace(NamedTuple):
    """Where a point or an eval was measured.

    ``curve`` is whatever tells runs, config keys and scenarios apart, ``tp`` is None
    where a deployment has no single tensor parallel size.
    """

    curve: Hashable
    deployment: int
    tp: int | None
    concurrency: int | None


def points_of_evals(
    points: Iterable[EvalPlace], evals: Iterable[EvalPlace]
) -> dict[EvalPlace, EvalPlace]:
    """Return the place of the point that each eval belongs to, where there is one.

    An agentic eval may write another expert parallel size than its point has. Then
    the tensor parallel size and the concurrency tell it, if only one deployment has
    both.
    """
    known = set(points)
    alike: dict[EvalPlace, set[EvalPlace]] = {}
    for point in known:
        alike.setdefault(point._replace(deployment=0), set()).add(point)
    found = {}
    for place in evals:
        likely = alike.get(place._replace(deployment=0), set())
        if place in known:
            found[place] = place
        elif place.tp is not None and len(likely) == 1:
            (found[place],) = likely
    return found
