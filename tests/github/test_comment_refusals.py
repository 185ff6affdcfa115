"""Comments that are not to be, or cannot be: one line each, and nothing else breaks."""

# mypy: allow-untyped-calls

from pathlib import Path
from typing import Any

import pytest
from celery import current_app
from django.core.management import CommandError, call_command
from django.urls import reverse

from dashboard.models import Run
from ingest import comments, tasks
from ingest.comments import NoCommentError, Outcome, comment_run
from tests import factories
from tests.github.commented import (
    PATH,
    PR,
    comments_are_on,
    kept,
    make_run,
    newer,
    older,
    only,
    places,
    sent,
)
from tests.github_comments import COMMENT_TOKEN
from tests.github_server import FakeGitHub, Fault, in_seconds
from tests.pipeline.bundles import REPOSITORY, results, row, run_object, write_bundle

__all__ = ["comments_are_on", "newer", "older", "sent"]

pytestmark = pytest.mark.django_db


# What goes wrong is one line


@pytest.mark.parametrize(
    ("fault", "line"),
    [
        (
            Fault(
                status=403,
                body={"message": "Resource not accessible by personal access token"},
            ),
            f"GitHub answers 403 to {PATH}: Resource not accessible by personal",
        ),
        (
            Fault(
                status=403,
                body={"message": "Unable to create comment because issue is locked."},
            ),
            f"GitHub answers 403 to {PATH}: Unable to create comment because issue",
        ),
        (Fault(status=404), "GITHUB_COMMENT_TOKEN may not comment in example/bench"),
        (
            Fault(status=422, body={"message": "Validation\n\0 Failed"}),
            f"GitHub answers 422 to {PATH}: Validation Failed",
        ),
        (
            Fault(
                status=403,
                headers={
                    "x-ratelimit-remaining": "0",
                    "x-ratelimit-reset": in_seconds(1800),
                },
            ),
            "GitHub's rate limit is reached; it ends at ",
        ),
    ],
    ids=["no permission", "locked", "not found", "refused", "limit"],
)
def test_refusal_ends_with_one_line_and_is_not_tried_again(
    fake: FakeGitHub,
    older: Run,
    fault: Fault,
    line: str,
    capfd: pytest.CaptureFixture[str],
) -> None:
    fake.fail(f"POST {PATH}", fault)
    done = tasks.comment_verdict.apply(args=[older.github_run_id])
    assert done.successful()
    assert kept().error.startswith(line)
    assert "\n" not in kept().error
    assert sum(asked.method == "POST" for asked in fake.asked) == 1
    assert COMMENT_TOKEN not in "".join(capfd.readouterr())


def test_github_that_is_down_is_not_asked_for_ever(
    fake: FakeGitHub, older: Run
) -> None:
    fake.fail(f"POST {PATH}", *[Fault(status=500)] * 50)
    done = tasks.comment_verdict.apply(args=[older.github_run_id])
    assert done.failed()
    posts = sum(asked.method == "POST" for asked in fake.asked)
    assert posts == tasks.COMMENT_RETRIES + 1
    assert kept().error.startswith("GitHub answers 500 to ")


def test_run_whose_comment_failed_is_told_with_the_next(
    fake: FakeGitHub, older: Run, newer: Run
) -> None:
    fake.fail(f"POST {PATH}", Fault(status=403))
    tasks.comment_verdict.apply(args=[older.github_run_id])
    tasks.comment_verdict.apply(args=[newer.github_run_id])
    assert places(only(fake), newer) < places(only(fake), older)


def test_write_goes_to_no_other_host(fake: FakeGitHub, older: Run) -> None:
    away = {"Location": f"{fake.storage_url}/elsewhere"}
    fake.fail(f"POST {PATH}", Fault(status=307, headers=away))
    tasks.comment_verdict.apply(args=[older.github_run_id])
    assert kept().error == "refused to write to another host"


def test_write_follows_a_renamed_repository(fake: FakeGitHub, older: Run) -> None:
    there = {"Location": PATH.replace("bench", "renamed")}
    fake.fail(f"POST {PATH}", Fault(status=307, headers=there))
    assert comment_run(older.github_run_id) is Outcome.CREATED
    assert len(fake.board.own(PR)) == 1


# Which runs are told


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"pr_number": None}, "run 90001 belongs to no pull request"),
        ({"publication": "official"}, "run 90001 is official"),
        ({"publication": "hidden"}, "run 90001 is hidden"),
        (
            {"repository__full_name": "fork/bench", "repository__is_official": False},
            "fork/bench is not an official repository",
        ),
    ],
)
def test_other_runs_are_told_nowhere(
    fake: FakeGitHub, sent: list[Any], fields: dict[str, Any], why: str
) -> None:
    run = factories.RunFactory(**{"pr_number": PR} | fields)
    with pytest.raises(NoCommentError, match=why):
        comment_run(run.github_run_id)
    comments.ask_for_comment(run.github_run_id)
    assert (fake.asked, sent) == ([], [])


def test_number_of_another_pull_request_is_refused(fake: FakeGitHub) -> None:
    """A run of the default branch may name the pull request of a fork of it."""
    fake.board.open_pull(PR, "0" * 40, "main")
    for branch in ("main", "other"):
        run = make_run(branch=branch, sha="1" * 40)
        with pytest.raises(NoCommentError, match="is not the pull request of run"):
            comment_run(run.github_run_id)
    assert kept().sections == {}
    fitting = make_run(branch="main", sha="0" * 40)
    assert comment_run(fitting.github_run_id) is Outcome.CREATED
    assert set(kept().sections) == {str(fitting.github_run_id)}


def test_nothing_is_said_while_comments_are_off(
    fake: FakeGitHub, older: Run, settings: Any
) -> None:
    settings.FRONTIERBOARD_PR_COMMENTS = False
    with pytest.raises(CommandError, match="FRONTIERBOARD_PR_COMMENTS is 0"):
        call_command("comment_verdict", str(older.github_run_id))
    tasks.comment_verdict.apply(args=[older.github_run_id])
    assert fake.asked == []


def test_unknown_run_is_told_by_the_command() -> None:
    with pytest.raises(CommandError, match="run 5 is not stored here"):
        call_command("comment_verdict", "5")


@pytest.mark.parametrize(
    ("changes", "expected"),
    [({}, [[90001, False]]), ({"status": "in_progress", "conclusion": None}, [])],
)
def test_finished_run_of_a_pull_request_asks_for_its_comment(
    fake: FakeGitHub,
    sent: list[Any],
    tmp_path: Path,
    changes: dict[str, Any],
    expected: list[Any],
    django_capture_on_commit_callbacks: Any,
) -> None:
    of_pull = {
        "event": "pull_request",
        "head_branch": "feature",
        "pull_requests": [{"number": PR}],
    }
    fake.add(write_bundle(tmp_path, run_object(**of_pull | changes), results(row())))
    with django_capture_on_commit_callbacks(execute=True):
        tasks.ingest_run.apply(args=[REPOSITORY, 90001])
    assert Run.objects.get().pr_number == PR
    assert sent == expected


def test_broker_that_is_down_breaks_no_ingestion(
    older: Run,
    monkeypatch: pytest.MonkeyPatch,
    django_capture_on_commit_callbacks: Any,
) -> None:
    def refuse(*arguments: Any) -> None:
        raise ConnectionError("no broker")

    monkeypatch.setattr(current_app, "send_task", refuse)
    with django_capture_on_commit_callbacks() as callbacks:
        comments.ask_for_comment(older.github_run_id)
    assert [callback.func for callback in callbacks] == [refuse]


# The staff page


def test_staff_see_errors_and_ask_again(
    admin_client: Any,
    older: Run,
    newer: Run,
    sent: list[Any],
    django_capture_on_commit_callbacks: Any,
) -> None:
    made = factories.PullRequestCommentFactory(
        repository=older.repository, pr_number=PR, error="GitHub answers 403"
    )
    path = reverse("admin:dashboard_pullrequestcomment_changelist")
    assert "GitHub answers 403" in admin_client.get(path).content.decode()
    asked = {"action": "ask_again", "_selected_action": [made.pk]}
    with django_capture_on_commit_callbacks(execute=True):
        admin_client.post(path, asked)
    assert sent == [[newer.github_run_id, True]]
    add = reverse("admin:dashboard_pullrequestcomment_add")
    assert admin_client.get(add).status_code == 403


def test_staff_are_told_that_comments_are_off(
    admin_client: Any, older: Run, settings: Any, sent: list[Any]
) -> None:
    settings.FRONTIERBOARD_PR_COMMENTS = False
    made = factories.PullRequestCommentFactory(repository=older.repository)
    path = reverse("admin:dashboard_pullrequestcomment_changelist")
    asked = {"action": "ask_again", "_selected_action": [made.pk]}
    response = admin_client.post(path, asked, follow=True)
    assert "FRONTIERBOARD_PR_COMMENTS is 0" in response.content.decode()
    assert sent == []
