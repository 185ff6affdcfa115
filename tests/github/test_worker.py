"""A real worker that fetches: killed anywhere it leaves nothing half done."""

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from redis import Redis

from dashboard.ingest_requests import request_run
from dashboard.models import Fetch, IngestRequest, Run
from tests.github.conftest import serve_recorded
from tests.github_server import TOKEN, FakeGitHub, Fault, github_server
from tests.ingest import golden
from tests.worker.crew import (
    Crew,
    pass_visibility_timeout,
    progress_held,
    wait_for,
    wait_until_all_is_done,
    wait_until_blocked,
    wait_until_ended,
    wait_until_idle,
    writes_held,
)

REPOSITORY = "SemiAnalysisAI/InferenceX"
RUN, MERGE, SOURCE = 33300000002, 33700000003, 33598359757


@pytest.fixture(scope="module")
def github(shared_data: Path) -> Iterator[FakeGitHub]:
    with github_server() as fake:
        serve_recorded(fake, shared_data)
        yield fake
        assert fake.leaks == []


@pytest.fixture(scope="module")
def workers(
    github: FakeGitHub,
    tmp_path_factory: pytest.TempPathFactory,
    django_db_setup: None,
    django_db_blocker: Any,
) -> Iterator[Crew]:
    with django_db_blocker.unblock():
        crew = Crew(tmp_path_factory.mktemp("worker"))
    crew.env |= {"GITHUB_API_URL": github.url, "GITHUB_TOKEN": TOKEN}
    yield crew
    crew.stop()


@pytest.fixture
def crew(workers: Crew, github: FakeGitHub, transactional_db: None) -> Iterator[Crew]:
    github.asked.clear()
    github.downloads.clear()
    workers.start()
    yield workers
    wait_until_idle()


def ask(run_id: int = RUN) -> IngestRequest:
    return request_run(run_id=run_id, repository=REPOSITORY)


@pytest.fixture
def undisturbed(crew: Crew, redis_client: Redis) -> dict[str, str]:
    """What the tables hold when the run is fetched and nothing goes wrong."""
    assert wait_until_ended(ask()).state == IngestRequest.State.DONE
    wait_until_all_is_done(redis_client)
    state = golden.state()
    assert golden.seen(RUN)[0].keys() == {golden.SGLANG, golden.MTP}
    return state


def forget_everything() -> None:
    tables = "dashboard_ingestrequest, dashboard_repository, dashboard_checkpoint"
    more = "dashboard_configfile, dashboard_configkey, dashboard_deployment"
    with connection.cursor() as cursor:
        cursor.execute(f"TRUNCATE {tables}, {more} CASCADE")


def test_fifty_who_ask_cause_one_fetch(crew: Crew, github: FakeGitHub) -> None:
    requests: list[int] = []

    def one() -> None:
        try:
            requests.append(ask().pk)
        finally:
            connection.close()

    threads = [threading.Thread(target=one) for _ in range(50)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(requests) == 50
    request = IngestRequest.objects.get(pk__in=requests)
    assert wait_until_ended(request).state == IngestRequest.State.DONE
    assert github.count(f"/actions/runs/{RUN}/artifacts") == 1
    assert len(github.downloads) == len(set(github.downloads))
    assert Run.objects.get().received_count == 19


def test_request_shows_how_far_it_came(crew: Crew, github: FakeGitHub) -> None:
    count = len(github.items(RUN))
    with progress_held("artifacts", 12):
        request = ask()
        wait_until_blocked(request)
        request.refresh_from_db()
        assert (request.step, request.progress_done) == ("artifacts", 11)
        assert request.progress_total == count
    assert wait_until_ended(request).step == "done"


@pytest.mark.parametrize(
    ("step", "done"), [("artifacts", 0), ("artifacts", 15), ("parsing", 3)]
)
def test_worker_killed_while_it_fetches(
    undisturbed: dict[str, str],
    crew: Crew,
    redis_client: Redis,
    step: str,
    done: int,
) -> None:
    forget_everything()
    with progress_held(step, done):
        request = ask()
        wait_until_blocked(request)
        crew.kill()
    assert not Run.objects.exists()
    finish_after(crew, redis_client, request)
    assert golden.state() == undisturbed


@pytest.mark.parametrize("table", ["run", "artifact", "sweep", "generation", "fetch"])
def test_worker_killed_while_it_stores(
    undisturbed: dict[str, str], crew: Crew, redis_client: Redis, table: str
) -> None:
    forget_everything()
    with writes_held(table):
        request = ask()
        wait_until_blocked(request)
        crew.kill()
    finish_after(crew, redis_client, request)
    assert golden.state() == undisturbed
    assert Fetch.objects.get().is_complete


def test_worker_killed_in_a_download_goes_on_where_it_was(
    undisturbed: dict[str, str], crew: Crew, redis_client: Redis, github: FakeGitHub
) -> None:
    forget_everything()
    github.downloads.clear()
    last = min(item["id"] for item in github.items(RUN))
    github.fail(f"/blob/{last}", Fault(pause_s=2.0, keep=100))
    request = ask()
    wait_for(lambda: last in github.downloads, "the download never began")
    wait_for(lambda: github.parallel == 0, "the other downloads never ended")
    crew.kill()
    before = len(github.downloads)
    finish_after(crew, redis_client, request)
    assert golden.state() == undisturbed
    assert len(github.downloads) - before < before


@pytest.mark.parametrize("table", ["reuselink", "fetch"])
def test_worker_killed_between_a_merge_and_its_source(
    crew: Crew, redis_client: Redis, table: str
) -> None:
    with writes_held(table):
        request = ask(MERGE)
        wait_until_blocked(request)
        crew.kill()
    finish_after(crew, redis_client, request)
    source = Run.objects.get(github_run_id=SOURCE)
    assert source.publication == Run.Publication.OFFICIAL
    assert source.received_count == 13
    assert request.counts["source"] == SOURCE


def finish_after(crew: Crew, client: Redis, request: IngestRequest) -> None:
    """Let a new worker take the job of the one that was killed."""
    pass_visibility_timeout(client)
    crew.start()
    assert wait_until_ended(request).state == IngestRequest.State.DONE
