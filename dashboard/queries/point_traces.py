"""The requests of a replayed point: where their raw bytes are, and what was read."""

import re
from collections.abc import Iterable
from typing import NamedTuple

from dashboard.ingest_requests import TRACED_POINT
from dashboard.models import Artifact, IngestRequest, Point, RequestTrace
from dashboard.vocabulary.scenarios import AGENTIC
from dashboard.vocabulary.trace_files import TraceFile, trace_of

# Raised where the reading changes: stored rows of an older one are read again.
VERSION = 1
RAW_KIND = "agentic"
RECORD_NAME, RAW_NAME = "bmk_agentic_", "agentic_"
_CONCURRENCIES = re.compile(r"_conc(\d{1,9}(?:x\d{1,9})*)(?=_|$)")
_RECIPE = re.compile(r"_recipe-([0-9a-f]{16})$")


class KeptTrace(NamedTuple):
    """A file of requests whose bytes are kept, and the artifact that it came with."""

    artifact_name: str
    artifact_sha256: str
    file: TraceFile


class PointRequests(NamedTuple):
    """How far the requests of a point are known.

    ``why_none`` says why there is nothing to read, empty where there is. ``trace`` is
    None until it was read; ``asked`` is the newest request for that, if anybody asked.
    """

    kept: KeptTrace | None
    why_none: str
    trace: RequestTrace | None
    asked: IngestRequest | None

    @property
    def can_be_asked(self) -> bool:
        """Tell whether there is something to read that nobody is reading."""
        is_active = self.asked is not None and self.asked.is_active
        return self.kept is not None and self.trace is None and not is_active

    @property
    def state(self) -> str:
        """Return done, queued, running, failed, none or new."""
        if self.trace is not None:
            return "done"
        if self.kept is None:
            return "none"
        if self.asked is None or self.asked.state == IngestRequest.State.DONE:
            return "new"
        return self.asked.state


def point_requests(point: Point) -> PointRequests:
    """Return how far the requests of a point are known, in three queries at most."""
    found = kept_trace(point)
    if not isinstance(found, KeptTrace):
        return PointRequests(None, found, None, None)
    stored = RequestTrace.objects.filter(
        artifact_sha256=found.artifact_sha256,
        member=found.file.member,
        version=VERSION,
    ).first()
    asked = None if stored else newest_asked(point.pk)
    return PointRequests(found, "", stored, asked)


def newest_asked(point_id: int) -> IngestRequest | None:
    """Return the newest request to read the requests of a point."""
    asked = IngestRequest.objects.filter(
        kind=IngestRequest.Kind.TRACE, target=f"{TRACED_POINT}{point_id}"
    )
    return asked.order_by("-requested_at", "-pk").first()


def kept_trace(point: Point) -> KeptTrace | str:
    """Return the file of a point's requests, or the sentence that says why none.

    The raw artifact has the name of the one that holds the point's record, but for
    how it begins; it is of the same attempt, and the newest of several. Where the
    record came with the aggregate of the run, the only raw artifact that names the
    point's recipe and concurrency is meant.
    """
    if point.sweep.scenario != AGENTIC:
        return "Only replayed traces have files of single requests."
    uploads = _uploads(point)
    if not uploads:
        return "The run has no raw artifact of this point."
    usable = [a for a in uploads if a.state == Artifact.State.FETCHED]
    if not usable:
        return _why_not(uploads[0])
    artifact = usable[0]
    files = (TraceFile(*member) for member in artifact.members)
    conc = point.concurrency
    file = trace_of(files, conc, is_alone=_is_alone(artifact.name, conc))
    if file is None:
        return (
            "The raw artifact holds no profile_export.jsonl of this concurrency, or "
            "several that differ."
        )
    if not file.sha256:
        return (
            f"Its profile_export.jsonl ({file.size:,} bytes) was only listed when the "
            "run was ingested. Ingesting the run again keeps it."
        )
    return KeptTrace(artifact.name, artifact.sha256, file)


def _uploads(point: Point) -> list[Artifact]:
    """Return the raw artifacts that can be the point's, the newest first."""
    found = Artifact.objects.filter(
        run=point.sweep.run_id, kind=RAW_KIND, attempt=point.attempt
    ).order_by("-uploaded_at", "-pk")
    record = point.raw_record
    name = record.artifact.name if record else ""
    if name.startswith(RECORD_NAME):
        return list(found.filter(name=RAW_NAME + name.removeprefix(RECORD_NAME)))
    return _only(found, point)


def _only(found: Iterable[Artifact], point: Point) -> list[Artifact]:
    """Return the uploads of the only job that names the point's recipe and load."""
    recipe = point.fingerprint[:16]
    fitting = [
        artifact
        for artifact in found
        if recipe
        and _named(_RECIPE, artifact.name) == recipe
        and str(point.concurrency) in _named(_CONCURRENCIES, artifact.name).split("x")
    ]
    return fitting if len({artifact.name for artifact in fitting}) == 1 else []


def _is_alone(name: str, concurrency: int) -> bool:
    return _named(_CONCURRENCIES, name) in ("", str(concurrency))


def _named(pattern: re.Pattern[str], name: str) -> str:
    """Return what the last match of a pattern in a name says, "" without one."""
    found = pattern.findall(name)
    return str(found[-1]) if found else ""


def _why_not(artifact: Artifact) -> str:
    if artifact.state == Artifact.State.LISTED:
        return (
            "Its raw artifact was only listed. With FRONTIERBOARD_FETCH_TRACES=1 raw "
            "artifacts of replayed traces are fetched with their run."
        )
    if artifact.state == Artifact.State.EXPIRED:
        return "Its raw artifact had expired before it was fetched."
    return f"Its raw artifact could not be read: {artifact.reason}"
