"""What came between a regression and its baseline: listed for people, never guessed."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Q
from django.db.models.functions import Coalesce

from dashboard.analysis.definition_diff import field_changes
from dashboard.analysis.sides import Side
from dashboard.models import ChangelogEntry, Regression, Run
from dashboard.queries.comparisons import DefinitionDiff, definition_at
from dashboard.vocabulary.links import pull_link

# What tells the pull request of an entry and its run; a list has hundreds of them.
_READ = (
    *("raw_keys", "expanded_keys", "index"),
    *("pr_link", "pr_number", "link_state"),
    *("run__github_run_id", "run__url", "run__pr_number"),
)


@dataclass(frozen=True, slots=True)
class Suspect:
    """A pull request that changed a key after the baseline; ``entry`` says how.

    ``number`` is None where neither a good link nor the run tells it. ``entry`` is
    None where only the run itself names its pull request.
    """

    number: int | None
    address: str
    run: Run
    at: datetime
    entry: ChangelogEntry | None = None


def suspects(
    regressions: Iterable[Regression], *, also: Sequence[str] = ()
) -> dict[int, list[Suspect]]:
    """Return the suspects of each regression by its id, newest first, in one query.

    Changelog entries of official runs after the baseline's date up to the candidate's
    that name the key; where none does, the candidate's own pull request. Needs run,
    key, sweep and baseline joined. ``also`` names fields of entries beside those that
    tell the pull request.
    """
    asked = list(regressions)
    windows = {row.pk: window for row in asked if (window := _window(row)) is not None}
    named = [row for row in asked if row.pk in windows]
    entries = _by_key(_entries(named, windows, also))
    return {
        row.pk: _of(row, entries.get(row.config_key.key, ()), windows[row.pk])
        if row.pk in windows
        else _own(row)
        for row in asked
    }


def _by_key(entries: Iterable[ChangelogEntry]) -> dict[str, list[ChangelogEntry]]:
    """Return the entries that name each key, in their order."""
    found: dict[str, list[ChangelogEntry]] = {}
    for entry in entries:
        for key in {*entry.expanded_keys, *entry.raw_keys}:
            found.setdefault(key, []).append(entry)
    return found


def _window(row: Regression) -> tuple[datetime, datetime] | None:
    """Return between which official dates a change may be the cause."""
    if row.sweep is None or row.baseline is None:
        return None
    since, until = row.baseline.official_at, row.sweep.official_at
    return None if since is None or until is None else (since, until)


def _entries(
    rows: Iterable[Regression],
    windows: Mapping[int, tuple[datetime, datetime]],
    also: Sequence[str],
) -> list[ChangelogEntry]:
    keys = sorted({row.config_key.key for row in rows})
    if not keys:
        return []
    since = min(first for first, _ in windows.values())
    until = max(last for _, last in windows.values())
    dated = ChangelogEntry.objects.annotate(
        at=Coalesce("run__published_at", "run__created_at")
    ).filter(
        Q(expanded_keys__has_any_keys=keys) | Q(raw_keys__has_any_keys=keys),
        at__gt=since,
        at__lte=until,
        run__publication=Run.Publication.OFFICIAL,
    )
    lean = dated.select_related("run").only(*_READ, *also)
    return list(lean.order_by("-at", "-run_id", "index"))


def _of(
    row: Regression,
    entries: Iterable[ChangelogEntry],
    window: tuple[datetime, datetime],
) -> list[Suspect]:
    since, until = window
    found: dict[tuple[int | None, int], Suspect] = {}
    for entry in entries:
        at: datetime = entry.at  # type: ignore[attr-defined]  # annotated
        if entry.run is None or not since < at <= until:
            continue
        number, address = entry.pull_request
        suspect = Suspect(number, address, entry.run, at, entry)
        found.setdefault((number, entry.pk if number is None else 0), suspect)
    # What can be opened comes first.
    return sorted(found.values(), key=lambda one: not one.address) or _own(row)


def _own(row: Regression) -> list[Suspect]:
    """Return the candidate's own pull request, where GitHub told one."""
    run = row.run
    number, address = run.pr_number, pull_link(run.url, run.pr_number)
    if number is None or not address:
        return []
    return [Suspect(number, address, run, run.published_at or run.created_at)]


def definition_diff(row: Regression, base: Side, head: Side) -> DefinitionDiff | None:
    """Return what the key's config says otherwise; None where that is not known."""
    if row.baseline is None:
        return None
    found = list(
        row.config_key.definitions.select_related("checkpoint").order_by(
            "-first_seen_at", "-pk"
        )
    )
    before = definition_at(found, base, row.baseline.run)
    after = definition_at(found, head, row.run)
    if before is None or after is None:
        return None
    return DefinitionDiff(before, after, field_changes(before.entry, after.entry))
