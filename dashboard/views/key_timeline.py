"""Everything that changed around a key, newest first, as one list."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from statistics import median

import pandas as pd

from dashboard.analysis.changes import title
from dashboard.analysis.history import (
    History,
    HistorySweep,
    MatchedChange,
    matched_changes,
)
from dashboard.analysis.segments import GRID, NOTICE, Change
from dashboard.models import ChangelogEntry, ConfigChange, Notice
from dashboard.queries.key_changes import DefinitionChange
from dashboard.vocabulary.changes import places_text
from dashboard.vocabulary.metrics import Metric

SWEEP, CHANGELOG = "sweep", "changelog"
CONFIG, IMPORTED, NOTE = "config", "imported", "notice"


@dataclass(frozen=True, slots=True)
class Matched:
    """A metric at the places that both sides of a break measured; raw."""

    metric: Metric
    changes: list[MatchedChange]

    @property
    def middle(self) -> float | None:
        """Return the median change."""
        return median(self._known) if self._known else None

    @property
    def low(self) -> float | None:
        """Return the smallest change."""
        return min(self._known, default=None)

    @property
    def high(self) -> float | None:
        """Return the largest change."""
        return max(self._known, default=None)

    @property
    def _known(self) -> list[float]:
        return [c.change for c in self.changes if c.change is not None]


@dataclass(frozen=True, slots=True)
class ShownChange:
    """A break or marker of a sweep as the list writes it."""

    title: str
    before: str = ""
    after: str = ""
    text: str = ""
    dropped: str = ""
    added: str = ""


@dataclass(frozen=True, slots=True)
class TimelineItem:
    """One thing that changed. ``at`` is None for an entry of a file, which is undated.

    Exactly one of the fields after ``kind`` is given, by the kind.
    """

    at: datetime | None
    kind: str
    sweep: HistorySweep | None = None
    changes: list[ShownChange] = field(default_factory=list)
    matched: list[Matched] = field(default_factory=list)
    entry: ChangelogEntry | None = None
    definition: DefinitionChange | None = None
    imported: ConfigChange | None = None
    notice: Notice | None = None


def timeline(
    sweeps: Iterable[TimelineItem],
    *,
    entries: Iterable[ChangelogEntry],
    definitions: Iterable[DefinitionChange] = (),
    imported: Iterable[ConfigChange] = (),
    notices: Iterable[Notice] = (),
) -> list[TimelineItem]:
    """Return everything that changed, newest first, what has no date at the end."""
    items = [
        *sweeps,
        *(TimelineItem(_entry_date(e), CHANGELOG, entry=e) for e in entries),
        *(TimelineItem(d.at, CONFIG, definition=d) for d in definitions),
        *(TimelineItem(c.at, IMPORTED, imported=c) for c in imported),
        # Markers and breaks stand at the sweep that they are about.
        *(TimelineItem(n.at, NOTE, notice=n) for n in notices if n.kind == "note"),
    ]
    dated = [item for item in items if item.at is not None]
    undated = [item for item in items if item.at is None]
    return sorted(dated, key=_moment, reverse=True) + undated


def _moment(item: TimelineItem) -> float:
    return item.at.timestamp() if item.at else 0.0


def _entry_date(entry: ChangelogEntry) -> datetime | None:
    if entry.run is None:
        return None
    return entry.run.published_at or entry.run.created_at


def sweep_items(
    history: History, points: pd.DataFrame, metrics: Sequence[Metric]
) -> Iterator[TimelineItem]:
    """Yield the sweeps with which something changed, oldest first.

    One at which the history broke, with the raw change of each metric wherever both
    sides measured: nothing there is like for like.
    """
    former: HistorySweep | None = None
    for sweep in history.counted:
        if sweep.changes:
            shown = [_shown(change) for change in sweep.changes]
            before = former if sweep.breaks else None
            matched = _matched(points, before, sweep, metrics)
            yield TimelineItem(
                sweep.at, SWEEP, sweep=sweep, changes=shown, matched=matched
            )
        former = sweep


def _matched(
    points: pd.DataFrame,
    before: HistorySweep | None,
    after: HistorySweep,
    metrics: Sequence[Metric],
) -> list[Matched]:
    if before is None:
        return []
    found = (
        Matched(m, matched_changes(points, before, after, m.name)) for m in metrics
    )
    return [one for one in found if one.changes]


def _shown(change: Change) -> ShownChange:
    kind = change["kind"]
    if kind == NOTICE:
        return ShownChange(title(change), text=str(change["text"]))
    if kind == GRID:
        dropped, added = change["dropped"], change["added"]
        return ShownChange(
            title(change), dropped=places_text(dropped), added=places_text(added)
        )
    return ShownChange(title(change), str(change["from"]), str(change["to"]))


def pulls_of(entries: Iterable[ChangelogEntry]) -> Mapping[int, int]:
    """Return the pull request that the changelog of a run names, by the run's id."""
    return {
        entry.run.github_run_id: entry.pr_number
        for entry in entries
        if entry.run is not None and entry.pr_number is not None
    }
