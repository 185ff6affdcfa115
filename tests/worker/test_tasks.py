"""A bundle through a real worker: how its request begins, goes on and ends."""

from pathlib import Path

from dashboard.models import IngestRequest, Run
from ingest.claims import claimed
from tests.ingest import golden
from tests.worker.crew import (
    Crew,
    ask_for,
    progress_held,
    wait_for,
    wait_until_blocked,
    wait_until_ended,
)

RUN = 33300000002


def bundle(shared_data: Path, run_id: int = RUN) -> Path:
    return shared_data / "runs" / str(run_id)


def test_request_shows_progress_and_ends_with_counts(
    crew: Crew, shared_data: Path
) -> None:
    path = bundle(shared_data)
    artifacts = len(list((path / "artifacts").iterdir()))
    with progress_held("keeping artifacts", 3):
        request = ask_for(path)
        wait_until_blocked()
        # The row that waits is not committed yet: seen is the one before.
        request.refresh_from_db()
        assert request.state == IngestRequest.State.RUNNING
        assert (request.step, request.progress_done) == ("keeping artifacts", 2)
        assert request.progress_total == artifacts
        assert request.started_at is not None
    wait_until_ended(request)
    sweeps, evals, _ = golden.seen(RUN)
    assert (request.state, request.step) == (IngestRequest.State.DONE, "done")
    assert request.error == ""
    assert request.finished_at is not None
    assert request.counts["points"] == sum(points for points, _, _ in sweeps.values())
    assert request.counts["planned"] == 19
    assert request.counts["evals"] == evals == 4


def test_what_is_no_bundle_fails_with_one_line(crew: Crew, tmp_path: Path) -> None:
    (tmp_path / "note.txt").write_text("no run here")
    requests = [ask_for(tmp_path), ask_for(tmp_path / "nowhere")]
    for request in requests:
        wait_until_ended(request)
        assert request.state == IngestRequest.State.FAILED
        assert request.error
        assert "\n" not in request.error
        assert request.finished_at is not None
    assert not Run.objects.exists()


def test_run_that_another_worker_holds_is_tried_again(
    crew: Crew, shared_data: Path, undisturbed: dict[int, dict[str, str]]
) -> None:
    with claimed("SemiAnalysisAI/InferenceX", RUN):
        request = ask_for(bundle(shared_data))
        wait_for(lambda: _is_waiting(request), "the request never had to wait")
        assert request.finished_at is None
        assert not Run.objects.exists()
    wait_until_ended(request)
    assert request.state == IngestRequest.State.DONE
    assert request.error == ""
    assert golden.state() == undisturbed[RUN]


def _is_waiting(request: IngestRequest) -> bool:
    request.refresh_from_db()
    is_queued = request.state == IngestRequest.State.QUEUED
    return is_queued and "already being ingested" in request.error


def test_task_delivered_twice_at_once_stores_one_set_of_rows(
    crew: Crew, shared_data: Path, undisturbed: dict[int, dict[str, str]]
) -> None:
    request = ask_for(bundle(shared_data), copies=2)
    wait_until_ended(request)
    assert request.state == IngestRequest.State.DONE
    assert golden.state() == undisturbed[RUN]
