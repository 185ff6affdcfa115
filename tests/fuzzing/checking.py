"""What must hold of every input: no error, no long time, no lost good row."""

import dataclasses
import io
import math
import signal
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from ingest.artifacts.json_reading import canonical, parse
from ingest.artifacts.members import (
    ArtifactError,
    Contents,
    Limits,
    MemberError,
    MemberSource,
    judge,
    open_zip,
    zip_entries,
)
from ingest.bounds import bounded
from ingest.conversion import (
    ArtifactMeta,
    Reading,
    Record,
    RunConversion,
    reading_order,
)
from ingest.rows import PointRow, Row, SkipRow
from tests.fuzzing.inputs import Case
from tests.fuzzing.sound import GOOD_TPUT

# Seconds of the processor that one input may take: the median takes a few ms.
MOST_S = 5.0
ROOMY = Limits(artifact=8 << 20, member=4 << 20, members=200)
TIGHT = dataclasses.replace(ROOMY, memory=512, record=64 << 10)


class HangError(BaseException):
    """An input took too long; no handler of errors may keep it back."""


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """Raise HangError after so many seconds of processor time; main thread only."""

    def stop(*_signal: object) -> None:
        raise HangError(f"more than {seconds:.0f} s for one input")

    former = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, former)


def check(case: Case) -> Counter[str]:
    """Read a case as the ingestion does; return its rows by type and reason."""
    with within(MOST_S):
        rows = list(rows_of(case))
    found = {
        row.identity.concurrency
        for row in rows
        if isinstance(row, PointRow) and row.metrics.get("tput_per_gpu") == GOOD_TPUT
    }
    lost = case.survivors - found
    skips = [row for row in rows if isinstance(row, SkipRow)]
    assert not lost, f"good rows were lost: {sorted(lost)}, skipped: {skips}"
    for row in rows:
        _assert_sound(row)
    return Counter(getattr(row, "reason", type(row).__name__) for row in rows)


def rows_of(case: Case) -> Iterator[Row]:
    """Yield rows and skips from the bytes of a case's artifacts."""
    limits = TIGHT if case.streams else ROOMY
    metas = [ArtifactMeta(n, name) for n, (name, _) in enumerate(case.artifacts)]
    conversion = RunConversion()
    for meta in reading_order(metas):
        contents = _contents(case.artifacts[meta.position][1], limits)
        if contents is None:
            continue
        for member in contents.members:
            _keep(member)
        reading = Reading(meta, contents, limits)
        yield from map(bounded, conversion.rows(meta, _seen(reading.records())))
        yield from reading.skips
        assert reading.rejected is None or all(reading.rejected)
    for notice in conversion.notices():
        assert "\n" not in notice


def _contents(archive: bytes, limits: Limits) -> Contents | None:
    try:
        return judge(zip_entries(open_zip(io.BytesIO(archive))), limits)
    except ArtifactError:
        return None


def _keep(member: MemberSource) -> None:
    """Read a member's bytes once before they are parsed, as the store does."""
    with suppress(MemberError):
        member.sha256()


def _seen(records: Iterator[Record]) -> Iterator[Record]:
    """Hold each record against what replay would read of it."""
    for record in records:
        parsed = parse(record.text.encode())
        again = canonical(parsed.value, strict=parsed.strict)
        assert again == (record.text, record.sha256)
        yield record


def _assert_sound(row: Row) -> None:
    if isinstance(row, PointRow):
        assert row.identity.concurrency > 0
        assert all(map(math.isfinite, row.metrics.values()))
        assert all(isinstance(value, float) for value in row.metrics.values())
