"""The recorded runs as GitHub serves them: the same figures as from disk."""

from pathlib import Path

import pytest
from django.db import transaction

from dashboard.models import Artifact, Fetch, ReuseLink, Run
from ingest.pipeline import replay_run
from ingest.progress import silent
from ingest.remote_runs import ingest_remote
from tests.github.conftest import serve_recorded
from tests.github_server import FakeGitHub
from tests.ingest import golden

REPOSITORY = "SemiAnalysisAI/InferenceX"
MERGE, SOURCE = 33700000003, 33598359757

pytestmark = pytest.mark.django_db


@pytest.fixture
def recorded(fake: FakeGitHub, shared_data: Path) -> FakeGitHub:
    serve_recorded(fake, shared_data)
    fake.needs_token = True
    golden.import_masters(shared_data)
    return fake


def test_fetched_runs_give_the_published_figures(
    recorded: FakeGitHub, shared_data: Path
) -> None:
    recorded.largest_page = 10
    for run_id in golden.RUN_IDS:
        ingest_remote(REPOSITORY, run_id, silent)
    found = {run_id: golden.seen(run_id) for run_id in golden.RUN_IDS}
    assert found == golden.EXPECTED
    fetched = golden.state()
    for run in Run.objects.select_related("repository"):
        replay_run(run)
    assert golden.state() == fetched
    assert Fetch.objects.filter(is_complete=True).count() == len(golden.RUN_IDS)
    assert recorded.most_parallel <= 8


def test_fetched_state_is_that_of_the_bundle_on_disk(
    recorded: FakeGitHub, shared_data: Path
) -> None:
    for run_id in (33484262630, 33400000005):
        with transaction.atomic():
            golden.ingest(shared_data, run_id)
            expected = golden.state()
            transaction.set_rollback(True)
        with transaction.atomic():
            ingest_remote(REPOSITORY, run_id, silent)
            assert golden.state() == expected
            transaction.set_rollback(True)


def test_reuse_is_resolved_through_the_pull_request(recorded: FakeGitHub) -> None:
    arrival = ingest_remote(REPOSITORY, MERGE, silent)
    assert arrival.source is not None
    assert arrival.source.run_id == SOURCE
    assert arrival.gaps == []
    link = ReuseLink.objects.get()
    assert (link.merge_run_id, link.source_run_id) == (MERGE, SOURCE)
    assert (link.method, link.pr_number) == ("newest", 2801)
    source = Run.objects.get(github_run_id=SOURCE)
    merge = Run.objects.get(github_run_id=MERGE)
    assert source.publication == Run.Publication.OFFICIAL
    assert source.published_by == merge
    assert source.published_at == merge.created_at
    assert (merge.received_count, merge.reuse_source_run_id) == (0, SOURCE)


def test_replay_keeps_a_reuse_that_no_artifact_tells(recorded: FakeGitHub) -> None:
    ingest_remote(REPOSITORY, MERGE, silent)
    before = golden.state()
    for run in Run.objects.select_related("repository"):
        replay_run(run)
    assert golden.state() == before


def test_source_that_came_first_becomes_official(recorded: FakeGitHub) -> None:
    ingest_remote(REPOSITORY, SOURCE, silent)
    assert Run.objects.get().publication == Run.Publication.UNOFFICIAL
    ingest_remote(REPOSITORY, MERGE, silent)
    source = Run.objects.get(github_run_id=SOURCE)
    assert source.publication == Run.Publication.OFFICIAL


def test_only_logs_of_failed_jobs_are_downloaded(recorded: FakeGitHub) -> None:
    ingest_remote(REPOSITORY, 33484262630, silent)
    logs = Artifact.objects.filter(kind="server_logs")
    kept = logs.filter(state=Artifact.State.FETCHED)
    assert kept.count() == 6
    assert all("tp4" in artifact.name for artifact in kept)
    assert logs.filter(state=Artifact.State.LISTED).count() == 2
    gpu = Artifact.objects.get(kind="gpu_metrics")
    assert (gpu.state, gpu.sha256) == (Artifact.State.LISTED, "")
    assert gpu.expires_at is not None
    assert not Artifact.objects.filter(state=Artifact.State.REJECTED).exists()


def test_nothing_is_downloaded_twice(recorded: FakeGitHub) -> None:
    ingest_remote(REPOSITORY, 33300000002, silent)
    before, stamps = golden.state(), golden.stamps()
    downloads = list(recorded.downloads)
    assert len(downloads) == len(set(downloads))
    arrival = ingest_remote(REPOSITORY, 33300000002, silent)
    assert arrival.report is None
    forced = ingest_remote(REPOSITORY, 33300000002, silent, force=True)
    assert forced.report is not None
    assert forced.report.tally.is_unchanged
    assert recorded.downloads == downloads
    assert (golden.state(), golden.stamps()) == (before, stamps)


def test_unchanged_answers_cost_no_quota(recorded: FakeGitHub) -> None:
    ingest_remote(REPOSITORY, 33300000002, silent)
    recorded.asked.clear()
    ingest_remote(REPOSITORY, 33300000002, silent, force=True)
    paid = [asked.path for asked in recorded.asked if asked.status != 304]
    # Config files that the commit does not have are no answers to keep.
    assert [path for path in paid if "/contents/" not in path] == []


def test_fetching_leaves_no_file_behind(recorded: FakeGitHub, settings) -> None:
    ingest_remote(REPOSITORY, 33300000002, silent)
    assert list((settings.DATA / "fetch").iterdir()) == []
