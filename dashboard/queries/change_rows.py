"""Changes of every kind as rows of one shape, for CSV and the interface."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from datetime import datetime
from functools import singledispatch
from typing import Any

from dashboard.models import ChangelogEntry, ConfigChange, FileDefect, Skip, Sweep
from dashboard.vocabulary.changes import CHANGELOG, DEFECT, SWAP, change_text

GRID = "grid"
CHECKPOINT = "checkpoint"


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeRow:
    """One change. ``at`` is None for entries of a file: it dates none of them.

    ``kinds`` are several where a sweep differs in several ways, and for an entry that
    was taken with a defect. ``before`` and
    ``after`` are of the checkpoint in a swap. ``dropped`` and ``added`` are lists of
    [deployment label, [concurrencies]].
    """

    kinds: list[str]
    at: datetime | None = None
    config_keys: list[str]
    scenario: str = ""
    before: str = ""
    after: str = ""
    text: list[str]
    retired_keys: list[str]
    unknown_keys: list[str]
    pr: int | None = None
    pr_url: str = ""
    pr_link: str = ""
    link_state: str = ""
    defects: list[str]
    run_id: int | None = None
    previous_run_id: int | None = None
    sha: str = ""
    source: str = ""
    dropped: list[Any]
    added: list[Any]


COLUMNS = tuple(field.name for field in fields(ChangeRow))
_NOTHING: Mapping[str, list[Any]] = {
    name: []
    for name in (
        *("config_keys", "text", "retired_keys", "unknown_keys"),
        *("defects", "dropped", "added"),
    )
}


@singledispatch
def change_row(found: object) -> ChangeRow:
    """Return a stored change as a row."""
    raise TypeError(type(found))


def change_rows(found: Iterable[object]) -> Iterator[ChangeRow]:
    """Return stored changes as rows."""
    return (change_row(one) for one in found)


@change_row.register
def _sweep(sweep: Sweep) -> ChangeRow:
    changes = [*sweep.breaks, *sweep.markers]
    swap, grid = _of_kind(changes, CHECKPOINT), _of_kind(changes, GRID)
    return _row(
        kinds=[_kind(change) for change in changes],
        at=sweep.official_at,
        config_keys=[sweep.config_key.key],
        scenario=sweep.scenario,
        before=swap.get("from", ""),
        after=swap.get("to", ""),
        text=[f"{_kind(change)}: {change_text(change)}" for change in changes],
        run_id=sweep.run.github_run_id,
        previous_run_id=sweep.previous.run.github_run_id if sweep.previous else None,
        sha=sweep.run.sha,
        dropped=grid.get("dropped", []),
        added=grid.get("added", []),
    )


def _kind(change: Mapping[str, Any]) -> str:
    kind = str(change.get("kind", ""))
    return SWAP if kind == CHECKPOINT else kind


def _of_kind(changes: Iterable[Any], kind: str) -> Mapping[str, Any]:
    return next((change for change in changes if change.get("kind") == kind), {})


@change_row.register
def _entry(entry: ChangelogEntry) -> ChangeRow:
    number, address = entry.pull_request
    return _row(
        kinds=[CHANGELOG, DEFECT] if entry.defects else [CHANGELOG],
        at=getattr(entry, "at", None),
        config_keys=entry.expanded_keys,
        text=entry.description,
        retired_keys=entry.retired_keys,
        unknown_keys=entry.unknown_keys,
        pr=number,
        pr_url=address,
        pr_link=entry.pr_link,
        link_state=entry.link_state,
        defects=entry.defects,
        run_id=entry.run.github_run_id if entry.run else None,
        sha=entry.run.sha if entry.run else "",
        source="run" if entry.run else "file",
    )


@change_row.register
def _config_change(change: ConfigChange) -> ChangeRow:
    return _row(
        kinds=[change.kind, SWAP] if change.is_swap else [change.kind],
        at=change.at,
        config_keys=[change.config_key],
        before=change.before,
        after=change.after,
        sha=change.sha,
        source=change.repository.full_name,
    )


@change_row.register
def _file_defect(defect: FileDefect) -> ChangeRow:
    return _row(
        kinds=[DEFECT],
        at=defect.seen_at,
        text=[defect.text],
        sha=defect.sha,
        source=f"{defect.repository} {defect.name}",
    )


@change_row.register
def _unread(skip: Skip) -> ChangeRow:
    return _row(
        kinds=[DEFECT],
        at=skip.run.created_at,
        text=[skip.detail],
        run_id=skip.run.github_run_id,
        sha=skip.run.sha,
        source=skip.member,
    )


def _row(**given: Any) -> ChangeRow:
    return ChangeRow(**{**_NOTHING, **given})
