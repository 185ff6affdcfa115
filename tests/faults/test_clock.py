"""Clocks that jump: of the worker, of beat, and of whoever dated a run."""

import datetime
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import time_machine
from django.test import Client

from dashboard.beat import SteadyScheduler
from dashboard.celery import app
from dashboard.ingest_requests import request_run, resend_lost
from dashboard.models import IngestRequest, Run
from ingest.artifacts.bundles import open_bundle
from ingest.pipeline import ingest_bundle, limits, replay_run
from tests.pipeline.bundles import iso, results, row, run_object, write_bundle

pytestmark = pytest.mark.django_db

NOW = datetime.datetime(2026, 11, 30, 12, tzinfo=datetime.UTC)
DAY = timedelta(days=1)
REPOSITORY = "SemiAnalysisAI/InferenceX"


def test_task_that_was_lost_while_the_clock_was_ahead_is_sent_again() -> None:
    request = IngestRequest.objects.create(
        kind=IngestRequest.Kind.PATH, target="/nowhere", sent_at=NOW + DAY
    )
    with time_machine.travel(NOW, tick=False):
        assert resend_lost() == 1
    request.refresh_from_db()
    assert request.sent_at == NOW


def test_answer_from_the_future_keeps_nobody_from_asking_again() -> None:
    answered = IngestRequest.objects.create(
        kind=IngestRequest.Kind.RUN,
        target=f"{REPOSITORY} 5",
        repository=REPOSITORY,
        github_run_id=5,
        state=IngestRequest.State.FAILED,
        requested_at=NOW + DAY,
        finished_at=NOW + DAY,
    )
    with time_machine.travel(NOW, tick=False):
        asked = request_run(run_id=5, repository=REPOSITORY)
    assert asked.pk != answered.pk


class NotingScheduler(SteadyScheduler):
    """The site's scheduler, which notes what is due and sends nothing."""

    def apply_async(self, entry: Any, *args: Any, **kwargs: Any) -> None:
        self.sent = [*getattr(self, "sent", []), entry.task]
        self.reserve(entry)


def due_within(beat: NotingScheduler, clock: Any, time: timedelta) -> set[str]:
    """Return what beat sends while so much time goes by."""
    beat.sent = []
    step = timedelta(minutes=10)
    for _ in range(time // step):
        clock.shift(step)
        for _ in beat.schedule:
            beat.tick()
    return set(beat.sent)


def test_beat_goes_on_when_its_clock_went_back(tmp_path: Path) -> None:
    everything = {entry["task"] for entry in app.conf.beat_schedule.values()}
    with time_machine.travel(NOW, tick=False) as clock:
        beat = NotingScheduler(app, schedule_filename=str(tmp_path / "schedule"))
        assert due_within(beat, clock, DAY) >= everything
        clock.shift(-10 * DAY)
        assert due_within(beat, clock, DAY) >= everything
        beat.close()
        # The same for a beat that is started with what it kept before.
        clock.shift(-10 * DAY)
        beat = NotingScheduler(app, schedule_filename=str(tmp_path / "schedule"))
        assert due_within(beat, clock, DAY) >= everything
        beat.close()


def test_site_uses_that_scheduler() -> None:
    assert app.conf.beat_scheduler == "dashboard.beat:SteadyScheduler"


def test_run_from_the_future_is_stored_and_shown(
    client: Client, tmp_path: Path
) -> None:
    ahead = NOW + 400 * DAY
    run = run_object(created_at=iso(ahead), run_started_at=iso(ahead))
    path = write_bundle(tmp_path, run=run, artifacts=results(row()))
    with time_machine.travel(NOW, tick=False):
        report = ingest_bundle(open_bundle(path, limits()))
        assert report.points == 1
        for page in ("/", "/inference", "/runs", f"/runs/{report.run_id}", "/keys"):
            assert client.get(page).status_code == 200, page
        replay_run(Run.objects.get())
    assert Run.objects.get().created_at == ahead
