"""Where the history of a key breaks, and what changed inside a stretch of it.

A segment is the stretch of official sweeps between two breaks: nothing is compared
across one. A marker is a change that is shown and breaks nothing.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from dashboard.vocabulary.checkpoints import is_published, same_weights

# The kinds of a break: other weights, number format, speculative method, source of
# its acceptance length, measuring harness; or staff said so.
CHECKPOINT = "checkpoint"
PRECISION = "precision"
SPEC_METHOD = "spec_method"
ACCEPTANCE = "acceptance"
HARNESS = "harness"
NOTICE = "notice"

# The kinds of a marker, with notices too.
IMAGE = "image"
RECIPE = "recipe"
GRID = "grid"
RUNNER = "runner"

# Sources of an acceptance length that say nothing to compare.
UNTOLD_ACCEPTANCE = frozenset({"", "unknown"})

# A break or marker as it is stored: ``kind``, ``from``, ``to``; a notice has ``text``
# and ``at``, a grid ``dropped`` and ``added``.
Change = dict[str, Any]
Grid = Mapping[str, frozenset[int]]


@dataclass(frozen=True, slots=True)
class SweepIdentity:
    """What a sweep served and measured. Empty texts and sets are not known.

    ``grid`` holds the concurrencies by deployment label. ``extends`` names the sweep
    that it only adds points to.
    """

    sweep_id: int
    at: datetime
    checkpoint: str = ""
    precision: str = ""
    spec_methods: frozenset[str] = frozenset()
    acceptance_source: str = ""
    acceptance_length: float | None = None
    harness: str = ""
    images: tuple[str, ...] = ()
    recipes: frozenset[str] = frozenset()
    pools: frozenset[str] = frozenset()
    grid: Grid = field(default_factory=dict)
    extends: int | None = None


@dataclass(frozen=True, slots=True)
class StaffMark:
    """A marker, or a break, that staff put into a key's history."""

    text: str
    at: datetime
    is_break: bool


@dataclass(frozen=True, slots=True)
class Placed:
    """A sweep's place in its key's history, against the one before it."""

    sweep_id: int
    previous: int | None
    segment: int
    breaks: tuple[Change, ...] = ()
    markers: tuple[Change, ...] = ()

    @property
    def is_swap(self) -> bool:
        """Tell whether the checkpoint was swapped."""
        return any(change["kind"] == CHECKPOINT for change in self.breaks)


def segments(
    sweeps: Iterable[SweepIdentity], marks: Sequence[StaffMark] = ()
) -> list[Placed]:
    """Place the official sweeps of one key and scenario, given oldest first.

    A sweep that extends another one belongs to its segment. What is not known of a
    sweep is taken over from the one before, so that two sweeps that tell differ even
    with one between them that does not.
    """
    placed: list[Placed] = []
    before: SweepIdentity | None = None
    segment = 1
    for sweep in sweeps:
        if before is None:
            placed.append(Placed(sweep.sweep_id, None, segment))
            before = sweep
            continue
        staff = [m for m in marks if before.at < m.at <= sweep.at]
        noted = tuple(_noted(m) for m in staff if not m.is_break)
        if sweep.extends is not None:
            markers = (*_grid_changes({}, sweep.grid), *noted)
            placed.append(Placed(sweep.sweep_id, sweep.extends, segment, (), markers))
            before = _joined(before, sweep)
            continue
        found = breaks(before, sweep)
        found += [_noted(m) for m in staff if m.is_break]
        segment += bool(found)
        markers = (*markers_between(before, sweep), *noted)
        placed.append(
            Placed(sweep.sweep_id, before.sweep_id, segment, tuple(found), markers)
        )
        before = told(before, sweep)
    return placed


def breaks(before: SweepIdentity, after: SweepIdentity) -> list[Change]:
    """Return why two sweeps of a key are not comparable; empty where they are.

    Spec methods break where none is common: a key may measure several, and one that
    is dropped is a matter of the grid.
    """
    found = []
    names = (before.checkpoint, after.checkpoint)
    if all(names) and not same_weights(*names):
        found.append(_change(CHECKPOINT, *names))
    for kind, old, new in (
        (PRECISION, before.precision, after.precision),
        (HARNESS, before.harness, after.harness),
    ):
        if old and new and old.casefold() != new.casefold():
            found.append(_change(kind, old, new))
    methods = (before.spec_methods, after.spec_methods)
    if all(methods) and methods[0].isdisjoint(methods[1]):
        found.append(_change(SPEC_METHOD, *(", ".join(sorted(m)) for m in methods)))
    if _acceptance_differs(before, after):
        found.append(_change(ACCEPTANCE, _acceptance(before), _acceptance(after)))
    return found


def markers_between(before: SweepIdentity, after: SweepIdentity) -> list[Change]:
    """Return what changed between two sweeps without making them incomparable.

    A recipe's fingerprint covers image and checkpoint: it is a change of its own only
    where these stayed.
    """
    found = []
    is_other_image = bool(
        before.images and after.images and set(before.images) != set(after.images)
    )
    if is_other_image:
        found.append(_change(IMAGE, ", ".join(before.images), ", ".join(after.images)))
    is_covered = is_other_image or bool(breaks(before, after))
    gone, new = before.recipes - after.recipes, after.recipes - before.recipes
    if gone and new and not is_covered:
        found.append(_change(RECIPE, _short(gone), _short(new)))
    # An empty grid is not known: a sweep with a place in history has points.
    if before.grid and after.grid:
        found += _grid_changes(before.grid, after.grid)
    if before.pools and after.pools and before.pools != after.pools:
        pools = (", ".join(sorted(p)) for p in (before.pools, after.pools))
        found.append(_change(RUNNER, *pools))
    return found


def grid_difference(
    before: Grid, after: Grid
) -> tuple[list[list[object]], list[list[object]]]:
    """Return the places that went and that came, as [deployment, [concurrencies]]."""
    return _only_in(before, after), _only_in(after, before)


def _grid_changes(before: Grid, after: Grid) -> list[Change]:
    dropped, added = grid_difference(before, after)
    if not dropped and not added:
        return []
    return [{"kind": GRID, "dropped": dropped, "added": added}]


def _only_in(one: Grid, other: Grid) -> list[list[object]]:
    found: list[list[object]] = []
    for label in sorted(one):
        alone = one[label] - other.get(label, frozenset())
        if alone:
            found.append([label, sorted(alone)])
    return found


def _acceptance_differs(before: SweepIdentity, after: SweepIdentity) -> bool:
    sources = (before.acceptance_source, after.acceptance_source)
    if not UNTOLD_ACCEPTANCE.isdisjoint(sources):
        return False
    lengths = (before.acceptance_length, after.acceptance_length)
    return sources[0] != sources[1] or (
        None not in lengths and lengths[0] != lengths[1]
    )


def _acceptance(sweep: SweepIdentity) -> str:
    length = sweep.acceptance_length
    source = sweep.acceptance_source.replace("_", " ")
    return source if length is None else f"{source} {length:g}"


def told(before: SweepIdentity, after: SweepIdentity) -> SweepIdentity:
    """Return ``after`` with what only the sweep before it told."""
    is_told = after.acceptance_source not in UNTOLD_ACCEPTANCE
    teller = after if is_told else before
    return replace(
        after,
        checkpoint=_better_name(before.checkpoint, after.checkpoint),
        precision=after.precision or before.precision,
        harness=after.harness or before.harness,
        spec_methods=after.spec_methods or before.spec_methods,
        acceptance_source=teller.acceptance_source,
        acceptance_length=teller.acceptance_length,
        images=after.images or before.images,
        recipes=after.recipes or before.recipes,
        pools=after.pools or before.pools,
    )


def _better_name(before: str, after: str) -> str:
    """Return the newer name; the older where only that one names the weights for sure.

    A local path is compared by its last part: it must not hide another publisher.
    """
    if not after:
        return before
    is_sure = is_published(after) or not is_published(before)
    return after if is_sure or not same_weights(before, after) else before


def _joined(base: SweepIdentity, extension: SweepIdentity) -> SweepIdentity:
    """Return the extended sweep with the places that were added to it."""
    labels = base.grid.keys() | extension.grid.keys()
    nothing: frozenset[int] = frozenset()
    return replace(
        base,
        at=extension.at,
        grid={
            label: base.grid.get(label, nothing) | extension.grid.get(label, nothing)
            for label in labels
        },
        recipes=base.recipes | extension.recipes,
        pools=base.pools | extension.pools,
        spec_methods=base.spec_methods | extension.spec_methods,
    )


def _change(kind: str, before: str, after: str) -> Change:
    return {"kind": kind, "from": before, "to": after}


def _noted(mark: StaffMark) -> Change:
    return {"kind": NOTICE, "text": mark.text, "at": mark.at.isoformat()}


def _short(recipes: Iterable[str]) -> str:
    return ", ".join(sorted(recipe[:8] for recipe in recipes))
