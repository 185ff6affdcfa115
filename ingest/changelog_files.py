"""A repository's whole changelog file: its entries as rows that belong to no run."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from django.db import transaction

from dashboard.models import ChangelogEntry, Generation, Repository
from ingest.artifacts.texts import clean_text
from ingest.claims import serialise_writes
from ingest.config_keys import KEY_GRAMMAR, ConfigError, expand_wildcards, load_list
from ingest.conversion.changelog import entry_row
from ingest.file_defects import store_file_defects
from ingest.masters import keys_of_masters
from ingest.rows import ChangelogRow, RecordRef
from ingest.run_facts import known_repository
from ingest.schemas.fields import WrongTypeError
from ingest.tables import CHANGELOG_FILE
from ingest.upserts import Values, delete_others, upsert


@dataclass(slots=True)
class ImportedChangelog:
    """What an import of a changelog file did; ``links`` counts entries by link state.

    ``retired`` are the distinct keys and patterns that name no key today.
    """

    entries: int = 0
    new: int = 0
    changed: int = 0
    removed: int = 0
    wildcards: int = 0
    retired: set[str] = field(default_factory=set)
    links: Counter[str] = field(default_factory=Counter)
    defects: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Named:
    """What an entry's keys name: keys of today, keys of the past, and nothing."""

    keys: list[str]
    retired: list[str]
    unknown: list[str]


def import_changelog(
    text: str, *, name: str, repository: str, sha: str = ""
) -> ImportedChangelog:
    """Store every entry of the file, in its order; what it holds no more goes.

    An entry that cannot be read becomes a defect, the others are stored. Raises
    ConfigError for a file that is no list of entries, of which only that is kept,
    and for a commit that is not imported.
    """
    done = ImportedChangelog()
    try:
        rows = _rows(text, name, done)
    except ConfigError as error:
        _keep_defects([str(error), *done.defects], name, repository)
        raise
    with transaction.atomic():
        serialise_writes()
        owner = known_repository(repository)
        _store(owner, rows, keys_of_masters(owner, sha), done)
        _keep_defects(done.defects, name, repository)
        if done.new or done.changed or done.removed:
            Generation.bump()
    return done


def _keep_defects(defects: Iterable[str], name: str, repository: str) -> None:
    # Not by commit: the newest import of the file says what is wrong with it.
    store_file_defects(defects, repository=repository, name=name)


def _rows(text: str, name: str, done: ImportedChangelog) -> list[ChangelogRow]:
    """Read the entries; raises ConfigError where there is none."""
    rows = []
    for index, value in enumerate(load_list(text)):
        try:
            row = entry_row(RecordRef(-1, name, index), index, _clean(value))
        except WrongTypeError as error:
            done.defects.append(f"entry {index + 1}: {error}")
            continue
        done.defects += [f"entry {index + 1}: {defect}" for defect in row.defects]
        rows.append(row)
    if not rows:
        raise ConfigError("it holds no entry that can be read")
    return rows


def _clean(value: object) -> object:
    """Return the value with texts that a table can hold."""
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, dict):
        return {clean_text(key): _clean(item) for key, item in value.items()}
    return [_clean(item) for item in value] if isinstance(value, list) else value


def _store(
    owner: Repository,
    rows: Sequence[ChangelogRow],
    keys: Sequence[str],
    done: ImportedChangelog,
) -> None:
    named = [named_by(row.config_keys, keys) for row in rows]
    values = (_values(owner, row, n) for row, n in zip(rows, named, strict=True))
    stored = upsert(CHANGELOG_FILE, values)
    kept = stored.ids.values()
    scope = {"repository": owner, "run__isnull": True}
    done.removed = delete_others(ChangelogEntry, kept, **scope)
    done.entries, done.new, done.changed = len(rows), stored.new, stored.changed
    done.retired = {key for n in named for key in n.retired}
    done.wildcards = len({k for row in rows for k in row.config_keys if "*" in k})
    done.links = Counter(row.link_state for row in rows)


def _values(owner: Repository, row: ChangelogRow, named: Named) -> Values:
    return (
        owner.pk,
        row.index,
        "",
        "",
        row.config_keys,
        named.keys,
        named.unknown,
        named.retired,
        row.description,
        row.pr_link,
        row.pr_number,
        row.link_state,
        row.scenario_types or [],
        row.evals_only,
        row.all_evals,
        row.append_only,
        row.defects,
    )


def named_by(raw_keys: Sequence[str], keys: Sequence[str]) -> Named:
    """Say what keys and patterns name, given the ``keys`` of today.

    The file takes no entry whose keys do not exist at that time: what names nothing
    today did so once, unless it never could have been a key. Without any keys of
    today nothing can be said of the past.
    """
    found, missing = expand_wildcards(raw_keys, keys)
    retired = [key for key in missing if keys and _could_be_key(key)]
    return Named(found, retired, [key for key in missing if key not in retired])


def _could_be_key(text: str) -> bool:
    return KEY_GRAMMAR.fullmatch(text.replace("*", "x")) is not None


def expand_again() -> int:
    """Expand stored entries against the masters of today; return how many changed."""
    owners = Repository.objects.filter(changelog__isnull=False).distinct()
    changed = [entry for owner in owners for entry in _renamed(owner)]
    names = ["expanded_keys", "retired_keys", "unknown_keys"]
    ChangelogEntry.objects.bulk_update(changed, names)
    return len(changed)


def _renamed(owner: Repository) -> Iterator[ChangelogEntry]:
    keys = keys_of_masters(owner)
    for entry in ChangelogEntry.objects.filter(repository=owner, run__isnull=True):
        named = named_by(entry.raw_keys, keys)
        before = Named(entry.expanded_keys, entry.retired_keys, entry.unknown_keys)
        if named != before:
            entry.expanded_keys = named.keys
            entry.retired_keys = named.retired
            entry.unknown_keys = named.unknown
            yield entry
