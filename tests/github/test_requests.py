"""Asking for a run: one fetch however many ask, nothing fetched again while fresh."""

import threading
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from celery import current_app
from django.db import connection
from django.utils import timezone

from dashboard.ingest_requests import RequestRefusedError, request_run, resend_lost
from dashboard.models import Fetch, IngestRequest, Repository
from ingest import tasks
from ingest.progress import silent
from ingest.remote_runs import ingest_remote
from tests.factories import RunFactory
from tests.github_server import FakeGitHub
from tests.pipeline.bundles import REPOSITORY, results, row, write_bundle

RUN = 90001
State = IngestRequest.State


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, list[Any]]]:
    """The tasks that were given to the broker; there is no worker in these tests."""
    names: list[tuple[str, list[Any]]] = []
    monkeypatch.setattr(
        current_app,
        "send_task",
        lambda name, arguments: names.append((name, arguments)),
    )
    return names


@pytest.mark.django_db(transaction=True)
def test_fifty_who_ask_at_once_share_one_request(sent: list[Any]) -> None:
    answers: list[int] = []
    errors: list[Exception] = []
    start = threading.Barrier(50)

    def ask() -> None:
        start.wait()
        try:
            answers.append(request_run(run_id=RUN, repository=REPOSITORY).pk)
        except Exception as error:  # noqa: BLE001  # reported below
            errors.append(error)
        finally:
            connection.close()

    threads = [threading.Thread(target=ask) for _ in range(50)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert len(answers) == 50
    assert set(answers) == {IngestRequest.objects.get().pk}
    assert len(sent) == 1


def asked(**changes: Any) -> IngestRequest:
    return request_run(run_id=RUN, repository=REPOSITORY, **changes)


def end(request: IngestRequest, state: str, age: timedelta = timedelta()) -> None:
    at = timezone.now() - age
    IngestRequest.objects.filter(pk=request.pk).update(state=state, finished_at=at)


@pytest.fixture
def finished_run(db: None) -> None:
    Fetch.objects.create(
        run=RunFactory(github_run_id=RUN, status="completed"),
        fetched_at=timezone.now(),
        is_complete=True,
    )


@pytest.mark.parametrize("state", [State.DONE, State.PARTLY])
def test_finished_run_is_not_asked_for_again_while_fresh(
    finished_run: None, sent: list[Any], settings: Any, state: str
) -> None:
    settings.FRONTIERBOARD_REFETCH_SECONDS = 600
    first = asked()
    end(first, state, timedelta(minutes=9))
    assert asked() == first
    assert asked(force=True) != first


def test_finished_run_is_asked_for_again_later(
    finished_run: None, sent: list[Any], settings: Any
) -> None:
    settings.FRONTIERBOARD_REFETCH_SECONDS = 600
    first = asked()
    end(first, State.DONE, timedelta(minutes=11))
    assert asked() != first


@pytest.mark.django_db
@pytest.mark.parametrize("state", [State.DONE, State.FAILED])
def test_failure_and_run_at_work_are_asked_for_again_after_a_minute(
    sent: list[Any], state: str
) -> None:
    first = asked()
    end(first, state, timedelta(seconds=30))
    assert asked() == first
    end(first, state, timedelta(seconds=70))
    assert asked() != first


@pytest.mark.django_db
def test_letter_case_of_the_repository_makes_no_other_run(sent: list[Any]) -> None:
    assert request_run(run_id=RUN, repository=REPOSITORY.lower()) == asked()


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("run_id", "repository"),
    [(0, REPOSITORY), (-1, REPOSITORY), (2**63, REPOSITORY), (1, "x"), (1, "a/b/c")],
)
def test_what_can_be_no_run_is_refused(
    sent: list[Any], run_id: int, repository: str
) -> None:
    with pytest.raises(RequestRefusedError):
        request_run(run_id=run_id, repository=repository)
    assert not IngestRequest.objects.exists()


@pytest.mark.django_db
def test_task_that_the_broker_lost_is_sent_again_once(
    sent: list[Any], django_capture_on_commit_callbacks: Any
) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        request = asked()
    assert resend_lost() == 0
    long_ago = timezone.now() - timedelta(minutes=16)
    IngestRequest.objects.update(sent_at=long_ago)
    assert resend_lost() == 1
    assert resend_lost() == 0
    assert [arguments[:3] for _, arguments in sent] == [
        [REPOSITORY, RUN, request.pk],
        [REPOSITORY, RUN, request.pk],
    ]


# What becomes of a request


@pytest.fixture
def served(fake: FakeGitHub, tmp_path: Path, db: None) -> FakeGitHub:
    fake.add(write_bundle(tmp_path / "bundle", artifacts=results(row())))
    return fake


def run_task(request: IngestRequest, **changes: Any) -> IngestRequest:
    number = request.github_run_id
    tasks.ingest_run(request.repository, number, request.pk, **changes)
    request.refresh_from_db()
    return request


def test_request_ends_with_counts(served: FakeGitHub, sent: list[Any]) -> None:
    request = run_task(asked(requested_by="octocat"))
    assert (request.state, request.error) == (State.DONE, "")
    assert request.counts["points"] == 1
    fetches = len(served.asked)
    run_task(request)
    assert len(served.asked) == fetches


def test_unknown_run_ends_with_one_line(served: FakeGitHub, sent: list[Any]) -> None:
    request = run_task(request_run(run_id=5, repository=REPOSITORY))
    assert request.state == State.FAILED
    assert request.error == f"run 5 was not found in {REPOSITORY}"


def test_private_repository_without_token_says_what_helps(
    served: FakeGitHub, sent: list[Any], settings: Any
) -> None:
    settings.GITHUB_TOKEN = ""
    request = run_task(request_run(run_id=5, repository="o/private"))
    assert request.state == State.FAILED
    assert "private ones need GITHUB_TOKEN" in request.error


def test_private_repository_nobody_entered_is_not_read_with_our_token(
    served: FakeGitHub, sent: list[Any]
) -> None:
    served.runs[RUN]["repository"] = {"full_name": "o/secret", "private": True}
    request = run_task(request_run(run_id=RUN, repository="o/secret"))
    assert request.state == State.FAILED
    assert request.error == f"run {RUN} was not found in o/secret"
    assert served.count("/artifacts") == 0
    assert not Repository.objects.filter(full_name="o/secret").exists()


@pytest.mark.parametrize("how", ["settings", "row"])
def test_private_repository_that_was_entered_is_read(
    served: FakeGitHub, sent: list[Any], settings: Any, how: str
) -> None:
    served.runs[RUN]["repository"] = {"full_name": "o/secret", "private": True}
    if how == "settings":
        settings.FRONTIERBOARD_REPOSITORY = "O/Secret"
    else:
        Repository.objects.create(full_name="o/secret")
    request = run_task(request_run(run_id=RUN, repository="o/secret"))
    assert (request.state, request.error) == (State.DONE, "")


def test_refused_token_ends_with_one_line(
    served: FakeGitHub, sent: list[Any], settings: Any
) -> None:
    served.needs_token = True
    settings.GITHUB_TOKEN = "revoked"  # noqa: S105  # no secret
    request = run_task(asked())
    assert request.state == State.FAILED
    assert "may not be read: GitHub answers 401" in request.error


def test_run_of_another_repository_is_refused(
    served: FakeGitHub, sent: list[Any]
) -> None:
    ingest_remote(REPOSITORY, RUN, silent)
    served.runs[RUN]["repository"] = {"full_name": "o/fork"}
    request = run_task(request_run(run_id=RUN, repository="o/fork"))
    assert request.state == State.FAILED
    assert "already known under" in request.error
