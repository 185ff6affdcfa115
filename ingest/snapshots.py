"""Master configs as they stood at a commit: stored once, chosen per run and file."""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache

from dashboard.models import (
    Checkpoint,
    ConfigDefinition,
    ConfigFile,
    ConfigKey,
    ConfigSnapshot,
    Repository,
    Run,
    Sweep,
)
from ingest.config_keys import (
    ConfigDefinitionData,
    ConfigError,
    Expansion,
    Snapshot,
    expand_master,
    fingerprint,
)
from ingest.normalize import (
    canonical_framework,
    canonical_model,
    canonical_precision,
    hardware_base,
)
from ingest.tables import CONFIG_FILES, CONFIG_KEYS, CONFIG_SNAPSHOTS
from ingest.upserts import upsert

RUNNERS = "runners.yaml"
SHORT_COMMIT = 7  # digits; fewer prove nothing
MAX_NAME = 100
SCENARIO_KINDS = ("fixed-seq-len", "agentic-coding")
EMPTY = hashlib.sha256(b"").hexdigest()


@dataclass(slots=True)
class Imported:
    """What an import of config files did."""

    files: int = 0
    keys: int = 0
    entries: int = 0
    new_snapshots: int = 0
    defects: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Commit:
    """Where a config file comes from; ``at`` is when it was made or first run."""

    repository: Repository
    sha: str
    at: datetime


def is_master(name: str) -> bool:
    """Tell whether a config file defines config keys."""
    return name.endswith("-master.yaml")


def import_configs(
    files: Mapping[str, str], *, repository: Repository, sha: str, at: datetime
) -> Imported:
    """Store config files of one commit and the definitions that they hold.

    A file that cannot be read becomes one defect; the others are imported.
    ``at`` is when the commit was made, or when its first run was.
    """
    done = Imported()
    runners = files.get(RUNNERS) or _newest_runners(repository, at)
    for name, text in sorted(files.items(), key=lambda item: item[0] != RUNNERS):
        try:
            expansion = _expansion(name, text, runners)
        except ConfigError as error:
            done.defects.append(f"{name}: {error}")
            continue
        done.files += 1
        done.keys += len(expansion.definitions)
        done.entries += len(expansion.entries)
        done.defects += [f"{name}: {defect}" for defect in expansion.defects]
        commit = Commit(repository, sha, at)
        done.new_snapshots += _store_snapshot(name, text, expansion, commit)
        _store_definitions(expansion, sha, at)
    return done


def _expansion(name: str, text: str, runners: str | None) -> Expansion:
    if len(name) > MAX_NAME:
        raise ConfigError(f"its name has {len(name)} characters")
    if "\0" in text:
        raise ConfigError("not a text: it holds NUL")
    return _expand(text, runners) if is_master(name) else Expansion()


@lru_cache(maxsize=32)
def _expand(text: str, runners: str | None) -> Expansion:
    """Expand a master once per content: mapping needs it right after the import."""
    return expand_master(text, runners)


def _newest_runners(repository: Repository, at: datetime) -> str | None:
    snapshots = ConfigSnapshot.objects.filter(name=RUNNERS, repository=repository)
    snapshots = snapshots.select_related("file")
    chosen = snapshots.filter(at__lte=at).order_by("-at").first()
    chosen = chosen or snapshots.order_by("at").first()
    return chosen.file.text if chosen else None


def _store_snapshot(name: str, text: str, expansion: Expansion, commit: Commit) -> int:
    digest = hashlib.sha256(text.encode()).hexdigest()
    prints = sorted({e.fingerprint for e in expansion.entries if e.fingerprint})
    file_id = upsert(CONFIG_FILES, [(digest, text, prints)]).ids[(digest,)]
    row = (commit.repository.pk, commit.sha, name, commit.at, file_id, False)
    stored = upsert(CONFIG_SNAPSHOTS, [row])
    # The same commit may have several runs: its time is the earliest.
    earlier = ConfigSnapshot.objects.filter(
        repository=commit.repository, sha=commit.sha, name=name, at__gt=commit.at
    ).update(at=commit.at, is_applied=False)
    return stored.new + stored.changed + earlier


def _store_definitions(expansion: Expansion, sha: str, at: datetime) -> None:
    definitions = expansion.definitions
    if not definitions:
        return
    keys = upsert(CONFIG_KEYS, [_key_values(d) for d in definitions.values()]).ids
    checkpoints = checkpoint_ids({d.model for d in definitions.values()})
    seen = {
        (keys[(key,)], fingerprint(data.raw)): (
            checkpoints[data.model.casefold()],
            data,
        )
        for key, data in definitions.items()
    }
    _see_definitions(seen, sha, at)
    _follow_newest({key_id for key_id, _ in seen})


def _key_values(data: ConfigDefinitionData) -> tuple[object, ...]:
    kinds = _kinds(data.scenario_kinds)
    return (data.key, *_attributes(data.raw), kinds, False)


def _kinds(names: Iterable[str]) -> str:
    """Return the kinds of scenarios that the generator knows, as one text."""
    return ",".join(name for name in names if name in SCENARIO_KINDS)


def _attributes(entry: Mapping[str, object]) -> tuple[str, str, str, str]:
    """Return model, precision, hardware and framework of a master entry."""
    prefix, model = str(entry["model-prefix"]), str(entry["model"])
    runner = str(entry["runner"])
    return (
        canonical_model(prefix, model) or prefix,
        canonical_precision(str(entry["precision"])),
        hardware_base(runner) or runner,
        canonical_framework(str(entry["framework"])),
    )


def checkpoint_ids(names: Iterable[str]) -> dict[str, int]:
    """Return checkpoint ids by case-folded name; unknown ones are made."""
    wanted = {name.casefold(): name for name in sorted(names) if name}
    found = _known_checkpoints()
    missing = [Checkpoint(name=n) for k, n in wanted.items() if k not in found]
    if missing:
        Checkpoint.objects.bulk_create(missing, ignore_conflicts=True)
        found = _known_checkpoints()
    return {key: found[key] for key in wanted}


def _known_checkpoints() -> dict[str, int]:
    known: dict[str, int] = {}
    for pk, name, aliases in Checkpoint.objects.values_list("pk", "name", "aliases"):
        for spelling in (*aliases, name):
            known[str(spelling).casefold()] = pk
    return known


def _see_definitions(
    seen: Mapping[tuple[int, str], tuple[int, ConfigDefinitionData]],
    sha: str,
    at: datetime,
) -> None:
    """Store what is new of a commit's definitions and widen when others were seen."""
    key_ids = {key_id for key_id, _ in seen}
    known = ConfigDefinition.objects.filter(config_key_id__in=key_ids)
    stored = {(d.config_key_id, d.digest): d for d in known.defer("entry")}
    ConfigDefinition.objects.bulk_create(
        ConfigDefinition(
            config_key_id=key_id,
            digest=digest,
            checkpoint_id=checkpoint_id,
            image=data.image.replace("#", "/", 1),
            runner=data.runner,
            entry=data.raw,
            first_seen_sha=sha,
            first_seen_at=at,
            last_seen_sha=sha,
            last_seen_at=at,
        )
        for (key_id, digest), (checkpoint_id, data) in seen.items()
        if (key_id, digest) not in stored
    )
    again = [d for place, d in stored.items() if place in seen]
    for which, wider in (
        ("first", [d.pk for d in again if at < d.first_seen_at]),
        ("last", [d.pk for d in again if at > d.last_seen_at]),
    ):
        ConfigDefinition.objects.filter(pk__in=wider).update(
            **{f"{which}_seen_sha": sha, f"{which}_seen_at": at}
        )


def _follow_newest(config_key_ids: set[int]) -> None:
    """Let each key carry the definition that was seen last, and its attributes."""
    definitions = ConfigDefinition.objects.filter(config_key_id__in=config_key_ids)
    order = definitions.order_by("last_seen_at", "first_seen_at", "digest")
    newest = dict(order.values_list("config_key_id", "pk"))
    keys = ConfigKey.objects.filter(pk__in=newest)
    stale = [key for key in keys if key.definition_id != newest[key.pk]]
    for key in stale:
        definition = ConfigDefinition.objects.get(pk=newest[key.pk])
        entry = definition.entry
        key.definition = definition
        key.is_synthetic = False
        key.model, key.precision, key.hardware, key.framework = _attributes(entry)
        key.scenario_kind = _kinds(entry.get("scenarios") or {})
    names = ["model", "precision", "hardware", "framework", "scenario_kind"]
    ConfigKey.objects.bulk_update(stale, ["definition", "is_synthetic", *names])


@dataclass(frozen=True, slots=True)
class Choice:
    """The config files that apply to a run, and how each was chosen.

    ``files`` maps a file name to (method, commit, sha256); methods are ``exact``,
    ``fingerprint``, ``before`` and ``after``.
    """

    files: dict[str, tuple[str, str, str]]

    @property
    def snapshot(self) -> Snapshot | None:
        """The matrix of the chosen files; None where there is none."""
        return snapshot_of({name: file[2] for name, file in self.files.items()})

    def as_json(self) -> dict[str, list[str]]:
        """Return the choice as the run's row keeps it."""
        return {name: list(file) for name, file in self.files.items()}

    def method_for(self, key: str) -> str:
        """Return how the file that defines a key was chosen, or an empty text."""
        for method, _, digest in self.files.values():
            if key in _definitions(digest):
                return method
        return ""


class Versions:
    """Every stored version of every config file, oldest first."""

    def __init__(self) -> None:
        """Read the versions, without their texts."""
        self._official: dict[str, list[ConfigSnapshot]] = {}
        self._own: dict[tuple[int, str], list[ConfigSnapshot]] = {}
        snapshots = ConfigSnapshot.objects.select_related("file", "repository")
        for snapshot in snapshots.defer("file__text").order_by("at", "sha"):
            place = (snapshot.repository_id, snapshot.name)
            self._own.setdefault(place, []).append(snapshot)
            if snapshot.repository.is_official:
                self._official.setdefault(snapshot.name, []).append(snapshot)

    def _of(self, run: Run) -> dict[str, list[ConfigSnapshot]]:
        """Return versions by file name: the repository's own, else the official."""
        own = {n: v for (pk, n), v in self._own.items() if pk == run.repository_id}
        return own or self._official

    def choose(self, run: Run, fingerprints: Iterable[str]) -> Choice:
        """Choose, per config file, the version that applies to a run.

        The exact commit; else a version whose matrix holds recipes that the run's
        rows name; else the newest at or before the run; else the earliest after it.
        """
        wanted = {value for value in fingerprints if value}
        files = {
            name: _choose(found, run, wanted)
            for name, found in sorted(self._of(run).items())
        }
        return Choice(files)


def _choose(
    versions: list[ConfigSnapshot], run: Run, wanted: set[str]
) -> tuple[str, str, str]:
    exact = [v for v in versions if v.sha == run.sha or _is_abbreviated(v.sha, run.sha)]
    if exact:
        return ("exact", exact[-1].sha, exact[-1].file.sha256)
    counts = [(_shared(v.file.fingerprints, wanted), v) for v in versions]
    best = max(count for count, _ in counts)
    if wanted and best:
        fitting = [v for count, v in counts if count == best]
        method, chosen = "fingerprint", _nearest(fitting, run)[1]
    else:
        method, chosen = _nearest(versions, run)
    return (method, chosen.sha, chosen.file.sha256)


def _is_abbreviated(short: str, sha: str) -> bool:
    return SHORT_COMMIT <= len(short) < len(sha) and sha.startswith(short)


def _shared(prints: list[str], wanted: set[str]) -> int:
    """Count wanted recipes, given in full or by their first 16 digits."""
    if not wanted:
        return 0
    known = {*prints, *(value[:16] for value in prints)}
    return len(wanted & known)


def _nearest(versions: list[ConfigSnapshot], run: Run) -> tuple[str, ConfigSnapshot]:
    before = [v for v in versions if v.at <= run.created_at]
    return ("before", before[-1]) if before else ("after", versions[0])


def snapshot_of(digests: Mapping[str, str]) -> Snapshot | None:
    """Return the matrix of the chosen files, AMD's before NVIDIA's as in a run."""
    masters = tuple(digests[name] for name in sorted(digests) if is_master(name))
    if not masters:
        return None
    return _snapshot(masters, digests.get(RUNNERS, EMPTY))


@lru_cache(maxsize=16)
def _snapshot(masters: tuple[str, ...], runners: str) -> Snapshot:
    expansions = [_stored_expansion(digest, runners) for digest in masters]
    return Snapshot([entry for e in expansions for entry in e.entries])


@lru_cache(maxsize=64)
def _stored_expansion(digest: str, runners: str) -> Expansion:
    return _expand(_text(digest), None if runners == EMPTY else _text(runners))


@lru_cache(maxsize=256)
def _definitions(digest: str) -> frozenset[str]:
    """Return the keys a stored file defines; contents never change under a digest."""
    try:
        return frozenset(_stored_expansion(digest, EMPTY).definitions)
    except ConfigError:
        return frozenset()


def _text(digest: str) -> str:
    return ConfigFile.objects.get(sha256=digest).text


@dataclass(frozen=True, slots=True)
class Stale:
    """Runs that other config files fit better, and the files that say so."""

    runs: list[Run]
    snapshot_ids: list[int]


def stale_runs() -> Stale:
    """Return the runs whose choice of files differs from the one stored with them."""
    unapplied = ConfigSnapshot.objects.filter(is_applied=False)
    found = list(unapplied.values_list("pk", flat=True))
    if not found:
        return Stale([], [])
    versions = Versions()
    runs = Run.objects.select_related("repository").order_by("created_at", "pk")
    stale = [
        run
        for run in runs
        if versions.choose(run, fingerprints_of(run)).as_json() != run.snapshot
    ]
    return Stale(stale, found)


def fingerprints_of(run: Run) -> set[str]:
    """Return the recipes that a run's stored points name."""
    lists = Sweep.objects.filter(run=run).values_list("fingerprints", flat=True)
    return {value for values in lists for value in values}


def forget_unapplied(stale: Stale) -> None:
    """Note that every run has seen these config files."""
    ConfigSnapshot.objects.filter(pk__in=stale.snapshot_ids).update(is_applied=True)
