"""The requests of a point from the raw store into one row, a line at a time.

A trace has hundreds of megabytes. Of each request a few numbers are kept while it is
read; its text never is. The metrics that servers export beside it are not read at all.
"""

from array import array
from collections import Counter
from collections.abc import Callable, Iterator
from typing import BinaryIO

import numpy as np
import numpy.typing as npt
from django.db import transaction

from dashboard.analysis.request_distributions import (
    Distribution,
    distribution,
    slow_tail,
    spread_out,
)
from dashboard.models import Point, RequestTrace
from dashboard.queries.point_traces import VERSION, KeptTrace, kept_trace
from dashboard.vocabulary.request_kinds import RequestKind
from ingest.conversion.records import RefusedError
from ingest.conversion.samples import lines
from ingest.conversion.traces import TracedRequest, request_of
from ingest.progress import Progress
from ingest.raw_store import kept_file

LONGEST_LINE = 1 << 20
# Some 80 bytes each while they are read. A replay of an hour has tens of thousands.
MOST_REQUESTS = 1_000_000
MOST_CONVERSATIONS = 50_000
MOST_KEPT = 5_000
MOST_ERRORS = 20
EVERY = 2_000
NONE = -1
TIMES = ("ttft_s", "e2e_s", "itl_s", "full_itl_s")
TOKENS = ("input_tokens", "output_tokens")
OTHERS = "other errors"

Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.int8]


class TraceError(Exception):
    """A trace that cannot be read; the message is one line for a person."""


def read_trace(point_id: int, progress: Progress) -> RequestTrace:
    """Read the requests of a point and store them; what is stored already stays.

    1. Find the file among the artifacts of the point's run. 2. Read it line by line.
    3. Store one row, under the artifact's and the member's name. Raises TraceError.
    """
    trace = _trace_of(point_id)
    known = RequestTrace.objects.filter(
        artifact_sha256=trace.artifact_sha256, member=trace.file.member
    ).first()
    if known is not None and known.version == VERSION:
        return known
    stream = kept_file(trace.file.sha256)
    if stream is None:
        raise TraceError("the bytes of its requests are not in the raw store any more")
    with stream:
        read = ReadRequests()
        read.take(stream, _bytes(progress, trace.file.size))
    return _stored(trace, read)


def _trace_of(point_id: int) -> KeptTrace:
    point = Point.objects.select_related("sweep", "deployment", "raw_record__artifact")
    found = point.filter(pk=point_id).first()
    if found is None:
        raise TraceError(f"point {point_id} is not stored any more")
    trace = kept_trace(found)
    if not isinstance(trace, KeptTrace):
        raise TraceError(trace)
    return trace


def _bytes(progress: Progress, size: int) -> Callable[[int], None]:
    """Tell progress in MB, which a column can count."""
    return lambda done: progress("reading requests", done >> 20, max(size >> 20, 1))


def _stored(trace: KeptTrace, read: "ReadRequests") -> RequestTrace:
    """Write the row; of two that read the same bytes either may be the last."""
    kept, requests = read.rows()
    values = {
        "sha256": trace.file.sha256,
        "size_bytes": trace.file.size,
        "version": VERSION,
        "counts": read.counted(),
        "distributions": read.distributions(),
        "requests": requests,
        "kept": kept,
    }
    with transaction.atomic():
        row, _ = RequestTrace.objects.update_or_create(
            artifact_sha256=trace.artifact_sha256,
            member=trace.file.member,
            defaults=values,
        )
    return row


class ReadRequests:
    """Numbers of every request of a file, in columns; complete once it is read."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.skipped: Counter[str] = Counter()
        self.errors: Counter[str] = Counter()
        self._conversations: dict[str, int] = {}
        self._stamps = {name: array("q") for name in ("start", "end")}
        self._turns = array("i")
        self._of = array("i")
        self._flags = array("b")
        self._values = {name: array("d") for name in (*TIMES, *TOKENS)}

    def take(self, stream: BinaryIO, read_to: Callable[[int], None]) -> None:
        """Read all lines; what cannot be used is counted and left out."""
        done = 0
        for number, line in lines(stream, LONGEST_LINE):
            if number % EVERY == 1:
                read_to(done)
            done += LONGEST_LINE if line is None else len(line)
            self.counts["lines"] += 1
            if line is None:
                self.skipped["line_too_long"] += 1
                continue
            try:
                self._add(request_of(line))
            except RefusedError as error:
                self.skipped[error.reason] += 1

    def _add(self, request: TracedRequest) -> None:
        self._count(request)
        if len(self._flags) >= MOST_REQUESTS:
            self.skipped["too_many_requests"] += 1
            return
        flags = (
            RequestKind.WARM_UP * request.is_warm_up
            | RequestKind.CANCELLED * request.is_cancelled
            | RequestKind.FAILED * bool(request.error)
        )
        self._flags.append(flags)
        self._of.append(self._conversation(request.conversation))
        self._turns.append(NONE if request.turn is None else request.turn)
        for name, stamp in (("start", request.start_ns), ("end", request.end_ns)):
            self._stamps[name].append(NONE if stamp is None else stamp)
        for name, column in self._values.items():
            value = getattr(request, name)
            column.append(np.nan if value is None else value)

    def _count(self, request: TracedRequest) -> None:
        """Count what kind of request it is; one may be of several."""
        counts, error = self.counts, request.error
        counts["requests"] += 1
        counts["warm_up"] += request.is_warm_up
        counts["cancelled"] += request.is_cancelled
        counts["errors"] += bool(error)
        is_odd = request.is_warm_up or request.is_cancelled or bool(error)
        counts["retained"] += not is_odd
        self.skipped.update(f"bad_value:{name}" for name in request.doubts)
        if error:
            is_known = error in self.errors or len(self.errors) < MOST_ERRORS
            self.errors[error if is_known else OTHERS] += 1

    def _conversation(self, name: str) -> int:
        if not name or len(self._conversations) >= MOST_CONVERSATIONS:
            return self._conversations.get(name, NONE)
        return self._conversations.setdefault(name, len(self._conversations))

    def counted(self) -> dict[str, object]:
        """Return the counts as JSON-able values, zero where there is none."""
        kinds = ("lines", "requests", "retained", "warm_up", "cancelled", "errors")
        return {
            **{kind: self.counts[kind] for kind in kinds},
            "conversations": len(self._conversations),
            "skipped": dict(sorted(self.skipped.items())),
            "error_categories": dict(self.errors.most_common()),
            "measured_s": self._measured_s(),
            "has_full_itl": self._has_full_itl(),
        }

    def distributions(self) -> dict[str, Distribution]:
        """Return the distributions of retained requests by quantity."""
        retained = self._column_of_flags() == 0
        values = {name: _floats(self._values[name]) for name in (*TIMES, *TOKENS)}
        itl = values["full_itl_s" if self._has_full_itl() else "itl_s"]
        quantities = {
            "ttft": values["ttft_s"],
            "e2el": values["e2e_s"],
            "itl": itl,
            "intvty": 1 / itl,
            "input_tokens": values["input_tokens"],
            "output_tokens": values["output_tokens"],
        }
        found = {n: distribution(v[retained]) for n, v in quantities.items()}
        told = {name: of for name, of in found.items() if of is not None}
        if "intvty" in told:
            told["intvty"] = slow_tail(told["itl"], told["intvty"])
        return told

    def rows(self) -> tuple[int, dict[str, object]]:
        """Return how many requests are kept one by one, and their columns."""
        starts = np.frombuffer(self._stamps["start"], dtype=np.int64)
        timed = np.flatnonzero(starts != NONE)
        ordered = timed[np.argsort(starts[timed], kind="stable")]
        chosen = ordered[spread_out(len(ordered), MOST_KEPT)]
        return len(chosen), dict(self._columns(chosen, starts))

    def _columns(
        self, chosen: npt.NDArray[np.int64], starts: npt.NDArray[np.int64]
    ) -> Iterator[tuple[str, object]]:
        first = int(starts[starts != NONE].min()) if len(chosen) else 0
        yield "first_start_ns", first
        for name, stamps in self._stamps.items():
            yield f"{name}_s", [_since(stamps[i], first) for i in chosen]
        yield "conversation", [_told(self._of[i]) for i in chosen]
        yield "turn", [_told(self._turns[i]) for i in chosen]
        yield "flags", [self._flags[i] for i in chosen]
        for name, column in self._values.items():
            yield name, [_known(column[i]) for i in chosen]
        shown = {self._of[i] for i in chosen}
        names = {of: n for n, of in self._conversations.items() if of in shown}
        yield "conversations", {str(of): names[of] for of in sorted(shown - {NONE})}

    def _has_full_itl(self) -> bool:
        """Tell whether any request says the latency of its full response.

        Then that is the latency of all: those that lack it say none.
        """
        return bool(np.isfinite(_floats(self._values["full_itl_s"])).any())

    def _measured_s(self) -> float | None:
        """Return last end minus first start of the retained requests, in s."""
        start, end = (
            np.frombuffer(self._stamps[name], dtype=np.int64) for name in self._stamps
        )
        timed = (self._column_of_flags() == 0) & (start != NONE) & (end != NONE)
        if not timed.any():
            return None
        return float(end[timed].max() - start[timed].min()) / 1e9

    def _column_of_flags(self) -> Flags:
        return np.frombuffer(self._flags, dtype=np.int8)


def _floats(column: "array[float]") -> Floats:
    return np.frombuffer(column, dtype=np.float64)


def _told(number: int) -> int | None:
    return None if number == NONE else number


def _since(stamp: int, first: int) -> float | None:
    return None if stamp == NONE else round((stamp - first) / 1e9, 4)


def _known(value: float) -> float | None:
    """Return a number as short as it was measured; a count stays whole."""
    if not np.isfinite(value):
        return None
    return int(value) if value.is_integer() else float(f"{value:.6g}")
