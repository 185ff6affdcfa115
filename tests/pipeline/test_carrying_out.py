"""A request's tries: counted before the work, given up after five, sent again."""

from datetime import timedelta
from typing import Any

import pytest
from celery import current_app
from django.db import OperationalError
from django.utils import timezone

from dashboard.ingest_requests import (
    LOST,
    request_replay,
    request_run,
    resend_lost,
    send_again,
)
from dashboard.models import IngestRequest
from ingest import tasks
from ingest.claims import AlreadyRunningError, request_claimed, request_number
from ingest.requests import MAX_TRIES, RequestProgress, carry_out, resend_dead
from tests.factories import RunFactory
from tests.pipeline.bundles import REPOSITORY
from tests.worker.crew import advisory_lock_held

RUN = 90001
State = IngestRequest.State
pytestmark = pytest.mark.django_db


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


@pytest.fixture
def request_(sent: list[Any]) -> IngestRequest:
    """A request for a run, given to the broker just now."""
    request = request_run(run_id=RUN, repository=REPOSITORY)
    sent.clear()
    return request


def died(request: IngestRequest, tries: int = 1) -> IngestRequest:
    """Let a request look as if its worker had died at it so often."""
    IngestRequest.objects.filter(pk=request.pk).update(
        state=State.RUNNING,
        tries=tries,
        step="artifacts",
        progress_done=12,
        progress_total=41,
    )
    request.refresh_from_db()
    return request


def carried_out(request: IngestRequest, work: Any) -> IngestRequest:
    try:
        carry_out(request.pk, work, passing=(OperationalError,), is_last_try=False)
    finally:
        request.refresh_from_db()
    return request


def test_try_is_counted_before_the_work_begins(request_: IngestRequest) -> None:
    seen = []

    def work(progress: RequestProgress) -> None:
        request_.refresh_from_db()
        seen.append((request_.state, request_.tries, resend_dead()))

    carried_out(died(request_, MAX_TRIES - 1), work)
    assert seen == [(State.RUNNING, MAX_TRIES, 0)]
    assert request_.state == State.DONE


def test_request_that_killed_five_workers_ends_and_stays_so(
    request_: IngestRequest, sent: list[Any]
) -> None:
    died(request_, MAX_TRIES)
    tasks.ingest_run(REPOSITORY, RUN, request_.pk)
    request_.refresh_from_db()
    assert request_.state == State.FAILED
    assert request_.error == (
        "the worker died 5 times while doing this: artifacts, 12 of 41;"
        " ask again to retry"
    )
    assert request_.finished_at is not None

    IngestRequest.objects.update(sent_at=timezone.now() - LOST - timedelta(minutes=1))
    tasks.resend_requests()
    assert sent == []
    tasks.ingest_run(REPOSITORY, RUN, request_.pk)
    request_.refresh_from_db()
    assert (request_.state, request_.tries) == (State.FAILED, MAX_TRIES)


@pytest.mark.parametrize("name", ["ingest_path", "replay_run", "derive_run"])
def test_tasks_of_every_kind_give_up(request_: IngestRequest, name: str) -> None:
    died(request_, MAX_TRIES)
    getattr(tasks, name)("nowhere", request_.pk)
    request_.refresh_from_db()
    assert request_.error.startswith("the worker died 5 times")


def test_asking_again_begins_at_no_try(
    request_: IngestRequest, django_capture_on_commit_callbacks: Any, sent: list[Any]
) -> None:
    died(request_, MAX_TRIES)
    tasks.ingest_run(REPOSITORY, RUN, request_.pk)
    long_ago = timezone.now() - timedelta(minutes=2)
    IngestRequest.objects.update(finished_at=long_ago)
    with django_capture_on_commit_callbacks(execute=True):
        again = request_run(run_id=RUN, repository=REPOSITORY)
    assert (again.state, again.tries) == (State.QUEUED, 0)
    assert sent == [("ingest.tasks.ingest_run", [REPOSITORY, RUN, again.pk])]


def test_try_that_ended_by_itself_is_taken_back(request_: IngestRequest) -> None:
    def work(progress: RequestProgress) -> None:
        raise OperationalError("the database restarts")

    with pytest.raises(OperationalError):
        carried_out(died(request_, 3), work)
    assert (request_.state, request_.tries) == (State.QUEUED, 3)
    assert request_.error == "the database restarts"


def test_request_that_another_worker_is_at_is_left_alone(
    request_: IngestRequest, sent: list[Any]
) -> None:
    died(request_)
    with advisory_lock_held(request_number(request_.pk)):
        with pytest.raises(AlreadyRunningError, match="already being carried out"):
            carried_out(request_, lambda progress: None)
        assert resend_dead() == 0
    assert (request_.state, request_.tries) == (State.RUNNING, 1)
    assert sent == []


def test_running_request_without_a_worker_is_sent_again_once(
    request_: IngestRequest, sent: list[Any]
) -> None:
    assert resend_dead() == 0
    died(request_)
    assert resend_dead() == 1
    assert resend_dead() == 0
    request_.refresh_from_db()
    assert request_.state == State.QUEUED
    # Whatever is stored by now: it may have been asked for without regard to that.
    arguments = [REPOSITORY, RUN, request_.pk, True]
    assert sent == [("ingest.tasks.ingest_run", arguments)]
    assert resend_lost() == 0


def test_replay_without_a_worker_is_sent_again_as_it_was(sent: list[Any]) -> None:
    run = RunFactory(github_run_id=RUN)
    request = died(request_replay(run=run, requested_by="staff"))
    assert resend_dead() == 1
    assert sent == [("ingest.tasks.replay_run", [RUN, request.pk])]


@pytest.mark.parametrize("change", [{"state": State.DONE}, {"tries": 2}])
def test_request_that_ended_or_began_anew_meanwhile_is_not_sent(
    request_: IngestRequest, sent: list[Any], change: dict[str, Any]
) -> None:
    died(request_)
    IngestRequest.objects.filter(pk=request_.pk).update(**change)
    assert not send_again(request_)
    assert sent == []


def test_claims_of_others_are_no_claims_of_a_request(
    request_: IngestRequest, sent: list[Any]
) -> None:
    died(request_)
    with request_claimed(request_.pk + 1):
        assert resend_dead() == 1
