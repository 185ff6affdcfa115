"""A run's artifacts read: bytes kept first, then records, nothing in tables.

Records are converted to rows step by step, which the caller does when it likes.

What an earlier ingestion stored takes part as well, so that an upload that has
expired since keeps its place.
"""

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import cast

from dashboard.models import Artifact, RawRecord, Run
from ingest.artifacts.bundles import Bundle
from ingest.artifacts.members import Limits
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
from ingest.rows import RecordRef, Row, SkipRow
from ingest.uploads import (
    ReadArtifact,
    Uploads,
    from_table,
    known_starts,
    take_artifact,
)


@dataclass(slots=True)
class ReadRun:
    """A run's artifacts by position, and the rows that their records give.

    ``refused`` are skips of no stored artifact; ``replaced`` ids of stored ones that
    go; ``text`` is how many characters the records have that were read from bytes.
    ``rows`` and ``notices`` are complete once `convert` was called.
    """

    artifacts: list[ReadArtifact]
    rows: list[Row] = field(default_factory=list)
    refused: list[SkipRow] = field(default_factory=list)
    replaced: list[int] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)
    text: int = 0
    converting: Iterator[None] = field(init=False)

    def __post_init__(self) -> None:
        """Begin the conversion: each step of it gives one row."""
        self.converting = _converting(self.artifacts, self.rows, self.notices)

    def convert(self) -> None:
        """Convert what is not converted yet."""
        for _ in self.converting:
            pass

    def rejected_names(self) -> list[str]:
        """Return the names of artifacts of which nothing could be used."""
        found = self.artifacts
        return [a.meta.name for a in found if a.state == Artifact.State.REJECTED]

    def skips(self) -> Iterator[SkipRow]:
        """Yield what was refused while reading."""
        yield from self.refused
        for artifact in self.artifacts:
            yield from artifact.skips


def read_run(bundle: Bundle, limits: Limits, progress: Progress = silent) -> ReadRun:
    """Keep the bytes of every artifact, then read records; `convert` is to follow."""
    uploads = _bundled(bundle, limits, progress)
    stored_run = _stored_run(bundle)
    stored = stored_run.artifacts.order_by("pk") if stored_run else []
    uploads.join_stored(stored, known_starts(bundle, stored_run))
    uploads.settle_order()
    run = ReadRun(uploads.artifacts, refused=uploads.refused)
    _read(run, limits, progress)
    run.replaced = uploads.settle_waiting()
    return run


def read_stored(run: Run) -> ReadRun:
    """Read a run again from its stored records alone."""
    stored = enumerate(run.artifacts.order_by("pk"))
    uploads = Uploads([from_table(artifact, place) for place, artifact in stored])
    uploads.settle_order()
    reading = ReadRun(uploads.artifacts)
    _read(reading, Limits(), silent)
    reading.convert()
    return reading


def _bundled(bundle: Bundle, limits: Limits, progress: Progress) -> Uploads:
    """Take every upload of a bundle once, however often it is listed."""
    uploads = Uploads([])
    metas = artifact_metas(bundle)
    seen: dict[object, str] = {}
    for done, (meta, source) in enumerate(zip(metas, bundle.artifacts, strict=True)):
        progress("keeping artifacts", done, len(metas))
        placed = replace(meta, position=len(uploads.artifacts))
        artifact = take_artifact(placed, source, limits)
        first = seen.setdefault(_natural_key(artifact), meta.name)
        if len(seen) > len(uploads.artifacts):
            uploads.artifacts.append(artifact)
        elif first != meta.name:
            uploads.refused.append(_repeated(meta, first))
    return uploads


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


def _read(run: ReadRun, limits: Limits, progress: Progress) -> None:
    order = _reading_order(run.artifacts)
    for done, artifact in enumerate(order):
        progress("reading", done, len(order))
        artifact.unconverted.extend(_records(run, artifact, limits))
        artifact.contents = None


def _reading_order(artifacts: Sequence[ReadArtifact]) -> list[ReadArtifact]:
    order = reading_order([artifact.meta for artifact in artifacts])
    return [artifacts[meta.position] for meta in order]


def _converting(
    artifacts: Sequence[ReadArtifact], rows: list[Row], notices: list[str]
) -> Iterator[None]:
    """Convert records to rows, one row with each step; records go as they are used."""
    conversion = RunConversion()
    for artifact in _reading_order(artifacts):
        records = _taken(artifact.unconverted)
        for row in conversion.rows(artifact.meta, records):
            rows.append(bounded(row))
            yield
    notices += conversion.notices()


def _taken(records: deque[Record]) -> Iterator[Record]:
    while records:
        yield records.popleft()


def _records(run: ReadRun, artifact: ReadArtifact, limits: Limits) -> Iterator[Record]:
    """Yield an artifact's records: from its bytes, and what only tables hold of it."""
    if artifact.stored_id is not None:
        yield from _table_records(artifact.stored_id)
    if artifact.contents is None:
        return
    reading = Reading(artifact.meta, artifact.contents, limits)
    yield from _within(run, artifact, reading.records(), limits.run)
    artifact.skips += reading.skips
    if artifact.skips and artifact.known_id is not None:
        # Less can be read than once: what was stored still counts.
        seen = {(member, index) for member, index, _, _ in artifact.records}
        for record in _table_records(artifact.known_id):
            if (record.member, record.index) not in seen:
                yield record
    elif reading.rejected:
        artifact.reject(*reading.rejected)


def _within(
    run: ReadRun, artifact: ReadArtifact, records: Iterator[Record], allowed: int
) -> Iterator[Record]:
    """Yield records, noting their texts, until a run has more than may be held."""
    for record in records:
        run.text += len(record.text)
        if run.text > allowed:
            ref = RecordRef(artifact.meta.position, record.member, record.index)
            detail = f"the records of the run are longer than {allowed} bytes"
            artifact.skips.append(SkipRow(ref, "run_too_large", detail))
            if not artifact.records:
                artifact.reject("run_too_large", f"{record.member}: {detail}")
            return
        text = (record.member, record.index, record.sha256, record.text)
        artifact.records.append(text)
        yield record


def _table_records(artifact_id: int) -> Iterator[Record]:
    records = RawRecord.objects.filter(artifact_id=artifact_id)
    ordered = records.order_by("member", "index")
    for row in ordered.values_list("member", "index", "body", "sha256").iterator():
        yield stored_record(*row)
