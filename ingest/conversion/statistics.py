"""Job statistics and reuse metadata to rows."""

from collections.abc import Iterator

from ingest.conversion.records import ArtifactMeta, Record, RefusedError, ref_of, skip
from ingest.normalize import hardware_base
from ingest.rows import ReuseRow, RunStatRow, SkipRow
from ingest.schemas.fields import WrongTypeError, read
from ingest.schemas.runs import ReuseSource, RunStat


def run_stat_rows(meta: ArtifactMeta, record: Record) -> Iterator[RunStatRow | SkipRow]:
    """Turn job statistics into one row per cluster or hardware key.

    ``hardware`` is ``""`` where the key names none that is known. The producer writes
    a bare ``null`` where it could not ask for the jobs.
    """
    if record.value is None:
        detail = "the producer could not list the jobs: the file says null"
        yield skip(meta, record, RefusedError("empty_run_stats", detail))
        return
    if not isinstance(record.value, dict):
        detail = f"the record is {type(record.value).__name__}, not an object"
        yield skip(meta, record, RefusedError("bad_run_stats", detail))
        return
    for key, value in record.value.items():
        try:
            stat = read(RunStat, value)
        except WrongTypeError as error:
            refused = RefusedError("bad_run_stats", f"{key}: {error}")
            yield skip(meta, record, refused)
        else:
            yield RunStatRow(
                ref=ref_of(meta, record),
                raw_key=key,
                hardware=hardware_base(key) or "",
                successes=stat.n_success,
                total=stat.total,
            )


def reuse_row(meta: ArtifactMeta, record: Record) -> ReuseRow | SkipRow:
    """Turn reuse metadata into the link to the run that measured."""
    try:
        reuse = read(ReuseSource, record.value)
    except WrongTypeError as error:
        return skip(meta, record, RefusedError("bad_reuse", str(error)))
    return ReuseRow(ref_of(meta, record), reuse.source_run_id)
