"""Runs that arrive with something wrong: told, stored as far as they came, healed."""

import io
import zipfile
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from dashboard.models import Artifact, Fetch, IngestRequest, Run, Skip
from ingest import tasks
from ingest.github import RateLimitedError
from ingest.progress import silent
from ingest.remote_runs import Arrival, ingest_remote
from tests.github_server import FakeGitHub, Fault, in_seconds
from tests.ingest import golden
from tests.pipeline.bundles import (
    REPOSITORY,
    SHA,
    busy_row,
    jobs_for,
    master,
    results,
    row,
    run_object,
    write_bundle,
)

RUN = 90001
pytestmark = pytest.mark.django_db


def serve(fake: FakeGitHub, folder: Path, *args: Any, **kwargs: Any) -> None:
    fake.add(write_bundle(folder / "bundle", *args, **kwargs))


def points(*concurrencies: int) -> dict[str, Any]:
    return {f"bmk_m_{c}": {f"agg_m_{c}.json": busy_row(conc=c)} for c in concurrencies}


def fetch(**changes: Any) -> Arrival:
    return ingest_remote(REPOSITORY, RUN, silent, **changes)


def the_run() -> Run:
    return Run.objects.get()


def test_agentic_only_or_empty_run_is_still_a_run(
    fake: FakeGitHub, tmp_path: Path
) -> None:
    serve(fake, tmp_path)
    arrival = fetch()
    assert arrival.report is not None
    assert arrival.report.points == 0
    assert not arrival.is_partly


def test_bad_artifacts_do_not_stop_the_good_one(
    fake: FakeGitHub, tmp_path: Path
) -> None:
    uploads = results(row()) | {
        "bmk_corrupt": {"a.json": row()},
        "bmk_without": {"note.txt": b"no JSON here"},
        "bmk_cut": {"a.json": b'{"a":1'},
    }
    serve(fake, tmp_path, artifacts=uploads)
    fake.corrupt.add(1001)
    arrival = fetch()
    assert arrival.report is not None
    assert arrival.report.points == 1
    assert sorted(arrival.report.rejected) == ["bmk_corrupt", "bmk_cut", "bmk_without"]
    assert arrival.is_partly
    assert Skip.objects.filter(reason="bad_zip").exists()
    # A zip that is none may have been cut on its way: it is asked for twice.
    assert fake.downloads.count(1001) == 2


def test_failed_download_heals_when_asked_for_again(
    fake: FakeGitHub, tmp_path: Path, settings: Any
) -> None:
    serve(fake, tmp_path, artifacts=points(4, 8, 16), jobs=jobs_for([4, 8, 16]))
    fake.fail("/blob/1001", *[Fault(500)] * 4)
    request = IngestRequest.objects.create(kind="run", target="x", github_run_id=RUN)
    tasks.ingest_run(REPOSITORY, RUN, request.pk)
    request.refresh_from_db()
    assert request.state == IngestRequest.State.PARTLY
    assert request.counts["rejected"] == ["bmk_m_8"]
    assert the_run().received_count == 2
    assert not Fetch.objects.get().is_complete
    rejected = Artifact.objects.get(state=Artifact.State.REJECTED)
    assert "GitHub answers 500" in rejected.reason

    arrival = fetch()
    assert not arrival.is_partly
    assert the_run().received_count == 3
    assert sorted(fake.downloads) == [1000, 1001, 1001, 1002]
    assert Fetch.objects.get().is_complete
    assert not Skip.objects.exists()


def test_expired_artifacts_are_never_asked_for_again(
    fake: FakeGitHub, tmp_path: Path
) -> None:
    serve(fake, tmp_path, artifacts=points(4, 8))
    fetch()
    stored = golden.state()
    fake.gone |= {1000, 1001}
    before = list(fake.downloads)
    arrival = fetch(force=True)
    assert not arrival.is_partly
    assert fake.downloads == before
    assert golden.state() == stored
    assert set(Artifact.objects.values_list("state", "expired")) == {("fetched", True)}


def test_artifact_that_is_gone_but_not_listed_so_is_said(
    fake: FakeGitHub, tmp_path: Path
) -> None:
    serve(fake, tmp_path, artifacts=points(4, 8))
    fake.fail("/artifacts/1001/zip", Fault(410, body={"message": "expired"}))
    arrival = fetch()
    assert not arrival.is_partly
    gone = Artifact.objects.get(github_artifact_id=1001)
    assert (gone.state, gone.expired) == (Artifact.State.EXPIRED, True)
    assert Skip.objects.get().reason == "expired_artifact"
    fetch(force=True)
    assert fake.count("/artifacts/1001/zip") == 1


def test_all_expired_is_a_run_with_nothing_stored(
    fake: FakeGitHub, tmp_path: Path
) -> None:
    serve(fake, tmp_path, artifacts=points(4, 8))
    fake.gone |= {1000, 1001}
    arrival = fetch()
    assert arrival.report is not None
    assert arrival.report.points == 0
    assert fake.downloads == []
    assert Skip.objects.filter(reason="expired_artifact").count() == 2


def test_incomplete_list_is_said_and_what_came_is_stored(
    fake: FakeGitHub, tmp_path: Path
) -> None:
    serve(fake, tmp_path, artifacts=points(4, 8))
    fake.missing_items = 1
    arrival = fetch()
    assert arrival.gaps[0] == "the list of artifacts is incomplete: 2 of 3"
    assert the_run().received_count == 2
    assert Fetch.objects.get().gaps == arrival.gaps
    fake.missing_items = 0
    assert not fetch().is_partly


def test_far_rate_limit_ends_and_keeps_what_was_downloaded(
    fake: FakeGitHub, tmp_path: Path, settings: Any
) -> None:
    serve(fake, tmp_path, artifacts=points(*range(1, 31)))
    headers = {"x-ratelimit-remaining": "0", "x-ratelimit-reset": in_seconds(900)}
    limited = Fault(403, headers, {"message": "API rate limit exceeded"})
    fake.fail("/artifacts/1020/zip", limited)
    with pytest.raises(RateLimitedError):
        fetch()
    assert not Run.objects.exists()
    kept = len(list((settings.DATA / "fetch" / str(RUN)).glob("*.zip")))
    assert kept > 0
    fetch()
    assert the_run().received_count == 30
    again = {i for i in fake.downloads if fake.downloads.count(i) > 1}
    assert len(again) <= 30 - kept


def test_rate_limit_is_the_requests_one_line(fake: FakeGitHub, tmp_path: Path) -> None:
    serve(fake, tmp_path)
    headers = {"x-ratelimit-remaining": "0", "x-ratelimit-reset": in_seconds(900)}
    fake.fail("/actions/runs", Fault(429, headers))
    request = IngestRequest.objects.create(kind="run", target="x", github_run_id=RUN)
    tasks.ingest_run(REPOSITORY, RUN, request.pk)
    request.refresh_from_db()
    assert request.state == IngestRequest.State.FAILED
    assert request.error.startswith("GitHub's rate limit is reached; it ends at 20")


def test_no_token_for_artifacts_is_said_by_each(
    fake: FakeGitHub, tmp_path: Path
) -> None:
    serve(fake, tmp_path, artifacts=points(4), jobs=jobs_for([4]))
    fake.fail("/zip", Fault(401, body={"message": "Requires authentication"}))
    arrival = fetch()
    assert arrival.is_partly
    assert "Requires authentication" in Artifact.objects.get().reason
    assert the_run().planned_count == 1


def test_newer_attempt_is_fetched(fake: FakeGitHub, tmp_path: Path) -> None:
    serve(fake, tmp_path, run_object(updated_at="2026-08-01T22:00:00Z"))
    fetch()
    assert fetch().report is None
    fake.runs[RUN] |= {"run_attempt": 2, "updated_at": "2026-08-02T22:00:00Z"}
    arrival = fetch()
    assert arrival.report is not None
    assert the_run().attempt == 2


def test_run_at_work_is_fetched_each_time(fake: FakeGitHub, tmp_path: Path) -> None:
    at_work = run_object(
        status="in_progress", conclusion=None, updated_at="2026-08-01T22:00:00Z"
    )
    serve(fake, tmp_path, at_work, points(4))
    fetch()
    arrival = fetch()
    assert arrival.report is not None
    assert not Fetch.objects.get().is_complete
    assert fake.downloads == [1000]


def test_config_files_of_the_commit_are_imported(
    fake: FakeGitHub, tmp_path: Path
) -> None:
    serve(fake, tmp_path, artifacts=results(row()))
    fake.fallback_configs = {".github/configs/amd-master.yaml": master()}
    fetch()
    assert the_run().snapshot["amd-master.yaml"][:2] == ["exact", SHA]
    asked = fake.count("/contents/")
    fetch(force=True)
    # Only the two that the commit does not have are asked for again, in both places.
    assert fake.count("/contents/") - asked == 4


def test_pull_request_of_a_fork_is_found(fake: FakeGitHub, tmp_path: Path) -> None:
    serve(fake, tmp_path, run_object(event="pull_request", head_branch="topic"))
    fake.pulls[SHA] = [
        {"number": 12, "head": {"sha": SHA}},
        {"number": 13, "head": {"sha": "b" * 40}},
    ]
    fetch()
    assert the_run().pr_number == 12


@pytest.mark.parametrize("path", ["/jobs", "/pulls", "/contents"])
def test_what_is_not_essential_may_fail(
    fake: FakeGitHub, tmp_path: Path, path: str
) -> None:
    serve(fake, tmp_path, artifacts=points(4), jobs=jobs_for([4]))
    fake.fail(path, *[Fault(422)] * 9)
    arrival = fetch()
    assert the_run().received_count == 1
    assert bool(arrival.gaps) == (path != "/pulls")


def test_renamed_repository_stays_the_known_one(
    fake: FakeGitHub, tmp_path: Path
) -> None:
    serve(fake, tmp_path)
    fetch()
    there = {"Location": f"{fake.url}/repos/new/name/actions/runs/{RUN}"}
    fake.runs[RUN]["repository"] = {"full_name": "new/name"}
    fake.fail(f"/repos/{REPOSITORY}/actions/runs/{RUN}", Fault(301, there))
    fetch(force=True)
    assert the_run().repository.full_name == REPOSITORY


def test_same_name_artifacts_are_two_uploads(fake: FakeGitHub, tmp_path: Path) -> None:
    serve(fake, tmp_path, artifacts=points(4))
    folder = fake.folders[RUN]
    (folder / "artifacts.json").write_text(
        '[{"id": 1000, "name": "bmk_m_4", "created_at": "2026-08-01T21:00:00Z"},'
        ' {"id": 2000, "name": "bmk_m_4", "created_at": "2026-08-01T22:00:00Z"}]'
    )
    fake._zips[2000] = _zip({"agg_m_4.json": b'{"broken": '})
    arrival = fetch()
    assert Artifact.objects.filter(name="bmk_m_4").count() == 2
    assert arrival.report is not None
    assert arrival.report.points == 1


def _zip(members: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return buffer.getvalue()


# The command


def test_command_fetches_runs_and_says_what_came(
    fake: FakeGitHub, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    serve(fake, tmp_path, artifacts=points(4))
    call_command("ingest_run", str(RUN))
    assert "run 90001: 1 points, 0 evals" in capsys.readouterr().out


def test_command_goes_on_after_a_bad_id(
    fake: FakeGitHub, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    serve(fake, tmp_path)
    with pytest.raises(CommandError, match="1 of 2 runs were not taken"):
        call_command("ingest_run", "5", str(RUN), "--repo", REPOSITORY)
    captured = capsys.readouterr()
    assert captured.err == f"5: run 5 was not found in {REPOSITORY}\n"
    assert "run 90001" in captured.out


@pytest.mark.parametrize("words", [["abc"], ["0"], ["1", "--repo", "nowhere"]])
def test_command_refuses_what_is_no_run(fake: FakeGitHub, words: list[str]) -> None:
    with pytest.raises(CommandError) as raised:
        call_command("ingest_run", *words)
    assert "\n" not in str(raised.value)
