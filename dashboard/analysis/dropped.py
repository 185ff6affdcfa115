"""Places of a grid that went: on purpose, or lost although they were planned."""

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from dashboard.analysis.segments import GRID, Change

Places = list[tuple[str, list[int]]]
Plan = Collection[tuple[str, int]]

_DROPPING = re.compile(r"\b(drop|remov|prun|retir|delete|deleting)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Dropped:
    """What a sweep measures no more, as (deployment, concurrencies).

    ``on_purpose`` is not planned any more, or the changelog says so where no plan is
    known; ``lost`` was planned and did not come; ``untold`` is neither known.
    ``quotes`` are the lines of the changelog that speak of these deployments.
    """

    on_purpose: Places
    lost: Places
    untold: Places
    quotes: tuple[str, ...] = ()


def dropped(
    places: Iterable[tuple[str, Iterable[int]]],
    planned: Plan | None,
    descriptions: Iterable[str] = (),
) -> Dropped:
    """Sort dropped places by whether the plan still names them; None is no plan.

    Intent is read from the planned grid; what a changelog says is evidence beside it.
    """
    lines = [line for line in descriptions if _DROPPING.search(line)]
    on_purpose: Places = []
    lost: Places = []
    untold: Places = []
    quotes: dict[str, None] = {}
    for label, concurrencies in places:
        spoken = [line for line in lines if _names(line, label)]
        quotes.update(dict.fromkeys(spoken))
        if planned is None:
            (on_purpose if spoken else untold).append((label, list(concurrencies)))
            continue
        asked = {concurrency for name, concurrency in planned if name == label}
        gone, missing = _parted(concurrencies, asked)
        on_purpose += [(label, gone)] if gone else []
        lost += [(label, missing)] if missing else []
    return Dropped(on_purpose, lost, untold, tuple(quotes))


def intended(
    changes: Iterable[Change], before: Plan | None, after: Plan | None
) -> list[Change]:
    """Return the changes, those of a grid without what only did not come.

    ``before`` and ``after`` are the plans of the sweeps, None where unknown: what the
    later one still asks for was not dropped, what the earlier one asked for already
    was not added.
    """
    found = []
    for change in changes:
        if change["kind"] != GRID:
            found.append(change)
            continue
        went = _unplanned(change["dropped"], after)
        came = _unplanned(change["added"], before)
        if went or came:
            found.append({**change, "dropped": went, "added": came})
    return found


def _unplanned(
    places: Iterable[tuple[str, Iterable[int]]], planned: Plan | None
) -> list[list[object]]:
    found = dropped(places, planned)
    kept = found.untold if planned is None else found.on_purpose
    return [[label, concurrencies] for label, concurrencies in kept]


def _parted(
    concurrencies: Iterable[int], asked: Collection[int]
) -> tuple[list[int], list[int]]:
    found = list(concurrencies)
    return [c for c in found if c not in asked], [c for c in found if c in asked]


def _names(line: str, label: str) -> bool:
    """Tell whether a line names a deployment, by its label or the size in front."""
    word = label.split(" ", 1)[0]
    names = "|".join(map(re.escape, dict.fromkeys((word, word.partition("/")[0]))))
    return bool(re.search(rf"(?<!\w)({names})(?!\w)", line, re.IGNORECASE))
