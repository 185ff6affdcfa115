"""Attempts of a run: which one an upload belongs to, however little a bundle knows."""

from datetime import timedelta
from pathlib import Path
from typing import Any

from dashboard.models import Artifact, Job, Point, RunAttempt
from tests.ingest import golden
from tests.pipeline.bundles import (
    STARTED,
    busy_row,
    iso,
    job,
    jobs_for,
    results,
    row,
    run_object,
    write_json,
)
from tests.pipeline.conftest import Desk, forget_runs, the_point, the_run

HOUR = timedelta(hours=1)


def attempt(number: int, **changes: Any) -> dict[str, Any]:
    """The run as its n-th attempt was, begun every five hours."""
    start = STARTED + 5 * HOUR * (number - 1)
    return run_object(run_attempt=number, run_started_at=iso(start)) | changes


def upload(desk: Desk, of: int, known: list[int], *, newest: int = 3) -> Path:
    """Write a bundle with the upload of one attempt that lists some attempts."""
    return desk.write(
        attempt(newest),
        {f"bmk_{of}": {"agg.json": busy_row(64, 100.0 * of)}},
        attempts=[attempt(number) for number in known],
        uploaded_at=STARTED + 5 * HOUR * (of - 1) + HOUR,
        first_id=1000 * of,
    )


def found() -> dict[str, int]:
    return dict(Artifact.objects.values_list("name", "attempt"))


def test_a_shorter_list_of_attempts_renumbers_nothing(desk: Desk) -> None:
    desk.take(upload(desk, 1, [1, 2, 3]))
    desk.take(upload(desk, 2, [1, 2, 3]))
    state = golden.state()
    points = set(Point.objects.values_list("pk", flat=True))
    short = upload(desk, 1, [3])
    assert desk.take(short).tally.is_unchanged
    (short / "run.attempts.json").unlink()
    assert desk.take(short).tally.is_unchanged
    assert golden.state() == state
    assert set(Point.objects.values_list("pk", flat=True)) == points
    assert found() == {"bmk_1": 1, "bmk_2": 2}


def test_what_is_learnt_of_attempts_places_stored_uploads_too(desk: Desk) -> None:
    bundles = [
        upload(desk, 1, [3]),
        upload(desk, 2, [3]),
        upload(desk, 3, [1, 2, 3]),
    ]
    states = []
    for order in (bundles, bundles[::-1]):
        forget_runs()
        for bundle in order:
            desk.take(bundle)
        assert found() == {"bmk_1": 1, "bmk_2": 2, "bmk_3": 3}
        assert the_point(is_current=True).tput_per_gpu == 300.0
        states.append(golden.state())
    assert states[0] == states[1]


def test_the_runs_own_attempt_is_one_where_the_list_lacks_it(desk: Desk) -> None:
    desk.take(upload(desk, 3, [1, 2]))
    assert found() == {"bmk_3": 3}
    assert set(RunAttempt.objects.values_list("attempt", flat=True)) == {1, 2, 3}


def test_an_upload_of_unknown_time_keeps_its_attempt(desk: Desk) -> None:
    bundle = desk.write(attempt(2), results(row()))
    write_json(bundle / "artifacts.json", [{"id": 1000, "name": "results_bmk"}])
    desk.take(bundle)
    assert found() == {"results_bmk": 2}
    for number in (1, 3):
        write_json(bundle / "run.json", attempt(number))
        desk.take(bundle)
        assert found() == {"results_bmk": 2}


def test_an_attempt_of_unknown_start_is_the_newest_for_its_own_uploads(
    desk: Desk,
) -> None:
    old = desk.write(attempt(1), {"bmk_1": {"agg.json": row()}})
    second = attempt(2)
    del second["run_started_at"]
    new = desk.write(
        second,
        {"bmk_2": {"agg.json": row()}},
        first_id=2000,
        uploaded_at=STARTED + 6 * HOUR,
    )
    for order in ((old, new), (new, old)):
        forget_runs()
        for bundle in order:
            desk.take(bundle)
        assert found() == {"bmk_1": 1, "bmk_2": 2}


def test_a_finished_job_stays_finished_whatever_its_names_are(desk: Desk) -> None:
    bundle = desk.write(None, results(row()), jobs=jobs_for([64]))
    desk.take(bundle)
    earlier = job(5064, 64, status="in_progress", conclusion=None)
    earlier |= {"runner_name": "completed"}
    write_json(bundle / "jobs.json", [earlier])
    desk.take(bundle)
    assert Job.objects.get().status == "completed"


def test_what_is_learnt_of_a_run_later_is_counted_and_stamped(desk: Desk) -> None:
    desk.ingest(attempt(2), results(row()))
    before = the_run()
    late = attempt(1, pull_requests=[{"number": 7}])
    report = desk.ingest(late, results(row()), jobs=jobs_for([64]))
    after = the_run()
    assert (after.jobs_known, after.pr_number) == (True, 7)
    assert report.tally.changed > 0
    assert after.updated_at > before.updated_at
