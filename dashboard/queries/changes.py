"""What changed: changelog entries, sweeps that differ, configs of the past, defects."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from typing import Any

from django.db.models import Count, Exists, F, OuterRef, Q, Subquery, Value
from django.db.models.functions import Coalesce
from django.db.models.query import QuerySet

from dashboard.models import (
    ChangelogEntry,
    ConfigChange,
    FileDefect,
    Run,
    Skip,
    Sweep,
)
from dashboard.queries.change_keys import ChangeFilters
from dashboard.vocabulary.changes import CHANGELOG, CONFIGURED, DEFECT, MEASURED, SWAP

Keys = Sequence[str] | None
IN_HISTORY = (Sweep.State.CURRENT, Sweep.State.FORMER)
BAD_CHANGELOG = "bad_changelog"

_SHOWN = ~Q(run__publication=Run.Publication.HIDDEN)


def swaps(filters: ChangeFilters, keys: Keys) -> QuerySet[Sweep]:
    """Return the official sweeps that began with another checkpoint, newest first."""
    return _sweeps(filters, keys).filter(is_swap=True)


def measured_changes(filters: ChangeFilters, keys: Keys) -> QuerySet[Sweep]:
    """Return official sweeps that differ from those before them otherwise.

    Swaps are among them only where they are not listed already.
    """
    found = _sweeps(filters, keys).exclude(breaks=[], markers=[])
    kinds = [kind for kind in filters.kinds if kind in MEASURED]
    if kinds:
        about = Q()
        for kind in kinds:
            this = [{"kind": kind}]
            about |= Q(breaks__contains=this) | Q(markers__contains=this)
        found = found.filter(about)
    return found.filter(is_swap=False) if filters.asks_for(SWAP) else found


def _sweeps(filters: ChangeFilters, keys: Keys) -> QuerySet[Sweep]:
    found = Sweep.objects.filter(
        _SHOWN,
        _days(filters, "official_at"),
        state__in=IN_HISTORY,
        previous__isnull=False,
    ).select_related(
        *("config_key", "checkpoint", "run"),
        *("previous__run", "previous__checkpoint"),
    )
    if keys is not None:
        found = found.filter(config_key__key__in=keys)
    return found.order_by("-official_at", "-pk")


def changelog(filters: ChangeFilters, keys: Keys) -> QuerySet[ChangelogEntry]:
    """Return changelog entries, newest first, those of whole files and no date last.

    Each has ``at``, the official date of its run. The very same entry of several runs
    of one pull request is listed once, with the newest and how many ``runs`` there
    are; what the file and a run both carry is listed with the run. Who asks for
    defects alone gets the entries that have one.
    """
    of_pull = _same_entry(filters, "run__repository").filter(
        Q(("pull", OuterRef("pull")))
    )
    newer = Q(at__gt=OuterRef("at")) | Q(at=OuterRef("at"), pk__gt=OuterRef("pk"))
    found = _entries(filters).filter(
        Q(run__isnull=True) | _SHOWN,
        ~Exists(_same_entry(filters, "repository")),
        ~Exists(of_pull.filter(newer)),
    )
    if not filters.asks_for(CHANGELOG):
        found = found.exclude(defects=[])
    if keys is not None:
        named = Q()
        for column in ("raw_keys", "expanded_keys", "retired_keys", "unknown_keys"):
            named |= Q(**{f"{column}__has_any_keys": list(keys)})
        found = found.filter(named)
    newest = F("at").desc(nulls_last=True)
    return (
        found.annotate(runs=_count(of_pull))
        .select_related("run__repository", "repository")
        .order_by(newest, "-run_id", "-index", "-pk")
    )


def _entries(filters: ChangeFilters) -> QuerySet[ChangelogEntry]:
    dated = ChangelogEntry.objects.annotate(
        at=Coalesce("run__published_at", "run__created_at"),
        # Two pull requests may both write nothing but a placeholder.
        pull=Coalesce("run__pr_number", 0),
    )
    return dated.filter(_days(filters, "at"))


def _same_entry(filters: ChangeFilters, repository: str) -> QuerySet[ChangelogEntry]:
    """Return entries of shown runs that say just what an outer entry says."""
    return _entries(filters).filter(
        _SHOWN,
        run__repository=OuterRef(repository),
        raw_keys=OuterRef("raw_keys"),
        description=OuterRef("description"),
        pr_link=OuterRef("pr_link"),
    )


def _count(found: QuerySet[Any]) -> Subquery:
    counted = found.order_by().annotate(one=Value(1)).values("one")
    return Subquery(counted.annotate(n=Count("pk")).values("n"))


def config_changes(filters: ChangeFilters, keys: Keys) -> QuerySet[ConfigChange]:
    """Return what the history of the master configs tells, newest first."""
    found = ConfigChange.objects.filter(_days(filters, "at"))
    if filters.kinds:
        asked = Q(kind__in=filters.kinds)
        found = found.filter(
            asked | Q(is_swap=True) if SWAP in filters.kinds else asked
        )
    if keys is not None:
        found = found.filter(config_key__in=keys)
    return found.select_related("repository").order_by("-at", "config_key", "kind")


def file_defects(filters: ChangeFilters) -> QuerySet[FileDefect]:
    """Return what is wrong with files that were to be imported, newest first."""
    return FileDefect.objects.filter(_days(filters, "seen_at")).order_by(
        "-seen_at", "-pk"
    )


def unread_changelogs(filters: ChangeFilters) -> QuerySet[Skip]:
    """Return the changelogs of runs, or entries of them, that could not be read."""
    found = Skip.objects.filter(
        _SHOWN, _days(filters, "run__created_at"), reason=BAD_CHANGELOG
    )
    return found.select_related("run").order_by("-run__created_at", "-pk")


def faulty_entries(filters: ChangeFilters) -> int:
    """Count the entries of runs that were taken with a defect; a file keeps its own."""
    found = changelog(filters, None).exclude(run__isnull=True)
    return found.exclude(defects=[]).count()


def _days(filters: ChangeFilters, column: str) -> Q:
    condition = Q()
    if filters.since is not None:
        condition &= Q(**{f"{column}__gte": _moment(filters.since, time.min)})
    if filters.until is not None:
        condition &= Q(**{f"{column}__lte": _moment(filters.until, time.max)})
    return condition


def _moment(day: date, of_day: time) -> datetime:
    return datetime.combine(day, of_day, UTC)


@dataclass(frozen=True, slots=True)
class Part:
    """One list of changes, in its order; ``found`` is not asked before it is needed."""

    name: str
    found: QuerySet[Any]


def parts(filters: ChangeFilters, keys: Keys) -> list[Part]:
    """Return the lists that the filters ask for; files with defects are of no key."""
    wanted: dict[str, tuple[bool, Callable[[], QuerySet[Any]]]] = {
        "swaps": (filters.asks_for(SWAP), lambda: swaps(filters, keys)),
        "measured": (
            filters.asks_for(*MEASURED),
            lambda: measured_changes(filters, keys),
        ),
        "changelog": (
            filters.asks_for(CHANGELOG, DEFECT),
            lambda: changelog(filters, keys),
        ),
        "configs": (
            filters.asks_for(SWAP, *CONFIGURED),
            lambda: config_changes(filters, keys),
        ),
        "files": (_asks_for_defects(filters), lambda: file_defects(filters)),
        "unread": (_asks_for_defects(filters), lambda: unread_changelogs(filters)),
    }
    return [Part(name, make()) for name, (is_asked, make) in wanted.items() if is_asked]


def _asks_for_defects(filters: ChangeFilters) -> bool:
    return filters.asks_for(DEFECT) and not filters.is_of_keys


def sliced(lists: Sequence[Part], start: int, stop: int) -> tuple[int, Iterator[Any]]:
    """Return how many changes there are, and those from ``start`` up to ``stop``."""
    sizes = [part.found.count() for part in lists]
    return sum(sizes), _slice(lists, sizes, start, stop)


def _slice(
    lists: Sequence[Part], sizes: Sequence[int], start: int, stop: int
) -> Iterator[Any]:
    for part, size in zip(lists, sizes, strict=True):
        first, last = max(start, 0), min(stop, size)
        if first < last:
            yield from part.found[first:last]
        start, stop = start - size, stop - size
