"""A worker killed in the middle of any recorded run, and what the next one makes of it.

No part of the product knows of these tests: they hold locks in PostgreSQL, wait until
the worker's session waits for one, and kill it there.
"""

import hashlib
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path

import pytest
from django.db import transaction
from redis import Redis

from dashboard.models import IngestRequest, Run
from ingest.claims import WRITE_LOCK
from ingest.requests import MAX_TRIES
from tests.ingest import golden
from tests.worker.crew import (
    Crew,
    advisory_lock_held,
    ask_for,
    blocked_sessions,
    give_back_to,
    pass_visibility_timeout,
    progress_held,
    reads_held,
    wait_for,
    wait_until_blocked,
    wait_until_ended,
    writes_held,
)

# Where the worker is killed. Only the first two recorded runs leave a skip behind.
POINTS = (
    "skip",
    "run",
    "artifact",
    "rawrecord",
    "before the write",
    "changelogentry",
    "sweep",
    "point",
    "evalresult",
    "settling",
    "generation",
    "after the commit",
)


def held(point: str) -> AbstractContextManager[object]:
    if point == "before the write":
        return advisory_lock_held(WRITE_LOCK)
    if point == "settling":
        return reads_held("correction")
    return writes_held(point)


def ask_and_kill(crew: Crew, path: Path, point: str) -> IngestRequest:
    """Ask for a bundle and kill the worker at a point of its ingestion."""
    if point == "after the commit":
        return ask_and_kill_after_commit(crew, path)
    with held(point):
        request = ask_for(path)
        wait_until_blocked()
        crew.kill()
    assert not Run.objects.exists()
    return request


def ask_and_kill_after_commit(
    crew: Crew, path: Path, then_at: str | None = None
) -> IngestRequest:
    """Kill the worker right after it stored the run, or when it maps others again."""
    runs = Run.objects.count()
    with ExitStack() as locks:
        before_commit = locks.enter_context(writes_held("artifact"))
        request = ask_for(path)
        wait_until_blocked()
        after_commit = locks.enter_context(writes_held("ingestrequest"))
        before_commit.rollback()
        wait_for(lambda: Run.objects.count() > runs, "the run was never committed")
        wait_until_blocked()
        if then_at is not None:
            locks.enter_context(writes_held(then_at))
            after_commit.rollback()
            wait_for(lambda: is_mapping_again(request), "no other run was mapped")
            wait_until_blocked()
        crew.kill()
    return request


def is_mapping_again(request: IngestRequest) -> bool:
    request.refresh_from_db()
    return request.step == "mapping other runs again"


def assert_bytes_are_whole(crew: Crew) -> None:
    files = [path for path in crew.raw.rglob("*") if path.is_file()]
    assert files
    for path in files:
        assert hashlib.sha256(path.read_bytes()).hexdigest() == path.name


@pytest.mark.parametrize(
    ("run_id", "point"), list(zip(golden.RUN_IDS, POINTS, strict=True))
)
def test_run_is_whole_after_its_worker_was_killed(
    crew: Crew,
    redis_client: Redis,
    shared_data: Path,
    undisturbed: dict[int, dict[str, str]],
    run_id: int,
    point: str,
) -> None:
    request = ask_and_kill(crew, shared_data / "runs" / str(run_id), point)
    pass_visibility_timeout(redis_client)
    crew.start()
    wait_until_ended(request)
    assert request.state in (IngestRequest.State.DONE, IngestRequest.State.PARTLY)
    assert golden.state() == undisturbed[run_id]
    assert_bytes_are_whole(crew)


def test_session_of_a_killed_worker_ends_while_it_waits(
    crew: Crew, shared_data: Path
) -> None:
    with writes_held("point"):
        ask_for(shared_data / "runs" / "33300000002")
        wait_until_blocked()
        crew.kill()
        wait_for(lambda: not blocked_sessions(), "the dead worker's session waits on")
    assert not Run.objects.exists()


def test_bytes_cut_off_by_a_kill_are_written_again(
    crew: Crew,
    redis_client: Redis,
    shared_data: Path,
    undisturbed: dict[int, dict[str, str]],
) -> None:
    run_id = 33300000002
    with progress_held("keeping artifacts", 9):
        request = ask_for(shared_data / "runs" / str(run_id))
        wait_until_blocked()
        crew.kill()
        kept = [path for path in crew.raw.rglob("*") if path.is_file()]
        assert kept
        with max(kept, key=lambda path: path.stat().st_size).open("r+b") as torn:
            torn.truncate(100)
    pass_visibility_timeout(redis_client)
    crew.start()
    wait_until_ended(request)
    assert golden.state() == undisturbed[run_id]
    assert_bytes_are_whole(crew)


def test_killed_workers_request_comes_back_before_the_broker_gives_it_back(
    crew: Crew, shared_data: Path, undisturbed: dict[int, dict[str, str]]
) -> None:
    run_id = 33300000002
    request = ask_and_kill(crew, shared_data / "runs" / str(run_id), "point")
    request.refresh_from_db()
    assert (request.state, request.tries) == (IngestRequest.State.RUNNING, 1)
    give_back_to(crew)
    wait_until_ended(request)
    assert (request.state, request.tries) == (IngestRequest.State.DONE, 2)
    assert golden.state() == undisturbed[run_id]


def test_request_that_kills_its_workers_ends_as_failed(
    crew: Crew, shared_data: Path
) -> None:
    with progress_held("keeping artifacts", 9):
        path = shared_data / "runs" / "33300000002"
        request = ask_for(path, tries=MAX_TRIES - 2)
        for _ in range(2):
            wait_until_blocked()
            crew.kill_pool()
            wait_for(lambda: not blocked_sessions(), "the dead session waits on")
        wait_until_ended(request)
    assert (request.state, request.tries) == (IngestRequest.State.FAILED, MAX_TRIES)
    assert request.error.startswith("the worker died 5 times while doing this: keeping")
    assert not Run.objects.exists()


@pytest.mark.parametrize("table", [None, "sweep"])
def test_runs_to_be_mapped_again_are_not_forgotten(
    crew: Crew, redis_client: Redis, shared_data: Path, table: str | None
) -> None:
    without_configs, with_configs = 33100000001, 31544080186
    with transaction.atomic():
        golden.ingest(shared_data, without_configs)
        report = golden.ingest(shared_data, with_configs)
        expected = golden.state()
        transaction.set_rollback(True)
    assert report.remapped == [without_configs]
    # By the worker: what is mapped again reads samples from its own raw store.
    wait_until_ended(ask_for(shared_data / "runs" / str(without_configs)))

    path = shared_data / "runs" / str(with_configs)
    request = ask_and_kill_after_commit(crew, path, then_at=table)
    assert golden.state() != expected

    pass_visibility_timeout(redis_client)
    crew.start()
    wait_until_ended(request)
    assert golden.state() == expected
