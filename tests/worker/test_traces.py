"""Requests of a point read by a real worker, and by the next one when it is killed."""

from pathlib import Path
from typing import Any

import pytest
from celery import current_app
from django.core.files.storage import storages

from dashboard.ingest_requests import TRACE_TASK
from dashboard.models import IngestRequest, Point, RequestTrace
from tests.traces import agentic_point, lines, record
from tests.worker.crew import (
    Crew,
    give_back_to,
    progress_held,
    wait_until_blocked,
    wait_until_ended,
)

STEP = "reading requests"


@pytest.fixture
def point(crew: Crew, settings: Any) -> Point:
    """A replay whose 9,000 requests are in the raw store of the worker."""
    raw = settings.STORAGES["raw"] | {
        "OPTIONS": {**settings.STORAGES["raw"]["OPTIONS"], "location": str(crew.raw)}
    }
    settings.STORAGES = {**settings.STORAGES, "raw": raw}
    assert Path(storages["raw"].path("x")).parent == crew.raw
    return agentic_point(lines(*(record(n, n / 10) for n in range(9_000))))


def ask(point: Point) -> IngestRequest:
    request = IngestRequest.objects.create(kind="trace", target=f"point {point.pk}")
    with current_app.connection_for_write() as broker:
        current_app.send_task(TRACE_TASK, [point.pk, request.pk], connection=broker)
    return request


def test_a_worker_reads_the_requests_and_tells_how_far_it_is(point: Point) -> None:
    with progress_held(STEP, 1):
        request = ask(point)
        wait_until_blocked()
        request.refresh_from_db()
        assert (request.state, request.step) == ("running", STEP)
        assert request.progress_total == 4  # MB
    wait_until_ended(request)
    assert (request.state, request.error) == ("done", "")
    assert request.counts == {"requests": 9_000}
    trace = RequestTrace.objects.get()
    assert trace.counts["retained"] == 9_000
    assert trace.kept == 5_000


def test_a_killed_worker_leaves_nothing_and_the_next_one_reads_it_all(
    crew: Crew, point: Point
) -> None:
    with progress_held(STEP, 2):
        request = ask(point)
        wait_until_blocked()
        crew.kill()
    assert not RequestTrace.objects.exists()
    give_back_to(crew)
    wait_until_ended(request)
    assert (request.state, request.tries) == ("done", 2)
    assert RequestTrace.objects.get().counts["requests"] == 9_000
