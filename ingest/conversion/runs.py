"""All artifacts of one run to rows: what repeats what, and which of two counts."""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from ingest.artifacts.json_reading import is_storable, storable
from ingest.artifacts.names import READ_KINDS, Kind, kind_of
from ingest.conversion.changelog import changelog_rows
from ingest.conversion.evals import (
    META_ENV,
    aggregate_eval,
    artifact_evals,
    base_name,
    source_parts,
    time_in,
)
from ingest.conversion.points import point_row
from ingest.conversion.published import PublishedConversion
from ingest.conversion.reading import inner_name, reading_order
from ingest.conversion.records import ArtifactMeta, Record
from ingest.conversion.statistics import reuse_row, run_stat_rows
from ingest.conversion.unknown_fields import UnknownFields
from ingest.rows import EvalRow, Row, SkipRow

Rows = Iterator[Row]


class RunConversion:
    """Converts the artifacts of one run, given in `reading_order`.

    - A record of an aggregate that an artifact of its own also holds gives no row.
    - An eval of the aggregate whose own artifact was read gives no row.
    - Of several aggregates the newest counts; one of an earlier attempt adds what the
      newer ones lack, since a repeated job may have been the only one to report.
    - What was published counts where no artifact of the run says anything.
    - Of several changelogs, job statistics and reuse notes the newest usable counts.
    """

    def __init__(self) -> None:
        self._seen: set[str] = set()
        self._eval_files: set[tuple[str, str]] = set()
        self._eval_values: set[tuple[object, ...]] = set()
        self._attempts: dict[Kind, set[int]] = {}
        self._unknown = UnknownFields()
        self._published = PublishedConversion()

    def notices(self) -> list[str]:
        """Return lines about the records so far that concern no single one."""
        return self._unknown.notices()

    def rows(self, meta: ArtifactMeta, records: Iterable[Record]) -> Rows:
        """Yield the rows of an artifact's records, given by member and index."""
        records = map(self._storable, records)
        if kind_of(meta.name) == Kind.PUBLISHED:
            yield from self._published.rows(meta, records)
            return
        for row in self._of_kind(kind_of(meta.name), meta, records):
            self._published.note(row)
            yield row

    def _of_kind(
        self, kind: Kind, meta: ArtifactMeta, records: Iterable[Record]
    ) -> Rows:
        if kind in (Kind.POINT, Kind.POINT_AGENTIC):
            yield from self._points(meta, records)
        elif kind == Kind.EVAL:
            yield from self._evals(meta, list(records))
        elif kind == Kind.REUSED:
            yield from self._reused(meta, list(records))
        elif kind in (Kind.RESULTS, Kind.EVAL_RESULTS):
            yield from self._aggregate(kind, meta, records)
        elif kind in READ_KINDS:
            yield from self._newest(kind, meta, list(records))

    def _storable(self, record: Record) -> Record:
        """Return a record with strings that tables can hold; its text stays."""
        if is_storable(record.text):
            return record
        return replace(record, value=storable(record.value))

    def _points(self, meta: ArtifactMeta, records: Iterable[Record]) -> Rows:
        for record in records:
            self._seen.add(record.sha256)
            self._unknown.note(record.value)
            yield point_row(meta, record)

    def _evals(self, meta: ArtifactMeta, records: list[Record]) -> Rows:
        files = {base_name(record.member) for record in records}
        if META_ENV in files:
            self._eval_files |= {(meta.name, file) for file in files}
        for row in artifact_evals(meta, records):
            if isinstance(row, EvalRow):
                self._eval_values |= _sights(row)
            yield row

    def _aggregate(
        self, kind: Kind, meta: ArtifactMeta, records: Iterable[Record]
    ) -> Rows:
        attempts = self._attempts.get(kind, set())
        if meta.attempt in attempts:
            # Older and of the same attempt: read to the end, so that it is stored.
            for _ in records:
                pass
            return
        for record in records:
            if meta.attempt not in attempts:
                attempts.add(meta.attempt)
                self._attempts[kind] = attempts
            if record.sha256 in self._seen:
                continue
            self._seen.add(record.sha256)
            self._unknown.note(record.value)
            if kind == Kind.RESULTS:
                yield point_row(meta, record)
            else:
                yield from self._aggregate_eval(meta, record)

    def _aggregate_eval(self, meta: ArtifactMeta, record: Record) -> Rows:
        if not self._has_own_artifact(record):
            row = aggregate_eval(meta, record)
            if isinstance(row, SkipRow) or not self._eval_values & _sights(row):
                yield row

    def _has_own_artifact(self, record: Record) -> bool:
        source = record.value.get("source") if isinstance(record.value, dict) else None
        if not isinstance(source, str):
            return False
        return (source_parts(source).name, base_name(source)) in self._eval_files

    def _reused(self, meta: ArtifactMeta, records: list[Record]) -> Rows:
        """Convert an artifact that holds folders of a whole run's artifacts."""
        folders: dict[str, list[Record]] = {}
        for record in records:
            folders.setdefault(inner_name(record.member), []).append(record)
        inner = [replace(meta, name=name) for name in sorted(folders)]
        for artifact in reading_order(inner):
            yield from self.rows(artifact, folders[artifact.name])

    def _newest(self, kind: Kind, meta: ArtifactMeta, records: list[Record]) -> Rows:
        if self._attempts.get(kind):
            return
        rows = [row for record in records for row in _run_rows(kind, meta, record)]
        if rows and not all(isinstance(row, SkipRow) for row in rows):
            self._attempts[kind] = {meta.attempt}
        yield from rows


def _run_rows(kind: Kind, meta: ArtifactMeta, record: Record) -> Rows:
    if kind == Kind.CHANGELOG:
        yield from changelog_rows(meta, record)
    elif kind == Kind.RUN_STATS:
        yield from run_stat_rows(meta, record)
    else:
        yield reuse_row(meta, record)


def _sights(row: EvalRow) -> set[tuple[object, ...]]:
    """Return what two reports of one eval result have in common.

    An aggregate knows no pipeline or context parallel sizes, so that its deployment
    may be another; a file's name with a time in it tells the result as well.
    """
    who = row.identity
    scores = (row.task, row.strict, row.flexible, row.n, who.concurrency)
    served = (who.model, who.precision, who.hardware, who.framework)
    sights: set[tuple[object, ...]] = {(*served, who.deployment, *scores)}
    if time_in(row.result_file) is not None:
        sights.add((*served, row.result_file, *scores))
    return sights
