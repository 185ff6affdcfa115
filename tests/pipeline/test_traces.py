"""Requests of a point from the raw store into their row: once, and why not."""

from typing import Any

import pytest
from django.core.files.storage import storages

from dashboard.models import Artifact, Point, RequestTrace
from dashboard.queries.point_traces import VERSION, kept_trace
from dashboard.vocabulary.raw_files import raw_path
from dashboard.vocabulary.scenarios import AGENTIC
from ingest import traces, uploads
from ingest.progress import silent
from ingest.traces import TraceError, read_trace
from tests import factories
from tests.ingest.golden import import_masters, ingest
from tests.pipeline.conftest import Desk
from tests.traces import MEMBER, RESULT, agentic_point, lines, record

pytestmark = pytest.mark.django_db


def why_not(point: Point) -> str:
    found = kept_trace(point)
    assert isinstance(found, str), found
    return found


def test_reading_twice_stores_once() -> None:
    point = agentic_point(lines(record(), record(1, 3.0)))
    first = read_trace(point.pk, silent)
    again = read_trace(point.pk, silent)
    assert RequestTrace.objects.count() == 1
    assert (again.pk, again.read_at) == (first.pk, first.read_at)
    assert first.counts["requests"] == first.kept == 2


def test_a_newer_reader_reads_again(monkeypatch: pytest.MonkeyPatch) -> None:
    point = agentic_point(lines(record()))
    first = read_trace(point.pk, silent)
    monkeypatch.setattr(traces, "VERSION", VERSION + 1)
    again = read_trace(point.pk, silent)
    assert again.pk == first.pk
    assert again.version == first.version + 1


def test_progress_is_told_in_megabytes() -> None:
    told: list[tuple[Any, ...]] = []
    point = agentic_point(lines(record()))
    read_trace(point.pk, lambda *step: told.append(step))
    assert told[0] == ("reading requests", 0, 1)


def test_bytes_that_are_gone_are_said_to_be() -> None:
    content = lines(record(3))
    point = agentic_point(content)
    found = kept_trace(point)
    assert not isinstance(found, str)
    storages["raw"].delete(raw_path(found.file.sha256))
    with pytest.raises(TraceError, match="not in the raw store any more"):
        read_trace(point.pk, silent)


@pytest.mark.parametrize(
    ("state", "said"),
    [
        (Artifact.State.LISTED, "FRONTIERBOARD_FETCH_TRACES=1"),
        (Artifact.State.EXPIRED, "expired before it was fetched"),
        (Artifact.State.REJECTED, "could not be read"),
    ],
)
def test_why_there_is_nothing_to_read(state: str, said: str) -> None:
    assert said in why_not(agentic_point(lines(record()), state=state))


def test_without_a_raw_artifact_or_its_file_there_is_nothing() -> None:
    assert "no raw artifact" in why_not(agentic_point(None))
    odd = agentic_point(
        lines(record()),
        member="aiperf_artifacts/other.jsonl",
        sweep=factories.SweepFactory(scenario=AGENTIC),
    )
    assert "holds no profile_export.jsonl" in why_not(odd)


def test_a_raw_artifact_of_another_attempt_is_not_the_points() -> None:
    point = agentic_point(lines(record()), attempt=2)
    assert "no raw artifact" in why_not(point)


def test_a_point_that_is_gone_is_one_line() -> None:
    with pytest.raises(TraceError, match="point 12345 is not stored any more"):
        read_trace(12345, silent)


def raw_tree(content: bytes) -> dict[str, dict[str, Any]]:
    return {f"agentic_{RESULT}": {MEMBER: content, "server.log": b"x" * 200}}


def test_requests_are_kept_whatever_their_size_and_logs_are_not(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(uploads, "LISTED_MEMBER_BYTES", 100)
    content = lines(*(record(n) for n in range(5)))
    desk.ingest(artifacts=raw_tree(content))
    artifact = Artifact.objects.get(name=f"agentic_{RESULT}")
    kept = {name: sha for name, _, sha in artifact.members}
    assert kept["server.log"] == ""
    assert storages["raw"].size(raw_path(kept[MEMBER])) == len(content)


def test_a_recorded_run_has_its_requests(shared_data: Any) -> None:
    import_masters(shared_data)
    ingest(shared_data, 33588417338)
    point = Point.objects.get(concurrency=4, attempt=2, sweep__run=_run(33588417338))
    found = kept_trace(point)
    assert not isinstance(found, str), found
    trace = read_trace(point.pk, silent)
    assert trace.counts["lines"] == 30
    assert trace.counts["warm_up"] == 2
    assert trace.counts["retained"] == 28
    assert trace.counts["skipped"] == {}
    assert trace.kept == 30


def _run(run_id: int) -> Any:
    return Artifact.objects.filter(run__github_run_id=run_id).first().run  # type: ignore[union-attr]
