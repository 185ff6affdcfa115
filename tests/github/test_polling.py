"""Polling: every official run that is new or has changed is asked for, once."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from dashboard.models import Fetch, IngestRequest, Repository, Run
from ingest.polling import poll_repositories
from ingest.progress import silent
from ingest.remote_runs import ingest_remote
from tests.factories import RepositoryFactory
from tests.github_server import FakeGitHub, Fault
from tests.pipeline.bundles import (
    REPOSITORY,
    iso,
    results,
    row,
    run_object,
    write_bundle,
)

NOW = datetime.now(UTC).replace(microsecond=0)
pytestmark = pytest.mark.django_db


@pytest.fixture
def official() -> Repository:
    return RepositoryFactory(full_name=REPOSITORY, is_official=True)


@pytest.fixture
def served(fake: FakeGitHub, tmp_path: Path, official: Repository) -> FakeGitHub:
    for run_id, age in ((1, 3), (2, 2), (3, 1)):
        serve(fake, tmp_path, run_id, age)
    return fake


def serve(
    fake: FakeGitHub, folder: Path, run_id: int, age_days: float, **changes: Any
) -> None:
    at = NOW - timedelta(days=age_days)
    times = {"created_at": iso(at), "updated_at": iso(at + timedelta(hours=1))}
    run = run_object(run_id, **times | changes)
    uploads = results(row())
    bundle = write_bundle(
        folder / str(run_id), run, uploads, first_id=1000 * run_id, uploaded_at=at
    )
    fake.add(bundle)


def asked() -> list[int | None]:
    poll_repositories()
    requests = IngestRequest.objects.filter(state="queued").order_by("pk")
    return list(requests.values_list("github_run_id", flat=True))


def fetch(run_id: int) -> None:
    ingest_remote(REPOSITORY, run_id, silent)
    IngestRequest.objects.filter(github_run_id=run_id).update(
        state="done", finished_at=timezone.now()
    )


def test_new_runs_are_asked_for_oldest_first(served: FakeGitHub) -> None:
    served.largest_page = 2
    assert asked() == [1, 2, 3]
    assert asked() == [1, 2, 3]
    assert {r.requested_by for r in IngestRequest.objects.all()} == {"poll"}


def test_configured_repository_is_polled_from_an_empty_database(
    served: FakeGitHub, official: Repository, settings: Any
) -> None:
    settings.FRONTIERBOARD_REPOSITORY = REPOSITORY
    official.delete()
    assert asked() == [1, 2, 3]


def test_stored_runs_are_left_alone(served: FakeGitHub) -> None:
    for run_id in (1, 3):
        fetch(run_id)
    assert asked() == [2]


def test_run_that_ran_again_is_asked_for(served: FakeGitHub) -> None:
    for run_id in (1, 2, 3):
        fetch(run_id)
    assert asked() == []
    served.runs[2] |= {"run_attempt": 2, "updated_at": iso(NOW)}
    IngestRequest.objects.all().delete()
    assert asked() == [2]


@pytest.mark.parametrize(
    "changes",
    [
        {"event": "pull_request"},
        {"head_branch": "topic"},
        {"status": "in_progress", "conclusion": None},
        {"path": ".github/workflows/lint.yml"},
    ],
)
def test_what_is_not_official_or_not_finished_is_not_polled(
    fake: FakeGitHub, tmp_path: Path, official: Repository, changes: dict[str, Any]
) -> None:
    serve(fake, tmp_path, 1, 1, **changes)
    assert asked() == []


def test_empty_database_begins_some_days_back(
    served: FakeGitHub, settings: Any
) -> None:
    settings.FRONTIERBOARD_POLL_DAYS = 2
    assert asked() == [3]


def test_polling_goes_on_where_the_tables_left_off(
    fake: FakeGitHub, tmp_path: Path, official: Repository
) -> None:
    serve(fake, tmp_path, 1, 40)
    serve(fake, tmp_path, 2, 30)
    serve(fake, tmp_path, 3, 20)
    fetch(2)
    assert asked() == [3]


@pytest.mark.parametrize("state", ["failed", "partly"])
def test_what_went_badly_is_asked_for_again_hours_later(
    served: FakeGitHub, state: str
) -> None:
    assert asked() == [1, 2, 3]
    old = timezone.now() - timedelta(hours=7)
    IngestRequest.objects.update(state=state, finished_at=timezone.now())
    assert asked() == []
    IngestRequest.objects.update(requested_at=old, finished_at=old)
    assert asked() == [1, 2, 3]


def test_repository_that_cannot_be_listed_waits(
    served: FakeGitHub, official: Repository
) -> None:
    served.fail("/workflows/", Fault(422))
    with pytest.raises(CommandError, match="GitHub answers 422"):
        call_command("poll_runs")
    assert asked() == [1, 2, 3]


def test_command_says_what_was_asked_for(
    served: FakeGitHub, capsys: pytest.CaptureFixture[str]
) -> None:
    call_command("poll_runs")
    lines = capsys.readouterr().out.splitlines()
    assert lines == ["run 1: queued", "run 2: queued", "run 3: queued", "3 asked for"]


def test_unofficial_repositories_are_not_polled(
    served: FakeGitHub, official: Repository
) -> None:
    Repository.objects.update(is_official=False)
    assert asked() == []
    assert served.asked == []


def test_fetched_runs_are_official(served: FakeGitHub) -> None:
    fetch(3)
    assert Run.objects.get().publication == Run.Publication.OFFICIAL
    assert Fetch.objects.get().is_complete
