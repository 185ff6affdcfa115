"""One comment per pull request: edited in place, never doubled, left where deleted."""

# mypy: allow-untyped-calls

import hashlib
import re
import threading

import pytest
from django.core.management import call_command
from django.db import connection

from dashboard.analysis.comment_body import comment_marker
from dashboard.models import Run
from ingest import tasks
from ingest.claims import AlreadyRunningError, comment_claimed
from ingest.comments import NoCommentError, Outcome, comment_run
from ingest.github import UnreachableError
from tests.github.commented import (
    PATH,
    PR,
    SITE,
    comments_are_on,
    kept,
    make_run,
    newer,
    older,
    only,
    places,
)
from tests.github_comments import BOT
from tests.github_server import FakeGitHub, Fault
from tests.pages.builders import curve
from tests.pages.test_unofficial import KEY, overlaid

__all__ = ["comments_are_on", "newer", "older"]

STRANGER = {"id": 7, "login": "board-bot", "type": "User"}

pytestmark = pytest.mark.django_db


# One comment


def test_one_comment_is_edited_and_its_newest_run_stays_first(
    fake: FakeGitHub, older: Run, newer: Run
) -> None:
    for _ in range(3):
        tasks.comment_verdict.apply(args=[older.github_run_id])
    assert fake.board.written == ["POST"]
    tasks.comment_verdict.apply(args=[newer.github_run_id])
    tasks.comment_verdict.apply(args=[older.github_run_id])
    assert fake.board.written == ["POST", "PATCH"]
    assert places(only(fake), newer, older) == sorted(places(only(fake), newer, older))
    assert (kept().error, set(kept().sections)) == (
        "",
        {str(older.github_run_id), str(newer.github_run_id)},
    )


def test_older_run_that_changed_keeps_its_place(
    fake: FakeGitHub, older: Run, newer: Run
) -> None:
    comment_run(newer.github_run_id)
    comment_run(older.github_run_id)
    Run.objects.filter(pk=older.pk).update(title="Another name")
    assert comment_run(older.github_run_id) is Outcome.EDITED
    body = only(fake)
    assert places(body, newer) < [body.index("Another name")]
    assert body.count(f"/runs/{newer.github_run_id})") == 2  # its head and its link


def test_comment_holds_the_verdict_and_begins_with_the_hidden_marker(
    fake: FakeGitHub,
) -> None:
    curve(KEY)
    run = overlaid()
    assert comment_run(run.github_run_id) is Outcome.CREATED
    body = only(fake)
    marker = comment_marker(SITE)
    assert body.startswith(f"{marker}\n\n### Frontierboard: ")
    assert f"| `{KEY}`" in body
    assert f"{SITE}/runs/{run.github_run_id}" in body
    row = kept()
    assert row.comment_id == fake.comments[PR][0]["id"]
    assert row.body_sha256 == hashlib.sha256(body.encode()).hexdigest()
    assert row.updated_at is not None


def test_hidden_run_loses_its_section(fake: FakeGitHub, older: Run, newer: Run) -> None:
    comment_run(older.github_run_id)
    Run.objects.filter(pk=older.pk).update(publication="hidden")
    comment_run(newer.github_run_id)
    assert f"/runs/{older.github_run_id}" not in only(fake)


def test_texts_of_strangers_are_inert(fake: FakeGitHub) -> None:
    steering = "@all ``` <img src=x> ![a](http://e.example/a)"
    run = make_run(title=f"{steering}\n# x {comment_marker(SITE)} |")
    comment_run(run.github_run_id)
    (line,) = [line for line in only(fake).splitlines() if "@all" in line]
    before, inside, after = re.split(r"(?<!`)`(?!`)", line)
    assert inside == f"{steering} # x {comment_marker(SITE)} \\|"
    assert before.startswith("Run [")
    assert after.startswith(": ")


# Which comment is ours


def test_marker_of_another_user_counts_for_nothing(
    fake: FakeGitHub, older: Run
) -> None:
    forged = f"{comment_marker(SITE)}\nall is well"
    fake.board.say(PR, forged, STRANGER)
    assert comment_run(older.github_run_id) is Outcome.CREATED
    assert [item["body"] for item in fake.comments[PR]] == [forged, only(fake)]


def test_other_comments_of_the_same_user_are_left_alone(
    fake: FakeGitHub, older: Run
) -> None:
    quoted = f"as it says: {comment_marker(SITE)}"
    fake.board.say(PR, quoted, BOT)
    fake.board.say(PR, comment_marker("https://other.example.org"), BOT)
    assert comment_run(older.github_run_id) is Outcome.CREATED
    assert len(fake.board.own(PR)) == 3


def test_comment_on_the_last_page_is_found(fake: FakeGitHub, older: Run) -> None:
    for number in range(230):
        fake.board.say(PR, f"remark {number}", STRANGER)
    own = fake.board.say(PR, f"{comment_marker(SITE)}\n", BOT)
    assert comment_run(older.github_run_id) is Outcome.EDITED
    assert fake.board.written == ["PATCH"]
    assert kept().comment_id == own["id"]
    assert fake.count(PATH) == 3


def test_whose_token_it_is_is_asked_once(fake: FakeGitHub, older: Run) -> None:
    fake.board.open_pull(502, "elsewhere", "feature")
    other = make_run()
    Run.objects.filter(pk=other.pk).update(pr_number=502)
    comment_run(older.github_run_id)
    comment_run(other.github_run_id)
    assert fake.count("/user") == 1
    assert {len(fake.board.own(PR)), len(fake.board.own(502))} == {1}


# Created, but not known


@pytest.mark.parametrize(
    "fault",
    [
        Fault(status=502, carried_out=True),
        Fault(drop=True),
        Fault(keep=10),
    ],
    ids=["502", "no answer", "half an answer"],
)
def test_comment_that_was_made_without_an_answer_is_found(
    fake: FakeGitHub, older: Run, fault: Fault
) -> None:
    fake.fail(f"POST {PATH}", fault)
    with pytest.raises(UnreachableError):
        comment_run(older.github_run_id)
    assert (len(fake.board.own(PR)), kept().comment_id) == (1, None)
    assert kept().error
    assert comment_run(older.github_run_id) is Outcome.EDITED
    assert fake.board.written.count("POST") == len(fake.board.own(PR)) == 1
    assert kept().error == ""


def test_task_tries_again_after_a_502_and_looks_first(
    fake: FakeGitHub, older: Run
) -> None:
    fault = Fault(status=502, carried_out=True)
    fake.fail(f"POST {PATH}", fault)
    tasks.comment_verdict.apply(args=[older.github_run_id])
    assert fake.board.written == ["POST", "PATCH"]
    assert len(fake.board.own(PR)) == 1


def test_502_without_a_comment_is_made_up_for(fake: FakeGitHub, older: Run) -> None:
    fake.fail(f"POST {PATH}", Fault(status=502))
    tasks.comment_verdict.apply(args=[older.github_run_id])
    assert len(fake.board.own(PR)) == 1


@pytest.mark.django_db(transaction=True)
def test_two_workers_make_one_comment(fake: FakeGitHub, older: Run) -> None:
    second: list[str] = []

    def another_worker() -> None:
        """Run in a thread of the server, while the first waits for its answer."""
        try:
            comment_run(older.github_run_id)
        except AlreadyRunningError as error:
            second.append(str(error))
        finally:
            connection.close()

    fake.board.before_create = another_worker
    assert comment_run(older.github_run_id) is Outcome.CREATED
    assert second == ["the comment on #501 is already being written"]
    fake.board.before_create = None
    assert comment_run(older.github_run_id) is Outcome.SAME
    assert fake.board.written == ["POST"]


@pytest.mark.django_db(transaction=True)
def test_runs_that_are_told_at_once_are_all_told(
    fake: FakeGitHub, older: Run, newer: Run
) -> None:
    together = threading.Barrier(2)

    def tell(run: Run) -> None:
        together.wait()
        try:
            tasks.comment_verdict.apply(args=[run.github_run_id], retries=0)
        finally:
            connection.close()

    with comment_claimed("example/other", PR):  # another repository's is no obstacle
        threads = [threading.Thread(target=tell, args=[r]) for r in (older, newer)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    told = set(kept().sections)
    for run in (older, newer):
        comment_run(run.github_run_id)
    assert told
    assert fake.board.written.count("POST") == len(fake.board.own(PR)) == 1
    assert places(only(fake), newer) < places(only(fake), older)


# What a person decided


def test_deleted_comment_is_not_made_again(
    fake: FakeGitHub, older: Run, newer: Run
) -> None:
    comment_run(older.github_run_id)
    fake.board.delete_own(PR)
    assert comment_run(newer.github_run_id) is Outcome.DELETED
    assert comment_run(older.github_run_id) is Outcome.DELETED
    assert fake.board.own(PR) == []
    assert kept().is_deleted
    assert fake.board.written == ["POST", "PATCH"]


def test_deleted_comment_is_made_again_when_asked(
    fake: FakeGitHub, older: Run, newer: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    comment_run(older.github_run_id)
    fake.board.delete_own(PR)
    comment_run(newer.github_run_id)
    call_command("comment_verdict", str(newer.github_run_id))
    call_command("comment_verdict", str(newer.github_run_id), "--again")
    assert capsys.readouterr().out.splitlines() == [
        "deleted by a person; not made again",
        "created",
    ]
    assert places(only(fake), newer) < places(only(fake), older)
    assert not kept().is_deleted


def test_deletion_that_nobody_noticed_is_made_up_for_when_asked(
    fake: FakeGitHub, older: Run
) -> None:
    comment_run(older.github_run_id)
    fake.board.delete_own(PR)
    assert comment_run(older.github_run_id) is Outcome.SAME
    assert comment_run(older.github_run_id, again=True) is Outcome.CREATED
    assert len(fake.board.own(PR)) == 1


def test_comment_that_may_not_be_edited_is_not_taken_for_deleted(
    fake: FakeGitHub, older: Run, newer: Run
) -> None:
    comment_run(older.github_run_id)
    fake.fail("PATCH /repos/example/bench/", Fault(status=404))
    tasks.comment_verdict.apply(args=[newer.github_run_id])
    assert kept().error == "GITHUB_COMMENT_TOKEN may not comment in example/bench"
    assert not kept().is_deleted


def test_closed_pull_request_is_left_in_peace_unless_asked(
    fake: FakeGitHub, older: Run, newer: Run
) -> None:
    fake.board.pulls[PR]["state"] = "closed"
    with pytest.raises(NoCommentError, match="#501 is closed"):
        comment_run(older.github_run_id)
    assert fake.board.own(PR) == []
    assert comment_run(older.github_run_id, again=True) is Outcome.CREATED
    assert comment_run(newer.github_run_id) is Outcome.EDITED
