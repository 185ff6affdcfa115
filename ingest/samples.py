"""Samples of evals from the raw store into their table, a line at a time.

They are no records: a run has hundreds of megabytes of them. What an ingestion and a
replay store is read from the kept bytes, each file once.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import BinaryIO

from django.conf import settings

from dashboard.models import EvalResult, EvalSample, Run, Skip
from ingest.artifacts.members import Limits
from ingest.artifacts.names import READ_KINDS
from ingest.conversion.records import RefusedError
from ingest.conversion.samples import SampleFile, lines, sample_file, sample_of
from ingest.mapping import MappedEval
from ingest.raw_store import kept_file
from ingest.reading import ReadRun
from ingest.rows import EvalRow, RecordRef, SkipRow
from ingest.store import Places
from ingest.tables import SAMPLES
from ingest.upserts import Values, insert

# Of one file so many lines are named; of the others it is said how many there are.
NAMED_LINES = 20
OF_A_FILE = ("bad_sample", "duplicate_sample", "too_many_samples")


@dataclass(frozen=True, slots=True)
class Wanted:
    """An eval result and the file that holds its samples, by its bytes' SHA-256."""

    eval_id: int
    position: int
    member: str
    sha256: str


@dataclass(slots=True)
class StoredSamples:
    """How many rows were written and removed, and what was not taken."""

    new: int = 0
    removed: int = 0
    skips: list[SkipRow] = field(default_factory=list)


def store_samples(
    run: Run, evals: Sequence[tuple[MappedEval, int]], reading: ReadRun, places: Places
) -> StoredSamples:
    """Leave each eval with the samples of its own results file.

    1. Find the file of each eval among the members of its artifact; files of no eval
    are told. 2. What was stored from the same bytes stays untouched. 3. What belongs
    to another file goes; what is new is copied, up to so many documents of a run.
    """
    done = StoredSamples()
    wanted = list(_wanted(evals, reading, done.skips))
    sources = dict(
        EvalResult.objects.filter(run=run).values_list("pk", "samples_source")
    )
    limit = settings.FRONTIERBOARD_MAX_SAMPLE_DOCUMENTS
    stays = [w for w in wanted if _is_stored(sources[w.eval_id], w, limit)]
    done.skips += _known_skips(run, stays, places)
    fresh = [w for w in wanted if w not in stays]
    stale = {pk for pk, source in sources.items() if source}
    _forget(stale - {w.eval_id for w in stays}, done)
    left = limit - (_documents(stays) if fresh else 0)
    for file in fresh:
        left -= _copy(file, left, limit, done)
    return done


def _wanted(
    evals: Sequence[tuple[MappedEval, int]], reading: ReadRun, skips: list[SkipRow]
) -> Iterator[Wanted]:
    """Yield the samples file of each eval, in the order of artifacts and members."""
    of_folder: dict[tuple[int, str], list[tuple[EvalRow, int]]] = {}
    for e, pk in evals:
        of_folder.setdefault(_folder(e.row.ref), []).append((e.row, pk))
    for artifact in reading.artifacts:
        if artifact.parts.kind not in READ_KINDS:
            continue
        for member, _, sha256 in sorted(artifact.members):
            file = sample_file(member)
            if file is None or not sha256:
                continue
            ref = RecordRef(artifact.meta.position, member, 0)
            own = [
                pk for row, pk in of_folder.get(_folder(ref), ()) if _is_of(file, row)
            ]
            if len(own) == 1:
                yield Wanted(own[0], ref.artifact, member, sha256)
            else:
                detail = (
                    "no stored result has the task, concurrency and time of its name"
                )
                skips.append(SkipRow(ref, "unmatched_samples", detail))


def _folder(ref: RecordRef) -> tuple[int, str]:
    return ref.artifact, str(PurePosixPath(ref.member).parent)


def _is_of(file: SampleFile, row: EvalRow) -> bool:
    """Tell whether a samples file was written with a results file."""
    same_time = None in (file.time, row.measured_at) or file.time == row.measured_at
    concurrency = row.identity.concurrency or None
    same_place = file.concurrency in (None, concurrency)
    return file.task == row.task and same_time and same_place


def _is_stored(source: str, wanted: Wanted, limit: int) -> bool:
    return source in (wanted.sha256, _source(wanted, limit, is_cut=True))


def _source(wanted: Wanted, limit: int, *, is_cut: bool) -> str:
    """Return from what samples were stored; what a limit cut is read with another."""
    return f"{wanted.sha256}:{limit}" if is_cut else wanted.sha256


def _known_skips(
    run: Run, stays: Iterable[Wanted], places: Places
) -> Iterator[SkipRow]:
    """Yield again what was not taken of files that are not read again."""
    files = {(places.artifacts[w.position], w.member): w.position for w in stays}
    found = Skip.objects.filter(run=run, reason__in=OF_A_FILE) if files else ()
    for skip in found:
        position = files.get((skip.artifact_id or 0, skip.member))
        if position is not None:
            ref = RecordRef(position, skip.member, skip.index)
            yield SkipRow(ref, skip.reason, skip.detail)


def _forget(ids: set[int], done: StoredSamples) -> None:
    if ids:
        done.removed += EvalSample.objects.filter(eval__in=ids).delete()[0]
        EvalResult.objects.filter(pk__in=ids).update(
            samples_source="", samples_forgotten_at=None
        )


def _documents(stays: Iterable[Wanted]) -> int:
    """Count the documents that are stored already, each once per eval."""
    found = EvalSample.objects.filter(eval__in=[w.eval_id for w in stays])
    return found.values("eval", "doc_id").distinct().count()


def _copy(wanted: Wanted, left: int, limit: int, done: StoredSamples) -> int:
    """Copy one file into the table; return how many documents it had."""
    stream = kept_file(wanted.sha256)
    if stream is None:
        ref = RecordRef(wanted.position, wanted.member, 0)
        done.skips.append(SkipRow(ref, "no_bytes", "the samples were not kept"))
        return 0
    with stream:
        taken = _Samples(wanted, stream, left)
        done.new += insert(SAMPLES, taken.rows()).new
    if taken.is_cut:
        taken.refuse(0, "too_many_samples", f"{limit} documents of a run are stored")
    done.skips += taken.told()
    source = _source(wanted, limit, is_cut=taken.is_cut)
    EvalResult.objects.filter(pk=wanted.eval_id).update(
        samples_source=source, samples_forgotten_at=None
    )
    return len(taken.documents)


class _Samples:
    """Rows of one file, and what was met on the way: complete once they are read."""

    def __init__(self, wanted: Wanted, stream: BinaryIO, left: int) -> None:
        self.documents: set[int] = set()
        self.is_cut = False
        self._wanted = wanted
        self._stream = stream
        self._left = left
        self._seen: set[tuple[int, str]] = set()
        self._refused: dict[str, list[SkipRow]] = {}
        self._counts: dict[str, int] = {}

    def rows(self) -> Iterator[Values]:
        longest = Limits().record
        for number, line in lines(self._stream, longest):
            try:
                if line is None:
                    text = f"longer than {longest} bytes"
                    raise RefusedError("bad_sample", text)  # noqa: TRY301
                sample = sample_of(line)
            except RefusedError as error:
                self.refuse(number, error.reason, error.detail)
                continue
            if self._is_taken(number, sample.doc_id, sample.filter):
                yield (self._wanted.eval_id, *sample)

    def _is_taken(self, number: int, doc_id: int, name: str) -> bool:
        if doc_id not in self.documents and len(self.documents) >= self._left:
            self.is_cut = True
            return False
        if (doc_id, name) in self._seen:
            text = f"document {doc_id} {name} was there before: the first one counts"
            self.refuse(number, "duplicate_sample", text)
            return False
        self.documents.add(doc_id)
        self._seen.add((doc_id, name))
        return True

    def refuse(self, number: int, reason: str, detail: str) -> None:
        """Note a line that is not taken, the first ones of a reason by number."""
        self._counts[reason] = self._counts.get(reason, 0) + 1
        if self._counts[reason] <= NAMED_LINES:
            ref = RecordRef(self._wanted.position, self._wanted.member, number)
            where = f"line {number}: " if number else ""
            row = SkipRow(ref, reason, f"{where}{detail}")
            self._refused.setdefault(reason, []).append(row)

    def told(self) -> Iterator[SkipRow]:
        """Yield what was refused; the last one of a reason says how many there are."""
        for reason, rows in self._refused.items():
            unnamed = self._counts[reason] - len(rows)
            if unnamed:
                rows[-1].detail += f"; and {unnamed} more lines"
            yield from rows
