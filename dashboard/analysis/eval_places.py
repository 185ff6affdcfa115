"""Which points an eval belongs to: its deployment, or the only one it can mean."""

import re
from collections.abc import Hashable, Iterable
from collections.abc import Set as AbstractSet
from typing import NamedTuple

_EXPERTS = re.compile(r"/EP\d+")


class EvalPlace(NamedTuple):
    """Where a point or an eval was measured.

    ``curve`` is whatever tells runs, config keys and scenarios apart, ``deployment``
    what tells deployments apart and ``label`` how it is written; ``tp`` is None where
    it has no single tensor parallel size.
    """

    curve: Hashable
    deployment: Hashable
    label: str
    tp: int | None
    concurrency: int | None

    @property
    def size(self) -> tuple[Hashable, ...]:
        """Return what the place says but for its deployment's details."""
        return (self.curve, self.tp, self.concurrency)

    @property
    def size_and_kind(self) -> tuple[Hashable, ...]:
        """Return what the place says but for its expert parallel size."""
        return (*self.size, _EXPERTS.sub("", self.label))


def points_of_evals(
    points: Iterable[EvalPlace], evals: Iterable[EvalPlace]
) -> dict[EvalPlace, EvalPlace]:
    """Return the place of the point that each eval belongs to, where there is one.

    An agentic eval may write another expert parallel size than its point has. Then
    the only point that differs in nothing else is meant; else the tensor parallel
    size and the concurrency tell it, if only one deployment has both.
    """
    known = set(points)
    asked = list(evals)
    others = [place for place in asked if place not in known and place.tp is not None]
    alike = _alike(known, {place.curve for place in others})
    likely = {
        place: alike.get(place.size_and_kind) or alike.get(place.size, set())
        for place in others
    }
    meant = {
        place: next(iter(found)) for place, found in likely.items() if len(found) == 1
    }
    return {
        place: meant.get(place, place)
        for place in asked
        if place in known or place in meant
    }


def _alike(
    points: Iterable[EvalPlace], curves: AbstractSet[Hashable]
) -> dict[tuple[Hashable, ...], set[EvalPlace]]:
    """Return the points of these curves by each of the two things that may tell one."""
    alike: dict[tuple[Hashable, ...], set[EvalPlace]] = {}
    for point in points:
        if point.curve in curves:
            alike.setdefault(point.size, set()).add(point)
            alike.setdefault(point.size_and_kind, set()).add(point)
    return alike


def join_text(own: EvalPlace, point: EvalPlace) -> str:
    """Return what an eval calls the deployment of its point, "" where the same."""
    if own.deployment == point.deployment:
        return ""
    return f"scored as {own.label}, joined by TP and concurrency"
