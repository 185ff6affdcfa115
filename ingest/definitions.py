"""What master configs say of config keys: definitions, who has them, checkpoints."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from django.db.models.functions import Now

from dashboard.models import (
    Checkpoint,
    CheckpointAlias,
    ConfigDefinition,
    ConfigKey,
    ConfigSight,
    Repository,
)
from dashboard.vocabulary.checkpoints import meant_name, spellings_of
from ingest.config_keys import ConfigDefinitionData, Expansion, fingerprint
from ingest.normalize import (
    canonical_framework,
    canonical_model,
    canonical_precision,
    hardware_base,
)
from ingest.tables import CONFIG_KEYS
from ingest.upserts import upsert

SCENARIO_KINDS = ("fixed-seq-len", "agentic-coding")


@dataclass(frozen=True, slots=True)
class Commit:
    """Where a config file comes from; ``at`` is when it was made or first run.

    ``is_mainline`` is False where all that is known of the commit is a run that was
    no push to the default branch: it may never be merged.
    """

    repository: Repository
    sha: str
    at: datetime
    is_mainline: bool = True


Seen = Mapping[tuple[int, str], tuple[int, ConfigDefinitionData]]


def store_definitions(expansion: Expansion, commit: Commit) -> None:
    """Store what a commit says of config keys, and let the keys follow."""
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
    _see_definitions(seen, commit)
    _note_sights(seen, commit)
    follow_definitions({key_id for key_id, _ in seen})


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
    """Return checkpoint ids by case-folded name; unknown ones are made.

    A spelling means the checkpoint that staff say, else the one that the vocabulary
    says, else the one that has it as its name.
    """
    wanted = {name.casefold(): meant_name(name) for name in sorted(names) if name}
    found = _known_checkpoints()
    missing = [
        Checkpoint(name=name)
        for spelling, name in wanted.items()
        if spelling not in found.spellings and name.casefold() not in found.names
    ]
    if missing:
        Checkpoint.objects.bulk_create(missing, ignore_conflicts=True)
        found = _known_checkpoints()
    return {
        spelling: found.spellings.get(spelling) or found.names[name.casefold()]
        for spelling, name in wanted.items()
    }


class _Known(NamedTuple):
    """Checkpoint ids by case-folded name, and by what staff say of spellings."""

    names: dict[str, int]
    spellings: dict[str, int]


def _known_checkpoints() -> _Known:
    names = Checkpoint.objects.order_by("pk").values_list("name", "pk")
    spellings = CheckpointAlias.objects.values_list("spelling", "checkpoint_id")
    return _Known(
        {name.casefold(): pk for name, pk in names},
        {spelling.casefold(): pk for spelling, pk in spellings},
    )


def _see_definitions(seen: Seen, commit: Commit) -> None:
    """Store what is new of a commit's definitions and widen when others were seen."""
    stored = _stored_definitions(seen)
    ConfigDefinition.objects.bulk_create(
        ConfigDefinition(
            config_key_id=key_id,
            digest=digest,
            checkpoint_id=checkpoint_id,
            image=data.image.replace("#", "/", 1),
            runner=data.runner,
            entry=data.raw,
            first_seen_sha=commit.sha,
            first_seen_at=commit.at,
            last_seen_sha=commit.sha,
            last_seen_at=commit.at,
        )
        for (key_id, digest), (checkpoint_id, data) in seen.items()
        if (key_id, digest) not in stored
    )
    at = commit.at
    for which, wider in (
        ("first", [d.pk for d in stored.values() if at < d.first_seen_at]),
        ("last", [d.pk for d in stored.values() if at > d.last_seen_at]),
    ):
        ConfigDefinition.objects.filter(pk__in=wider).update(
            **{f"{which}_seen_sha": commit.sha, f"{which}_seen_at": at}
        )


def _stored_definitions(seen: Seen) -> dict[tuple[int, str], ConfigDefinition]:
    key_ids = {key_id for key_id, _ in seen}
    known = ConfigDefinition.objects.filter(config_key_id__in=key_ids).defer("entry")
    return {
        place: definition
        for definition in known
        if (place := (definition.config_key_id, definition.digest)) in seen
    }


def _note_sights(seen: Seen, commit: Commit) -> None:
    """Note that the commit's repository has these definitions, and until when."""
    ids = [definition.pk for definition in _stored_definitions(seen).values()]
    where = {"repository": commit.repository, "is_mainline": commit.is_mainline}
    ConfigSight.objects.bulk_create(
        [ConfigSight(definition_id=pk, last_at=commit.at, **where) for pk in ids],
        ignore_conflicts=True,
    )
    known = ConfigSight.objects.filter(definition_id__in=ids, **where)
    known.filter(last_at__lt=commit.at).update(last_at=commit.at)


def follow_definitions(config_key_ids: Iterable[int]) -> int:
    """Let keys carry the definition that counts, and its attributes; return how many.

    That is the one seen last on the default branch of an official repository; else
    in an official repository at all; else anywhere.
    """
    chosen = _definitions_that_count(set(config_key_ids))
    keys = ConfigKey.objects.filter(pk__in=chosen)
    stale = [key for key in keys if key.definition_id != chosen[key.pk]]
    definitions = ConfigDefinition.objects.in_bulk([chosen[key.pk] for key in stale])
    for key in stale:
        definition = definitions[chosen[key.pk]]
        entry = definition.entry
        key.definition = definition
        key.is_synthetic = False
        key.model, key.precision, key.hardware, key.framework = _attributes(entry)
        key.scenario_kind = _kinds(entry.get("scenarios") or {})
        key.updated_at = Now()
    names = ["model", "precision", "hardware", "framework", "scenario_kind"]
    ConfigKey.objects.bulk_update(
        stale, ["definition", "is_synthetic", "updated_at", *names]
    )
    return len(stale)


def _definitions_that_count(config_key_ids: set[int]) -> dict[int, int]:
    """Return definition ids by config key id."""
    sights = ConfigSight.objects.filter(definition__config_key_id__in=config_key_ids)
    ranked: dict[int, tuple[tuple[object, ...], int]] = {}
    for key_id, pk, is_official, is_mainline, *order in sights.values_list(
        "definition__config_key_id",
        "definition_id",
        "repository__is_official",
        "is_mainline",
        "last_at",
        "definition__first_seen_at",
        "definition__digest",
    ):
        rank = (is_official and is_mainline, is_official, *order)
        known = ranked.get(key_id)
        if known is None or known[0] < rank:
            ranked[key_id] = (rank, pk)
    return {key_id: pk for key_id, (_, pk) in ranked.items()}


def follow_repository(repository: Repository) -> int:
    """Let the keys of a repository follow anew once it counts otherwise."""
    sights = ConfigSight.objects.filter(repository=repository)
    return follow_definitions(
        sights.values_list("definition__config_key_id", flat=True).distinct()
    )


def checkpoints_like(checkpoint: Checkpoint) -> set[int]:
    """Return the ids of a checkpoint and of all that its spellings are or were.

    Those are checkpoints named like one of its spellings, and those that the
    vocabulary gives such a spelling to.
    """
    spellings = set(checkpoint.spellings.values_list("spelling", flat=True))
    spellings |= spellings_of(checkpoint.name)
    names = {text.casefold() for s in spellings for text in (s, meant_name(s))}
    rows = Checkpoint.objects.values_list("pk", "name")
    return {checkpoint.pk, *(pk for pk, name in rows if name.casefold() in names)}


def name_definitions(checkpoints: set[int]) -> None:
    """Give definitions of these checkpoints the one that their model's name means."""
    definitions = ConfigDefinition.objects.filter(checkpoint_id__in=checkpoints)
    named = {d.pk: str(d.entry.get("model", "")) for d in definitions}
    ids = checkpoint_ids(named.values())
    for pk, name in named.items():
        if name:
            ConfigDefinition.objects.filter(pk=pk).update(
                checkpoint_id=ids[name.casefold()]
            )
