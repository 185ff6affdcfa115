"""What a converter is given: the artifact's own facts, and its records."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, cast

from ingest.artifacts.json_reading import parse
from ingest.artifacts.names import NameParts, parse_name
from ingest.rows import RecordRef, SkipRow

UNSEEN = 2**63 - 1
Moment = tuple[datetime, int]
LONG_AGO: Moment = (datetime.min.replace(tzinfo=UTC), 0)


@dataclass(frozen=True, slots=True)
class ArtifactMeta:
    """Which artifact it is; ``position`` counts within the run, from 0.

    ``arrival`` is its place among those stored, `UNSEEN` before it is one of them.
    ``follows`` is the newest moment of those that had arrived before it.
    """

    position: int
    name: str
    created_at: datetime | None = None
    attempt: int = 1
    github_id: int | None = None
    arrival: int = UNSEEN
    follows: Moment = LONG_AGO

    @property
    def parts(self) -> NameParts:
        """The parts of the name."""
        return parse_name(self.name)

    @property
    def moment(self) -> Moment | None:
        """When it was uploaded by GitHub's time and id, None where neither is told."""
        if self.created_at is None and self.github_id is None:
            return None
        return (self.created_at or LONG_AGO[0], self.github_id or 0)

    @property
    def age_key(self) -> tuple[Moment, bool, int, int]:
        """Sorts older uploads first; one of no moment is newer than all before it."""
        moment = self.moment
        is_unknown = moment is None
        return (moment or self.follows, is_unknown, self.arrival, self.position)


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
