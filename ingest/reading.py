"""A run's artifacts read: bytes kept first, then records and rows, nothing in tables.

What an earlier ingestion stored takes part as well, so that an upload that has
expired since keeps its place.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import cast

from dashboard.models import Artifact, RawRecord, Run
from ingest.artifacts.bundles import ArtifactSource, Bundle
from ingest.artifacts.members import (
    ArtifactError,
    Contents,
    ExpiredError,
    Limits,
    MemberError,
    MemberSource,
    artifact_digest,
)
from ingest.artifacts.names import READ_KINDS, NameParts
from ingest.bounds import bounded
from ingest.conversion import (
    ArtifactMeta,
    Reading,
    Record,
    RunConversion,
    artifact_metas,
    reading_order,
    stored_record,
)
from ingest.progress import Progress, silent
from ingest.raw_store import keep
from ingest.rows import RecordRef, Row, SkipRow

# Logs and traces are kept when small enough to be of use; the rest is listed.
LISTED_MEMBER_BYTES = 64 << 20

StoredText = tuple[str, int, str, str]  # member, index, sha256, canonical text


@dataclass(slots=True)
class ReadArtifact:
    """One artifact as it was read. ``stored_id`` is set where only tables hold it."""

    meta: ArtifactMeta
    size: int | None = None
    expired: bool = False
    expires_at: datetime | None = None
    sha256: str = ""
    members: list[tuple[str, int, str]] = field(default_factory=list)
    state: str = Artifact.State.FETCHED
    reason: str = ""
    contents: Contents | None = None
    records: list[StoredText] = field(default_factory=list)
    skips: list[SkipRow] = field(default_factory=list)
    stored_id: int | None = None

    @property
    def parts(self) -> NameParts:
        """The parts of the artifact's name."""
        return self.meta.parts

    def reject(self, reason: str, detail: str) -> None:
        """Note that nothing of the artifact can be used."""
        self.state = Artifact.State.REJECTED
        self.reason = f"{reason}: {detail}"
        self.contents = None
        if not self.skips:
            ref = RecordRef(self.meta.position, "", 0)
            self.skips.append(SkipRow(ref, reason, detail))

    def expire(self) -> None:
        """Note that its bytes were deleted before anybody fetched them."""
        self.expired = True
        self.state = Artifact.State.EXPIRED
        self.reason = "expired before it was fetched"
        ref = RecordRef(self.meta.position, "", 0)
        self.skips.append(SkipRow(ref, "expired_artifact", self.meta.name))


@dataclass(slots=True)
class ReadRun:
    """A run's artifacts by position, and the rows that their records give."""

    artifacts: list[ReadArtifact]
    rows: list[Row] = field(default_factory=list)
    repeated: list[SkipRow] = field(default_factory=list)

    def rejected_names(self) -> list[str]:
        """Return the names of artifacts of which nothing could be used."""
        found = self.artifacts
        return [a.meta.name for a in found if a.state == Artifact.State.REJECTED]

    def skips(self) -> Iterator[SkipRow]:
        """Yield what was refused while reading."""
        yield from self.repeated
        for artifact in self.artifacts:
            yield from artifact.skips


def read_run(bundle: Bundle, limits: Limits, progress: Progress = silent) -> ReadRun:
    """Keep the bytes of every artifact, then read records and rows."""
    run = ReadRun([])
    metas = artifact_metas(bundle)
    seen: dict[object, str] = {}
    for done, (meta, source) in enumerate(zip(metas, bundle.artifacts, strict=True)):
        progress("keeping artifacts", done, len(metas))
        placed = replace(meta, position=len(run.artifacts))
        artifact = _take(placed, source, limits)
        first = seen.setdefault(_natural_key(artifact), meta.name)
        if len(seen) > len(run.artifacts):
            run.artifacts.append(artifact)
        elif first != meta.name:
            run.repeated.append(_repeated(meta, first))
    _add_stored(run.artifacts, _stored_run(bundle))
    return _read(run, limits, progress)


def read_stored(run: Run) -> ReadRun:
    """Read a run again from its stored records alone."""
    stored = list(run.artifacts.order_by("uploaded_at", "pk"))
    artifacts = [_from_table(artifact, i) for i, artifact in enumerate(stored)]
    return _read(ReadRun(artifacts), Limits(), silent)


def _natural_key(artifact: ReadArtifact) -> object:
    """Return what makes two uploads of a run the same: the id, else name and bytes."""
    if artifact.meta.github_id is not None:
        return artifact.meta.github_id
    return artifact.meta.name, artifact.sha256


def _repeated(meta: ArtifactMeta, first: str) -> SkipRow:
    detail = f"the id {meta.github_id} belongs to {first}, not to {meta.name}"
    return SkipRow(RecordRef(-1, meta.name, 0), "duplicate_artifact", detail)


def _stored_run(bundle: Bundle) -> Run | None:
    # The run's facts were checked before anything was read.
    run_id = cast("int", bundle.run["id"])
    return Run.objects.filter(github_run_id=run_id).first()


def _take(meta: ArtifactMeta, source: ArtifactSource, limits: Limits) -> ReadArtifact:
    artifact = ReadArtifact(
        meta, size=source.size, expired=source.expired, expires_at=source.expires_at
    )
    if source.is_listed:
        artifact.state = Artifact.State.LISTED
        return artifact
    try:
        contents = source.contents(limits)
        _keep_members(artifact, contents)
    except ExpiredError:
        artifact.expire()
    except ArtifactError as error:
        artifact.reject(error.reason, error.detail)
    return artifact


def _keep_members(artifact: ReadArtifact, contents: Contents) -> None:
    """Store bytes under their hash before anything is parsed."""
    is_read = artifact.parts.kind in READ_KINDS
    usable = []
    for member in contents.members:
        if not is_read and member.size > LISTED_MEMBER_BYTES:
            artifact.members.append((member.name, member.size, ""))
            continue
        try:
            digest = _keep_member(member)
        except MemberError as error:
            ref = RecordRef(artifact.meta.position, member.name, 0)
            artifact.skips.append(SkipRow(ref, "bad_member", str(error)))
            continue
        artifact.members.append((member.name, member.size, digest))
        usable.append(member)
    artifact.sha256 = artifact_digest((n, sha) for n, _, sha in artifact.members)
    artifact.contents = Contents(usable, contents.refused)


def _keep_member(member: MemberSource) -> str:
    digest = member.sha256()
    with member.open() as stream:
        keep(stream, digest, member.size)
    return digest


def _add_stored(artifacts: list[ReadArtifact], run: Run | None) -> None:
    """Let tables speak for artifacts that the bundle lacks or has no bytes of."""
    if run is None:
        return
    by_id = {a.meta.github_id: i for i, a in enumerate(artifacts)}
    by_bytes = {(a.meta.name, a.sha256): i for i, a in enumerate(artifacts) if a.sha256}
    for stored in run.artifacts.order_by("uploaded_at", "pk"):
        known_id = stored.github_artifact_id
        place = None if known_id is None else by_id.get(known_id)
        if place is None:
            twin = by_bytes.get((stored.name, stored.sha256))
            if twin is None or not _is_same(artifacts[twin], known_id):
                artifacts.append(_from_table(stored, len(artifacts)))
            elif known_id is not None:
                artifacts[twin].meta = replace(artifacts[twin].meta, github_id=known_id)
        elif stored.state == Artifact.State.FETCHED and not artifacts[place].sha256:
            here = artifacts[place]
            artifacts[place] = _from_table(stored, place)
            artifacts[place].expired = here.expired or stored.expired
            artifacts[place].expires_at = here.expires_at or stored.expires_at


def _is_same(artifact: ReadArtifact, stored_id: int | None) -> bool:
    """Tell, for equal names and bytes, one upload from two: their ids differ."""
    here = artifact.meta.github_id
    return here is None or stored_id is None or here == stored_id


def _from_table(stored: Artifact, position: int) -> ReadArtifact:
    meta = ArtifactMeta(
        position=position,
        name=stored.name,
        created_at=stored.uploaded_at,
        attempt=stored.attempt,
        github_id=stored.github_artifact_id,
    )
    return ReadArtifact(
        meta,
        size=stored.size_bytes,
        expired=stored.expired,
        expires_at=stored.expires_at,
        sha256=stored.sha256,
        members=[(name, size, sha) for name, size, sha in stored.members],
        state=stored.state,
        reason=stored.reason,
        stored_id=stored.pk,
    )


def _read(run: ReadRun, limits: Limits, progress: Progress) -> ReadRun:
    conversion = RunConversion()
    order = reading_order([artifact.meta for artifact in run.artifacts])
    for done, meta in enumerate(order):
        progress("reading", done, len(order))
        artifact = run.artifacts[meta.position]
        records = _records(artifact, limits)
        run.rows.extend(map(bounded, conversion.rows(meta, records)))
        artifact.contents = None
    return run


def _records(artifact: ReadArtifact, limits: Limits) -> Iterator[Record]:
    if artifact.stored_id is not None:
        yield from _table_records(artifact.stored_id)
    elif artifact.contents is not None:
        reading = Reading(artifact.meta, artifact.contents, limits)
        for record in reading.records():
            text = (record.member, record.index, record.sha256, record.text)
            artifact.records.append(text)
            yield record
        artifact.skips += reading.skips
        if reading.rejected:
            artifact.reject(*reading.rejected)


def _table_records(artifact_id: int) -> Iterator[Record]:
    records = RawRecord.objects.filter(artifact_id=artifact_id)
    ordered = records.order_by("member", "index")
    for row in ordered.values_list("member", "index", "body", "sha256").iterator():
        yield stored_record(*row)


def uploaded_at(artifact: ReadArtifact) -> datetime | None:
    """Return when the artifact was uploaded, where it is known."""
    return artifact.meta.created_at
