"""A run's uploads: those of a bundle, their bytes kept, joined with those stored.

Uploads of one run stand in one order, here and in replay: by time, then by GitHub's
id; one that has neither is newer than all that had come before it.
"""

from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime

from dashboard.models import Artifact, Run
from dashboard.vocabulary.trace_files import is_trace
from ingest.artifacts.bundles import ArtifactSource, Bundle, attempt_of, attempt_starts
from ingest.artifacts.members import (
    ArtifactError,
    Contents,
    ExpiredError,
    Limits,
    MemberError,
    MemberSource,
    artifact_digest,
)
from ingest.artifacts.names import READ_KINDS, Kind, NameParts
from ingest.conversion import LONG_AGO, ArtifactMeta, Record
from ingest.raw_store import keep
from ingest.rows import RecordRef, SkipRow

# Logs and what servers export are kept when small enough to be of use; the rest is
# listed. The requests of a replay are kept whatever their size.
LISTED_MEMBER_BYTES = 64 << 20
NO_BYTES = "no_bytes"

Starts = Mapping[int, datetime | None]
StoredText = tuple[str, int, str, str]  # member, index, sha256, canonical text


@dataclass(slots=True)
class ReadArtifact:
    """One artifact as it was read.

    ``stored_id`` is set where only tables hold it; ``known_id`` where its bytes are
    here and tables hold records of it too. ``records`` are those to be stored,
    ``unconverted`` all that still give rows.
    """

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
    unconverted: deque[Record] = field(default_factory=deque)
    skips: list[SkipRow] = field(default_factory=list)
    stored_id: int | None = None
    known_id: int | None = None

    @property
    def parts(self) -> NameParts:
        """The parts of the artifact's name."""
        return self.meta.parts

    @property
    def is_fetched(self) -> bool:
        """Whether something of it can be used."""
        return self.state == Artifact.State.FETCHED

    @property
    def came_with_bytes(self) -> bool:
        """Whether the bundle holds bytes of it, be they readable or not."""
        refused = self.state == Artifact.State.REJECTED
        return bool(self.sha256) or (refused and not self.reason.startswith(NO_BYTES))

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


def take_artifact(
    meta: ArtifactMeta, source: ArtifactSource, limits: Limits
) -> ReadArtifact:
    """Keep the bytes of an artifact of a bundle; nothing of it is parsed yet."""
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
        is_wanted = is_read or _is_requests(artifact, member.name)
        if not is_wanted and member.size > LISTED_MEMBER_BYTES:
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


def _is_requests(artifact: ReadArtifact, member: str) -> bool:
    """Tell whether a member holds the requests of a replay, one per line."""
    return artifact.parts.kind == Kind.AGENTIC and is_trace(member)


def _keep_member(member: MemberSource) -> str:
    digest = member.sha256()
    with member.open() as stream:
        keep(stream, digest, member.size)
    return digest


def from_table(stored: Artifact, position: int) -> ReadArtifact:
    """Return an artifact of which only tables speak."""
    meta = ArtifactMeta(
        position=position,
        name=stored.name,
        created_at=stored.uploaded_at,
        attempt=stored.attempt,
        github_id=stored.github_artifact_id,
        arrival=stored.pk,
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


def known_starts(bundle: Bundle, run: Run | None) -> Starts:
    """Return when each attempt began: a bundle may know fewer than the tables."""
    starts = attempt_starts(bundle.attempts)
    if run is not None:
        stored = dict(run.attempts.values_list("attempt", "started_at"))
        starts = stored | {n: at or stored.get(n) for n, at in starts.items()}
    return starts


@dataclass(slots=True)
class Uploads:
    """Artifacts by position while those of a bundle and of tables are joined.

    ``waiting`` are stored ones that could not be used and have no id; a usable one of
    their name takes their place. ``refused`` says which bytes do not count.
    """

    artifacts: list[ReadArtifact]
    refused: list[SkipRow] = field(default_factory=list)
    waiting: list[Artifact] = field(default_factory=list)

    def join_stored(self, stored: Iterable[Artifact], starts: Starts) -> None:
        """Let tables speak where the bundle lacks an upload, or has less of it."""
        places = _Places(self.artifacts)
        for known in stored:
            place = places.of(known)
            if place is not None:
                self._meet(place, known)
            elif known.github_artifact_id is None and _is_useless(known):
                self.waiting.append(known)
            else:
                self._add(known)
        for artifact in self.artifacts:
            artifact.meta = _placed_in_time(artifact.meta, starts)

    def settle_order(self) -> None:
        """Give uploads that tell no moment their place, by the order of arrival.

        That is the order of the table's ids, in which uploads with an id of GitHub's
        come before the others of the same ingestion.
        """
        newest = LONG_AGO
        for artifact in sorted(self.artifacts, key=_arrival):
            moment = artifact.meta.moment
            if moment is None:
                artifact.meta = replace(artifact.meta, follows=newest)
            else:
                newest = max(newest, moment)

    def settle_waiting(self) -> list[int]:
        """Keep unusable uploads whose name nothing replaces; return ids of others."""
        fresh = [a for a in self.artifacts if a.is_fetched and a.stored_id is None]
        usable = {artifact.meta.name for artifact in fresh}
        for known in self.waiting:
            if known.name not in usable:
                self._add(known)
        return [a.pk for a in self.waiting if a.name in usable]

    def _add(self, stored: Artifact) -> None:
        self.artifacts.append(from_table(stored, len(self.artifacts)))

    def _meet(self, place: int, stored: Artifact) -> None:
        here = self.artifacts[place]
        has_records = stored.state == Artifact.State.FETCHED
        if has_records and not _holds_as_much(here, stored):
            kept = self.artifacts[place] = from_table(stored, place)
            kept.expired = here.expired or stored.expired
            kept.expires_at = here.expires_at or stored.expires_at
            created_at = stored.uploaded_at or here.meta.created_at
            kept.meta = replace(kept.meta, created_at=created_at)
            if here.came_with_bytes:
                self.refused.append(_other_bytes(here.meta, stored))
            return
        if has_records:
            here.known_id = stored.pk
        here.size = stored.size_bytes if here.size is None else here.size
        here.expires_at = here.expires_at or stored.expires_at
        here.meta = replace(
            here.meta,
            created_at=here.meta.created_at or stored.uploaded_at,
            github_id=here.meta.github_id or stored.github_artifact_id,
            attempt=stored.attempt,
            arrival=stored.pk,
        )


class _Places:
    """Where a bundle's artifacts stand, by what makes two uploads the same."""

    def __init__(self, artifacts: list[ReadArtifact]) -> None:
        self._artifacts = artifacts
        ids = ((a.meta.github_id, i) for i, a in enumerate(artifacts))
        self._by_id = {github_id: i for github_id, i in ids if github_id is not None}
        self._by_bytes = {(a.meta.name, a.sha256): i for i, a in enumerate(artifacts)}

    def of(self, stored: Artifact) -> int | None:
        """Return the position of a stored upload: by its id, else name and bytes."""
        github_id = stored.github_artifact_id
        if github_id in self._by_id:
            return self._by_id[github_id]
        twin = self._by_bytes.get((stored.name, stored.sha256))
        if twin is None:
            return None
        here = self._artifacts[twin].meta.github_id
        if stored.sha256:
            # Equal bytes under two ids are two uploads.
            return twin if here is None or github_id is None else None
        return twin if here is None and github_id is None else None


def _arrival(artifact: ReadArtifact) -> tuple[int, bool, int]:
    meta = artifact.meta
    return (meta.arrival, meta.github_id is None, meta.position)


def _is_useless(stored: Artifact) -> bool:
    return stored.state != Artifact.State.FETCHED and not stored.records.exists()


def _holds_as_much(here: ReadArtifact, stored: Artifact) -> bool:
    """Tell whether an upload came with everything that was stored of it.

    What is behind an id never changes; a larger limit may show more of it.
    """
    if not here.sha256 or here.meta.name != stored.name:
        return False
    if here.sha256 == stored.sha256:
        return True
    kept = {(name, sha) for name, _, sha in stored.members if sha}
    return kept <= {(name, sha) for name, _, sha in here.members}


def _other_bytes(meta: ArtifactMeta, stored: Artifact) -> SkipRow:
    detail = (
        f"{meta.name}: other or unreadable bytes under the id "
        f"{stored.github_artifact_id}; those stored earlier count"
    )
    return SkipRow(RecordRef(-1, meta.name, 0), "changed_artifact", detail)


def _placed_in_time(meta: ArtifactMeta, starts: Starts) -> ArtifactMeta:
    """Give an upload its attempt, where the time of it and of all attempts is known."""
    if meta.created_at is None or None in starts.values():
        return meta
    return replace(meta, attempt=attempt_of(meta.created_at, starts))
