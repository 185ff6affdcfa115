"""Master configs as they stood at a commit, stored once, and what they expand to."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache

from dashboard.models import (
    ConfigFile,
    ConfigMatrix,
    ConfigRecipe,
    ConfigSnapshot,
    Repository,
)
from ingest.config_keys import ConfigError, Expansion, expand_master
from ingest.definitions import Commit, store_definitions
from ingest.tables import CONFIG_FILES, CONFIG_RECIPES, CONFIG_SNAPSHOTS
from ingest.upserts import upsert

RUNNERS = "runners.yaml"
MAX_NAME = 100
NO_KEYS = "{}"
PREFIX_DIGITS = 16

RunnersSight = tuple[str, datetime, int]  # commit, its time, file id


@dataclass(slots=True)
class Imported:
    """What an import of config files did."""

    files: int = 0
    keys: int = 0
    entries: int = 0
    new_snapshots: int = 0
    defects: list[str] = field(default_factory=list)
    of_files: dict[str, list[str]] = field(default_factory=dict)

    def note(self, name: str, defects: Iterable[str]) -> None:
        """Note what is wrong with a file; nothing, where it was read without fault."""
        self.of_files[name] = list(defects)
        self.defects += [f"{name}: {defect}" for defect in self.of_files[name]]


def is_master(name: str) -> bool:
    """Tell whether a config file defines config keys."""
    return name.endswith("-master.yaml")


def expand_ahead(
    files: Mapping[str, str], *, repository: str, sha: str, at: datetime
) -> None:
    """Expand masters now, so that whoever holds the write lock finds them expanded."""
    known = Repository.objects.filter(full_name__iexact=repository).first()
    stored = _runners_text(Commit(known, sha, at)) if known else None
    for name, text in files.items():
        try:
            _expansion(name, text, files.get(RUNNERS, stored))
        except ConfigError:
            continue  # the import itself tells of it


def import_configs(files: Mapping[str, str], commit: Commit) -> Imported:
    """Store config files of one commit and the definitions that they hold.

    A file that cannot be read becomes one defect; the others are imported.
    """
    done = Imported()
    for name, text in sorted(files.items(), key=lambda item: item[0] != RUNNERS):
        runners = _runners_text(commit) if is_master(name) else None
        try:
            expansion = _expansion(name, text, runners)
        except ConfigError as error:
            done.note(name, [str(error)])
            continue
        done.files += 1
        done.keys += len(expansion.definitions)
        done.entries += len(expansion.entries)
        done.note(name, expansion.defects)
        done.new_snapshots += _store_snapshot(name, text, commit)
        store_definitions(expansion, commit)
    done.new_snapshots += _pair_with_runners(commit.repository)
    return done


def _expansion(name: str, text: str, runners: str | None) -> Expansion:
    """Expand a file; raises ConfigError for one that could be of no use later."""
    if len(name) > MAX_NAME:
        raise ConfigError(f"its name has {len(name)} characters")
    if "\0" in text:
        raise ConfigError("not a text: it holds NUL")
    if name == RUNNERS:
        return expanded(NO_KEYS, text)
    return expanded(text, runners) if is_master(name) else Expansion()


@lru_cache(maxsize=32)
def expanded(text: str, runners: str | None) -> Expansion:
    """Expand a master once per content: mapping needs it right after the import."""
    return expand_master(text, runners)


def _store_snapshot(name: str, text: str, commit: Commit) -> int:
    digest = hashlib.sha256(text.encode()).hexdigest()
    file_id = upsert(CONFIG_FILES, [(digest, text)]).ids[(digest,)]
    row = (commit.repository.pk, commit.sha, name, commit.at, file_id, False)
    stored = upsert(CONFIG_SNAPSHOTS, [row])
    # The same commit may have several runs: its time is the earliest.
    same = ConfigSnapshot.objects.filter(
        repository=commit.repository, sha=commit.sha, name=name
    )
    earlier = same.filter(at__gt=commit.at).update(at=commit.at, is_applied=False)
    if stored.changed:
        same.update(is_applied=False)
    return stored.new + stored.changed + earlier


def _runners_text(commit: Commit) -> str | None:
    file_id = _runners_beside(_runners_of(commit.repository), commit.sha, commit.at)
    return None if file_id is None else ConfigFile.objects.get(pk=file_id).text


def _runners_of(repository: Repository) -> list[RunnersSight]:
    """Return every version of a repository's runners file, oldest first."""
    found = ConfigSnapshot.objects.filter(repository=repository, name=RUNNERS)
    return list(found.order_by("at", "sha").values_list("sha", "at", "file_id"))


def _runners_beside(
    versions: Sequence[RunnersSight], sha: str, at: datetime
) -> int | None:
    """Return the runners file of a commit: its own, the newest by then, the first."""
    for own, _, file_id in versions:
        if own == sha:
            return file_id
    before = [file_id for _, then, file_id in versions if then <= at]
    if before:
        return before[-1]
    return versions[0][2] if versions else None


def _pair_with_runners(repository: Repository) -> int:
    """Give each master the matrix it makes beside its runners; return how many anew.

    Which runners file that is may change with every one that is imported.
    """
    versions = _runners_of(repository)
    masters = ConfigSnapshot.objects.filter(
        repository=repository, name__endswith="-master.yaml"
    )
    paired = 0
    for pk, sha, at, file_id, *found in masters.values_list(
        "pk", "sha", "at", "file_id", "matrix__master_id", "matrix__runners_id"
    ):
        wanted = (file_id, _runners_beside(versions, sha, at))
        if wanted != tuple(found):
            matrix = _matrix(*wanted)
            masters.filter(pk=pk).update(matrix=matrix, is_applied=False)
            paired += 1
    return paired


def _matrix(master_id: int, runners_id: int | None) -> ConfigMatrix:
    """Return the matrix of two files; a new one gets its recipes."""
    matrix, is_new = ConfigMatrix.objects.select_related(
        "master", "runners"
    ).get_or_create(master_id=master_id, runners_id=runners_id)
    if is_new:
        runners = matrix.runners.text if matrix.runners else None
        expansion = expanded(matrix.master.text, runners)
        prints = {e.fingerprint for e in expansion.entries if e.fingerprint}
        rows = [(matrix.pk, p, p[:PREFIX_DIGITS]) for p in sorted(prints)]
        upsert(CONFIG_RECIPES, rows)
    return matrix


def recipes_of(snapshot: ConfigSnapshot) -> list[str]:
    """Return the recipes of a version, in full and by their first 16 digits."""
    recipes = ConfigRecipe.objects.filter(matrix_id=snapshot.matrix_id)
    found = recipes.values_list("fingerprint", "digits")
    return [text for pair in found for text in pair]
