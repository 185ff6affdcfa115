"""What master configs said in the past, as a list of changes without the masters."""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

import orjson
from django.db import transaction

from dashboard.models import CheckpointAlias, ConfigChange, Generation, Repository
from dashboard.vocabulary.checkpoints import kind_of_change
from ingest.artifacts.bundles import parse_time
from ingest.artifacts.texts import clean_text
from ingest.claims import serialise_writes
from ingest.config_keys import KEY_GRAMMAR, ConfigError
from ingest.file_defects import store_file_defects
from ingest.run_facts import known_repository
from ingest.tables import CONFIG_CHANGES
from ingest.upserts import Values, upsert

Kind = ConfigChange.Kind
_COMMIT = re.compile(r"[0-9a-f]{7,64}")
LONGEST_LINE = 20_000
LONGEST_TEXT = 1_000


@dataclass(slots=True)
class ImportedHistory:
    """What an import of a history did; ``kinds`` counts the changes read."""

    new: int = 0
    changed: int = 0
    kinds: Counter[str] = field(default_factory=Counter)
    swaps: int = 0
    defects: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Change:
    """One line of the file, checked."""

    config_key: str
    kind: str
    sha: str
    at: datetime
    before: str
    after: str


def import_config_history(text: str, *, name: str, repository: str) -> ImportedHistory:
    """Store the changes of a JSON-lines file; those known already stay as they are.

    A line that cannot be read becomes a defect. Raises ConfigError for a file without
    a single usable line: then only that is kept of it.
    """
    done = ImportedHistory()
    changes = _changes(text, done)
    if not changes:
        store_file_defects(done.defects, repository=repository, name=name)
        raise ConfigError("; ".join([*done.defects[:1], "no line can be used"]))
    with transaction.atomic():
        serialise_writes()
        owner = known_repository(repository)
        spellings = CheckpointAlias.objects.names()
        rows = [_values(owner, change, spellings) for change in changes]
        stored = upsert(CONFIG_CHANGES, rows)
        store_file_defects(done.defects, repository=repository, name=name)
        if stored.new or stored.changed:
            Generation.bump()
    done.new, done.changed = stored.new, stored.changed
    done.kinds = Counter(change.kind for change in changes)
    done.swaps = sum(bool(row[-1]) for row in rows)
    return done


def _changes(text: str, done: ImportedHistory) -> list[Change]:
    """Read the lines; of two about the same change the later one counts."""
    found: dict[tuple[str, str, str], Change] = {}
    # JSON may hold what splitlines() takes for the end of a line, U+2028 say.
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            change = _change(line)
        except ValueError as error:
            done.defects.append(f"line {number}: {error}")
            continue
        place = (change.config_key, change.kind, change.sha)
        if place in found:
            done.defects.append(f"line {number}: told before, this line counts")
        found[place] = change
    return list(found.values())


def _change(line: str) -> Change:
    """Check one line; raises ValueError naming what is wrong."""
    if len(line) > LONGEST_LINE:
        raise ValueError(f"more than {LONGEST_LINE:,} characters")
    value = _object(line)
    kind, sha = _text(value, "kind"), _text(value, "sha").lower()
    key, at = _text(value, "key"), parse_time(value.get("date"))
    if kind not in Kind.values:
        raise ValueError(f"kind {kind[:60]!r} is not one of {', '.join(Kind.values)}")
    if not KEY_GRAMMAR.fullmatch(key):
        raise ValueError(f"key {key[:60]!r} is none")
    if not _COMMIT.fullmatch(sha):
        raise ValueError(f"sha {sha[:60]!r} is no commit")
    if at is None:
        raise ValueError("date is not a time with its zone")
    return Change(key, kind, sha, at, *_sides(kind, value))


def _object(line: str) -> dict[str, object]:
    value = orjson.loads(line)
    if isinstance(value, dict):
        return value
    raise ValueError("not an object")


def _sides(kind: str, value: Mapping[str, object]) -> tuple[str, str]:
    """Return what stood there before and after, both empty for a removed key."""
    if kind == Kind.ADDED:
        model, image = _text(value, "model"), _image(_text(value, "image"))
        return "", ", image ".join(filter(None, (model, image)))
    before, after = _text(value, "old"), _text(value, "new")
    if kind == Kind.IMAGE:
        return _image(before), _image(after)
    return before, after


def _text(value: Mapping[str, object], name: str) -> str:
    found = value.get(name)
    if found is not None and not isinstance(found, str):
        raise ValueError(f"{name} is not a text")
    return clean_text(found or "").strip()[:LONGEST_TEXT]


def _image(text: str) -> str:
    """Write an image as registries do: configs have ``#`` for its first slash."""
    return text.replace("#", "/", 1)


def classify_again() -> int:
    """Tell swaps from spellings by what staff say today; return how many changed."""
    spellings = CheckpointAlias.objects.names()
    changed = [
        row
        for row in ConfigChange.objects.filter(kind=Kind.MODEL)
        if row.is_swap != (kind_of_change(row.before, row.after, spellings) == "swap")
    ]
    for row in changed:
        row.is_swap = not row.is_swap
    return ConfigChange.objects.bulk_update(changed, ["is_swap"])


def _values(owner: Repository, change: Change, spellings: dict[str, str]) -> Values:
    is_swap = (
        change.kind == Kind.MODEL
        and kind_of_change(change.before, change.after, spellings) == "swap"
    )
    return (
        owner.pk,
        change.config_key,
        change.kind,
        change.sha,
        change.at,
        change.before,
        change.after,
        is_swap,
    )
