"""What a converter is given: the artifact's own facts, and its records."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, cast

from ingest.artifacts.json_reading import parse
from ingest.artifacts.names import NameParts, parse_name
from ingest.rows import RecordRef, SkipRow

_LONG_AGO = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class ArtifactMeta:
    """Which artifact it is; ``position`` counts within the run, from 0."""

    position: int
    name: str
    created_at: datetime | None = None
    attempt: int = 1
    github_id: int | None = None

    @property
    def parts(self) -> NameParts:
        """The parts of the name."""
        return parse_name(self.name)

    @property
    def age_key(self) -> tuple[datetime, int, int]:
        """Sorts older uploads first."""
        created_at = self.created_at or _LONG_AGO
        return (created_at, self.github_id or 0, self.position)


@dataclass(slots=True)
class Record:
    """One JSON value of a member, its canonical text and the SHA-256 of that, hex."""

    member: str
    index: int
    value: object
    text: str
    sha256: str


class RefusedError(Exception):
    """A record that gives no row; becomes a `SkipRow`."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(f"{reason}: {detail}")
        self.reason = reason
        self.detail = detail


def stored_record(member: str, index: int, text: str, sha256: str) -> Record:
    """Make a record again from its canonical text; raises `BadJsonError`."""
    return Record(member, index, parse(text.encode()).value, text, sha256)


def ref_of(meta: ArtifactMeta, record: Record) -> RecordRef:
    """Return where a record stands."""
    return RecordRef(meta.position, record.member, record.index)


def skip(meta: ArtifactMeta, record: Record, refused: RefusedError) -> SkipRow:
    """Turn a refusal into the row that reports it."""
    return SkipRow(ref_of(meta, record), refused.reason, refused.detail)


def object_of(record: Record) -> dict[str, Any]:
    """Return a record that is an object; raises `RefusedError` for another type."""
    if not isinstance(record.value, dict):
        kind = type(record.value).__name__
        raise RefusedError("wrong_type", f"the record is {kind}, not an object")
    return cast("dict[str, Any]", record.value)
