"""From members to records: which artifacts and members are read, and how."""

from collections.abc import Iterator
from pathlib import PurePosixPath

from dashboard.vocabulary import provenance
from ingest.artifacts.bundles import Bundle, attempt_of, attempt_starts
from ingest.artifacts.json_reading import (
    BadJsonError,
    TooLargeError,
    canonical,
    parse,
)
from ingest.artifacts.members import Contents, Limits, MemberError, MemberSource
from ingest.artifacts.names import READ_KINDS, Kind, kind_of
from ingest.artifacts.streaming import starts_with_array, stream_records
from ingest.conversion.records import ArtifactMeta, Record
from ingest.rows import RecordRef, SkipRow

# Artifacts of single points come first, since aggregates only repeat them.
_RANKS = {
    Kind.POINT: 0,
    Kind.POINT_AGENTIC: 0,
    Kind.EVAL: 0,
    Kind.REUSED: 1,
    # What artifacts hold is known by then.
    Kind.PUBLISHED: 3,
}
_AGGREGATE_RANK = 2
_INNER_KINDS = READ_KINDS - {Kind.PUBLISHED}
_HISTORY_RANK = 4


def artifact_metas(bundle: Bundle) -> list[ArtifactMeta]:
    """Return what is known of each artifact of a bundle, in the bundle's order."""
    starts = attempt_starts(bundle.attempts)
    return [
        ArtifactMeta(
            position=position,
            name=source.name,
            created_at=source.created_at,
            attempt=attempt_of(source.created_at, starts),
            github_id=source.github_id,
        )
        for position, source in enumerate(bundle.artifacts)
    ]


def reading_order(metas: list[ArtifactMeta]) -> list[ArtifactMeta]:
    """Return the artifacts that hold records, in the order of conversion.

    Those of single points oldest first, then aggregates and the rest newest first.
    """
    readable = [meta for meta in metas if kind_of(meta.name) in READ_KINDS]
    newest_first = sorted(readable, key=lambda meta: meta.age_key, reverse=True)
    points = [meta for meta in newest_first if _rank(meta) == 0]
    return points[::-1] + sorted(
        (meta for meta in newest_first if _rank(meta) > 0), key=_rank
    )


def is_own_record(artifact: str, member: str) -> bool:
    """Tell whether a record is its job's own, and not what an aggregate says of it."""
    kind = kind_of(artifact)
    if kind == Kind.REUSED:
        return _RANKS.get(kind_of(inner_name(member))) == 0
    return _RANKS.get(kind) == 0


def inner_name(member: str) -> str:
    """Return the artifact that a member of reused artifacts belongs to, else ``""``."""
    folders = PurePosixPath(member).parts[:-1]
    return next((name for name in folders if kind_of(name) in _INNER_KINDS), "")


def _rank(meta: ArtifactMeta) -> int:
    if meta.name == provenance.HISTORY:
        return _HISTORY_RANK
    return _RANKS.get(kind_of(meta.name), _AGGREGATE_RANK)


class Reading:
    """The records of one artifact, read lazily and once.

    ``skips`` and ``rejected`` are complete when `records` is exhausted.
    """

    def __init__(self, meta: ArtifactMeta, contents: Contents, limits: Limits) -> None:
        self.meta = meta
        self.skips = [
            SkipRow(RecordRef(meta.position, r.member, 0), r.reason, r.detail)
            for r in contents.refused
        ]
        self._limits = limits
        self._members = [
            member for member in contents.members if is_read(meta.name, member.name)
        ]
        self._found = False

    @property
    def rejected(self) -> tuple[str, str] | None:
        """Why nothing of the artifact could be read, as (word, reason), if so."""
        if self._found:
            return None
        if self.skips:
            first = self.skips[0]
            return (first.reason, f"{first.ref.member}: {first.detail}")
        return None if self._members else ("no_json", "it holds no JSON to read")

    def records(self) -> Iterator[Record]:
        """Yield the records by member and index; faults go to ``skips``."""
        for member in self._members:
            yield from self._member_records(member)

    def _member_records(self, member: MemberSource) -> Iterator[Record]:
        index = 0
        is_sound = True
        try:
            for value, strict in _values(member, self._limits):
                record = self._record(member, index, value, strict=strict)
                is_sound = is_sound and record is not None
                if record is not None:
                    self._found = True
                    yield record
                index += 1
        except (BadJsonError, MemberError) as error:
            self._skip(member, index, error)
        else:
            # An empty array is a sound answer: nothing was measured.
            self._found = self._found or is_sound

    def _record(
        self, member: MemberSource, index: int, value: object, *, strict: bool
    ) -> Record | None:
        """Return a record; one that is nested too deeply takes no other with it."""
        try:
            text, sha256 = canonical(value, strict=strict)
        except BadJsonError as error:
            self._skip(member, index, error)
            return None
        return Record(member.name, index, value, text, sha256)

    def _skip(
        self, member: MemberSource, index: int, error: BadJsonError | MemberError
    ) -> None:
        ref = RecordRef(self.meta.position, member.name, index)
        self.skips.append(SkipRow(ref, _reason(error), str(error)))


def _reason(error: BadJsonError | MemberError) -> str:
    if isinstance(error, TooLargeError):
        return "member_too_large"
    return "bad_json" if isinstance(error, BadJsonError) else "bad_member"


def is_read(artifact: str, member: str) -> bool:
    """Tell whether a member of an artifact holds records."""
    kind = kind_of(artifact)
    path = PurePosixPath(member)
    if kind == Kind.REUSED:
        inner = inner_name(member)
        return inner != "" and is_read(inner, path.name)
    if path.suffix.lower() != ".json" or kind not in READ_KINDS:
        return False
    if kind == Kind.EVAL:
        return path.name == "meta_env.json" or path.name.startswith("results")
    return True


def _values(member: MemberSource, limits: Limits) -> Iterator[tuple[object, bool]]:
    """Yield values with whether the strict parser took them."""
    if member.size > limits.memory:
        yield from ((value, False) for value in _streamed(member, limits))
        return
    parsed = parse(member.read_bytes())
    if not isinstance(parsed.value, list):
        yield parsed.value, parsed.strict
        return
    values = parsed.value
    values.reverse()
    while values:
        # Taken off one by one, so that a large aggregate shrinks as it is stored.
        yield values.pop(), parsed.strict


def _streamed(member: MemberSource, limits: Limits) -> Iterator[object]:
    with member.open() as stream:
        is_array = starts_with_array(stream)
    if not is_array:
        raise TooLargeError(f"{member.size} bytes and not an array of records")
    with member.open() as stream:
        yield from stream_records(stream, limits.record)
