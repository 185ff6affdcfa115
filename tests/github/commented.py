"""What the tests of pull request comments share: comments are on, two runs of one."""

# mypy: allow-untyped-calls

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from celery import current_app

from dashboard.ingest_requests import COMMENT_TASK
from dashboard.models import PullRequestComment, Run
from ingest import comments
from tests import factories
from tests.github_comments import COMMENT_TOKEN
from tests.github_server import FakeGitHub

SITE = "https://board.example.org"
PR = 501
PATH = f"/repos/example/bench/issues/{PR}/comments"
DAY = timedelta(days=1)


@pytest.fixture(autouse=True)
def comments_are_on(fake: FakeGitHub, settings: Any) -> Iterator[None]:
    settings.FRONTIERBOARD_PR_COMMENTS = True
    settings.GITHUB_COMMENT_TOKEN = COMMENT_TOKEN
    settings.FRONTIERBOARD_URL = SITE
    settings.GITHUB_WAIT_SECONDS = 0
    comments._own_ids.clear()
    fake.board.open_pull(PR, "elsewhere", "feature")
    yield
    assert COMMENT_TOKEN not in str(PullRequestComment.objects.values())


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[list[Any]]:
    """The tasks for comments that were given to the broker."""
    found: list[list[Any]] = []

    def send(name: str, arguments: list[Any]) -> None:
        assert name == COMMENT_TASK
        found.append(arguments)

    monkeypatch.setattr(current_app, "send_task", send)
    return found


@pytest.fixture
def older() -> Run:
    return make_run()


@pytest.fixture
def newer(older: Run) -> Run:
    return make_run(created_at=older.created_at + DAY)


def make_run(**fields: Any) -> Run:
    made: Run = factories.RunFactory(pr_number=PR, **fields)
    return made


def kept() -> PullRequestComment:
    return PullRequestComment.objects.get()


def places(body: str, *runs: Run) -> list[int]:
    return [body.index(f"/runs/{run.github_run_id})") for run in runs]


def only(fake: FakeGitHub) -> str:
    """The text of the one comment of ours."""
    (body,) = fake.board.own(PR)
    return body
