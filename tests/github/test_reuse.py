"""Which run a merge publishes: by comment, by rule, or not known and said so."""

from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from dashboard.models import Fetch, IngestRequest, ReuseLink, Run
from ingest import tasks
from ingest.progress import silent
from ingest.remote_runs import Arrival, ingest_remote
from tests.factories import RepositoryFactory
from tests.github_server import FakeGitHub, Fault
from tests.pipeline.bundles import (
    REPOSITORY,
    changelog,
    job,
    results,
    row,
    run_object,
    write_bundle,
)

MERGE, OLDER, NEWER, STRANGER = 500, 100, 200, 300
MERGED = "c" * 40
COMMITS = {OLDER: "1" * 40, NEWER: "2" * 40, STRANGER: "3" * 40}
PULL = 12

pytestmark = pytest.mark.django_db


@pytest.fixture
def served(fake: FakeGitHub, tmp_path: Path) -> FakeGitHub:
    """A merge without results, two runs of its pull request, one of another."""
    RepositoryFactory(full_name=REPOSITORY, is_official=True)
    merge = run_object(MERGE, head_sha=MERGED, created_at="2026-08-05T00:00:00Z")
    serve(fake, tmp_path, merge, changelog=changelog())
    for day, (run_id, sha) in enumerate(COMMITS.items(), start=1):
        run = run_object(
            run_id,
            event="pull_request",
            head_branch="topic",
            head_sha=sha,
            created_at=f"2026-08-0{day}T00:00:00Z",
        )
        serve(fake, tmp_path, run, results(row()), first_id=run_id * 10)
    fake.pulls[MERGED] = [pull()]
    fake.pull_commits[PULL] = [COMMITS[OLDER], COMMITS[NEWER]]
    return fake


def serve(fake: FakeGitHub, folder: Path, run: Any, *args: Any, **more: Any) -> None:
    more = {"jobs": [job(run["id"], 4, name="setup")]} | more
    fake.add(write_bundle(folder / str(run["id"]), run, *args, **more))


def pull(**changes: Any) -> dict[str, Any]:
    facts = {
        "number": PULL,
        "merged_at": "2026-08-05T00:00:00Z",
        "merge_commit_sha": MERGED,
        "head": {"ref": "topic", "sha": COMMITS[NEWER]},
        "labels": [],
    }
    return facts | changes


def comment(body: str, at: int = 1, association: str = "MEMBER") -> dict[str, Any]:
    return {
        "body": body,
        "author_association": association,
        "created_at": f"2026-08-04T00:00:{at:02}Z",
        "html_url": f"https://github.com/o/r/pull/12#issuecomment-{at}",
    }


def fetch(run_id: int = MERGE, **changes: Any) -> Arrival:
    return ingest_remote(REPOSITORY, run_id, silent, **changes)


def found(fake: FakeGitHub, *comments: dict[str, Any]) -> int | None:
    fake.comments[PULL] = list(comments)
    fetch()
    return Run.objects.get(github_run_id=MERGE).reuse_source_run_id


def test_newest_run_at_a_commit_of_the_pull_request(served: FakeGitHub) -> None:
    assert found(served) == NEWER
    source = Run.objects.get(github_run_id=NEWER)
    assert source.publication == Run.Publication.OFFICIAL
    assert ReuseLink.objects.get().method == "newest"


def test_run_that_failed_is_not_taken_by_itself(served: FakeGitHub) -> None:
    served.runs[NEWER]["conclusion"] = "failure"
    assert found(served) == OLDER


def test_run_whose_results_expired_is_not_taken(served: FakeGitHub) -> None:
    served.gone.add(NEWER * 10)
    assert found(served) == OLDER


def test_run_whose_results_expired_but_are_stored_is_taken(served: FakeGitHub) -> None:
    fetch(NEWER)
    served.gone.add(NEWER * 10)
    assert found(served) == NEWER


def test_comment_names_a_run_even_one_that_failed(served: FakeGitHub) -> None:
    served.runs[OLDER]["conclusion"] = "failure"
    assert found(served, comment(f"ok\n/reuse-sweep-run {OLDER}\r\nthanks")) == OLDER
    link = ReuseLink.objects.get()
    assert link.method == "comment"
    assert link.evidence.endswith("#issuecomment-1")


def test_newest_comment_decides(served: FakeGitHub) -> None:
    comments = [
        comment(f"/reuse-sweep-run {NEWER}", 2),
        comment(f"/reuse-sweep-run {OLDER}", 1),
    ]
    assert found(served, *comments) == NEWER


def test_newest_comment_without_an_id_goes_by_the_rule(served: FakeGitHub) -> None:
    comments = [
        comment(f"/reuse-sweep-run {OLDER}", 1),
        comment("/reuse-sweep-run", 2),
    ]
    assert found(served, *comments) == NEWER


@pytest.mark.parametrize("association", ["NONE", "CONTRIBUTOR", "FIRST_TIMER", ""])
def test_strangers_decide_nothing(served: FakeGitHub, association: str) -> None:
    stranger = comment(f"/reuse-sweep-run {OLDER}", 5, association)
    assert found(served, stranger) == NEWER


@pytest.mark.parametrize(
    "body", ["see /reuse-sweep-run 100", "/reuse-sweep-run100", "/reuse-sweep-run x"]
)
def test_other_lines_decide_nothing(served: FakeGitHub, body: str) -> None:
    assert found(served, comment(body)) == NEWER


def test_comments_that_may_not_be_read_are_none(served: FakeGitHub) -> None:
    served.fail("/comments", Fault(403, body={"message": "Resource not accessible"}))
    assert found(served) == NEWER


@pytest.mark.parametrize(
    ("comments", "pulls", "reason"),
    [
        ([comment(f"/reuse-sweep-run {STRANGER}")], [pull()], "no finished sweep"),
        ([comment(f"/reuse-sweep-run {MERGE}")], [pull()], "no finished sweep"),
        ([comment("/reuse-sweep-run 9")], [pull()], "404"),
        ([], [], "0 pull requests"),
        ([], [pull(), pull(number=13)], "2 pull requests"),
        ([], [pull(merged_at=None)], "0 pull requests"),
        ([], [pull(labels=[{"name": "evals-only"}])], "labelled evals-only"),
        ([], [pull(labels=[{"name": "agentx-fast"}])], "labelled agentx-fast"),
        ([], [pull(head={"ref": "elsewhere"})], "no run of the pull request"),
    ],
)
def test_what_cannot_be_resolved_is_said(
    served: FakeGitHub, comments: Any, pulls: Any, reason: str
) -> None:
    served.comments[PULL], served.pulls[MERGED] = comments, pulls
    arrival = fetch()
    assert arrival.is_partly
    assert reason in arrival.gaps[0]
    assert arrival.gaps[0].startswith("measured elsewhere, but where is not known")
    assert not ReuseLink.objects.exists()
    assert not Fetch.objects.get().is_complete


@pytest.mark.parametrize(
    "changes",
    [
        {"event": "pull_request"},
        {"head_branch": "topic"},
        {"path": ".github/workflows/e2e-tests.yml"},
        {"status": "in_progress"},
    ],
)
def test_only_finished_merges_publish_others(
    served: FakeGitHub, changes: dict[str, Any]
) -> None:
    served.runs[MERGE] |= changes
    assert fetch().gaps == []
    assert not ReuseLink.objects.exists()


def test_merge_that_measured_publishes_itself(
    served: FakeGitHub, tmp_path: Path
) -> None:
    merge = served.runs[MERGE]
    serve(served, tmp_path / "again", merge, results(row()), changelog=changelog())
    assert fetch().gaps == []
    assert not ReuseLink.objects.exists()


def test_merge_whose_every_job_failed_publishes_nobody(
    served: FakeGitHub, tmp_path: Path
) -> None:
    failed = [job(1, 4, conclusion="failure")]
    serve(
        served,
        tmp_path / "again",
        served.runs[MERGE],
        changelog=changelog(),
        jobs=failed,
    )
    assert fetch().gaps == []
    assert not ReuseLink.objects.exists()


def test_link_is_found_once(served: FakeGitHub) -> None:
    assert found(served) == NEWER
    served.asked.clear()
    served.comments[PULL] = [comment(f"/reuse-sweep-run {OLDER}")]
    fetch(force=True)
    assert served.count("/comments") == 0
    assert ReuseLink.objects.get().source_run_id == NEWER


def test_source_that_cannot_be_fetched_is_a_gap_and_tried_again(
    served: FakeGitHub,
) -> None:
    # The list of its artifacts is asked for first, and comes.
    served.fail(f"/actions/runs/{NEWER}", Fault(), Fault(422))
    arrival = fetch()
    assert "measured in run 200" in arrival.gaps[0]
    assert fetch().gaps == []


def test_pair_made_by_hand_is_carried_out(
    served: FakeGitHub, admin_client: Client
) -> None:
    served.pulls[MERGED] = []
    fetch()
    fetch(OLDER)
    merge = Run.objects.get(github_run_id=MERGE)
    form = {
        "repository": merge.repository_id,
        "merge_run_id": MERGE,
        "source_run_id": OLDER,
        "evidence": "said so in the meeting",
    }
    admin_client.post(reverse("admin:dashboard_reuselink_add"), form)
    assert ReuseLink.objects.get().method == "manual"
    request = IngestRequest.objects.get(kind="replay")
    tasks.replay_run(MERGE, request.pk)
    source = Run.objects.get(github_run_id=OLDER)
    assert source.publication == Run.Publication.OFFICIAL
    assert source.published_by == merge
    assert fetch(force=True).gaps == []
