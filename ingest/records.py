"""Artifacts and their records into tables, and the ids by which rows refer to them."""

from collections.abc import Iterable, Iterator

from django.contrib.postgres.aggregates import ArrayAgg

from dashboard.models import Artifact, RawRecord, Run
from ingest.reading import ReadRun
from ingest.store import Places, RunStore, Tally
from ingest.tables import ARTIFACTS_BY_BYTES, ARTIFACTS_BY_ID, RECORDS
from ingest.uploads import ReadArtifact
from ingest.upserts import Values, insert_in_parts, upsert


def store_reading(run: Run, reading: ReadRun, tally: Tally) -> Places:
    """Store what was read of a run; no record stored earlier is lost.

    Records are converted to rows while the database, which is a process of its own,
    stores them.
    """
    store = RunStore(run)
    replaced = run.artifacts.filter(pk__in=reading.replaced)
    tally.removed += replaced.count()
    replaced.delete()
    ids = _store_artifacts(run, reading.artifacts, store)
    records = (
        (ids[artifact.meta.position], *text)
        for artifact in reading.artifacts
        for text in artifact.records
    )
    beside = _beside(records, reading.converting)
    is_first = not RawRecord.objects.filter(artifact__run=run).exists()
    store_all = insert_in_parts if is_first else upsert
    stored = store_all(RECORDS, beside)
    reading.convert()
    store.tally.add(RECORDS, stored)
    places = _places(reading, ids)
    fresh = [s for a in reading.artifacts if a.stored_id is None for s in a.skips]
    fresh += reading.refused
    store.store_skips(fresh, places, is_from_reading=True, untouched=_kept_ids(reading))
    tally.merge(store.tally)
    return places


def _beside(records: Iterable[Values], work: Iterator[None]) -> Iterator[Values]:
    for record in records:
        yield record
        next(work, None)


def stored_places(reading: ReadRun) -> Places:
    """Return the ids of what :func:`ingest.reading.read_stored` read."""
    return _places(reading, _kept_ids(reading))


def _kept_ids(reading: ReadRun) -> list[int]:
    """Return the ids of artifacts that only tables hold, by position."""
    return [a.stored_id for a in reading.artifacts if a.stored_id is not None]


def _places(reading: ReadRun, ids: list[int]) -> Places:
    found = RawRecord.objects.filter(artifact_id__in=ids)
    # By member: 20,000 rows take three times as long to be read.
    members = found.order_by().values_list("artifact_id", "member")
    listed = members.annotate(indexes=ArrayAgg("index"), ids=ArrayAgg("pk"))
    return Places(
        artifacts=ids,
        records={
            (artifact, member): dict(zip(indexes, pks, strict=True))
            for artifact, member, indexes, pks in listed
        },
        attempts=[artifact.meta.attempt for artifact in reading.artifacts],
    )


def _store_artifacts(
    run: Run, artifacts: list[ReadArtifact], store: RunStore
) -> list[int]:
    """Store artifacts by their id, else by name and bytes; return ids by position."""
    with_id = [a for a in artifacts if a.meta.github_id is not None]
    _tell_ids(run, with_id)
    without = [a for a in artifacts if a.meta.github_id is None]
    by_id = upsert(ARTIFACTS_BY_ID, _distinct(run, with_id, id_only=True))
    by_bytes = upsert(ARTIFACTS_BY_BYTES, _distinct(run, without, id_only=False))
    store.tally.add(ARTIFACTS_BY_ID, by_id)
    store.tally.add(ARTIFACTS_BY_BYTES, by_bytes)
    ids = [
        by_id.ids[(run.pk, a.meta.github_id)]
        if a.meta.github_id is not None
        else by_bytes.ids[(run.pk, a.meta.name, a.sha256)]
        for a in artifacts
    ]
    _note_bytes(run, artifacts, ids)
    return ids


def _note_bytes(run: Run, artifacts: list[ReadArtifact], ids: list[int]) -> None:
    """Take back that retention deleted what came again with its bytes."""
    forgotten = Artifact.objects.filter(run=run, bytes_forgotten_at__isnull=False)
    with_bytes = [pk for a, pk in zip(artifacts, ids, strict=True) if a.came_with_bytes]
    forgotten.filter(pk__in=with_bytes).update(bytes_forgotten_at=None)


def _tell_ids(run: Run, artifacts: Iterable[ReadArtifact]) -> None:
    """Give stored artifacts the id by which GitHub knows the same name and bytes."""
    stored = Artifact.objects.filter(run=run)
    nameless = stored.filter(github_artifact_id__isnull=True).exclude(sha256="")
    found = nameless.values_list("pk", "name", "sha256")
    waiting = {(name, sha256): pk for pk, name, sha256 in found}
    known = set(stored.values_list("github_artifact_id", flat=True))
    for artifact in artifacts:
        github_id = artifact.meta.github_id
        place = (artifact.meta.name, artifact.sha256)
        if place in waiting and github_id not in known:
            stored.filter(pk=waiting.pop(place)).update(github_artifact_id=github_id)


def _distinct(
    run: Run, artifacts: Iterable[ReadArtifact], *, id_only: bool
) -> Iterable[Values]:
    rows = {}
    for artifact in artifacts:
        key = (
            (artifact.meta.github_id,)
            if id_only
            else (artifact.meta.name, artifact.sha256)
        )
        rows[key] = _values(run, artifact)
    return rows.values()


def _values(run: Run, artifact: ReadArtifact) -> Values:
    parts = artifact.parts
    return (
        run.pk,
        artifact.meta.github_id,
        artifact.meta.name,
        artifact.sha256,
        str(parts.kind).strip("_-:") or "other",
        {
            "runner": parts.runner,
            "recipe": parts.recipe,
            "experiment": parts.experiment,
        },
        artifact.meta.attempt,
        artifact.size,
        artifact.meta.created_at,
        artifact.expired,
        artifact.expires_at,
        artifact.members,
        str(artifact.state),
        artifact.reason[:2000],
    )
