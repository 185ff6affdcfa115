"""What changed with each sweep of a run against the one that was current before it."""

from collections.abc import Iterable
from dataclasses import dataclass

from dashboard.analysis.changes import title
from dashboard.analysis.dropped import Dropped, dropped
from dashboard.analysis.segments import GRID, NOTICE, Change
from dashboard.models import ChangelogEntry, Run, Sweep
from dashboard.vocabulary.changes import places_text


@dataclass(frozen=True, slots=True)
class ChangeLine:
    """One change; a break makes everything before it incomparable."""

    title: str
    before: str
    after: str
    is_break: bool


@dataclass(frozen=True, slots=True)
class GridChange:
    """Places that came and that went, as text; the latter by why."""

    added: str
    on_purpose: str
    lost: str
    untold: str
    quotes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SweepChanges:
    """A sweep's place in its key's history, and what changed with it."""

    sweep: Sweep
    previous: Run | None
    lines: list[ChangeLine]
    grid: GridChange | None

    @property
    def is_nothing(self) -> bool:
        """Tell whether it is like the one before, but for what it measured."""
        return not self.lines and self.grid is None


def sweep_changes(
    sweeps: Iterable[Sweep], changelog: Iterable[ChangelogEntry]
) -> list[SweepChanges]:
    """Return what changed with each sweep that has a place in its key's history."""
    entries = list(changelog)
    return [_changes(s, entries) for s in sweeps if s.segment is not None]


def _changes(sweep: Sweep, changelog: list[ChangelogEntry]) -> SweepChanges:
    lines = [_line(change, is_break=True) for change in sweep.breaks]
    others = [change for change in sweep.markers if change["kind"] != GRID]
    lines += [_line(change, is_break=False) for change in others]
    descriptions = [
        line
        for entry in changelog
        if sweep.config_key.key in entry.expanded_keys
        for line in entry.description
    ]
    found = next((c for c in sweep.markers if c["kind"] == GRID), None)
    return SweepChanges(
        sweep=sweep,
        previous=sweep.previous.run if sweep.previous else None,
        lines=lines,
        grid=_grid(found, sweep, descriptions) if found else None,
    )


def _line(change: Change, *, is_break: bool) -> ChangeLine:
    if change["kind"] == NOTICE:
        return ChangeLine(title(change), "", change["text"], is_break)
    return ChangeLine(title(change), change["from"], change["to"], is_break)


def _grid(change: Change, sweep: Sweep, descriptions: Iterable[str]) -> GridChange:
    planned = None
    if sweep.planned is not None:
        planned = {(label, concurrency) for label, concurrency in sweep.planned}
    went: Dropped = dropped(change["dropped"], planned, descriptions)
    return GridChange(
        added=places_text(change["added"]),
        on_purpose=places_text(went.on_purpose),
        lost=places_text(went.lost),
        untold=places_text(went.untold),
        quotes=went.quotes,
    )
