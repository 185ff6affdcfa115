"""Which sweep is current, former or held; reuse, corrections, workers at once."""

import threading
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection

from dashboard.corrections import CorrectionRefusedError, exclude_points, undo
from dashboard.models import Correction, Point, Sweep
from ingest.artifacts.bundles import open_bundle
from ingest.claims import AlreadyRunningError, claimed
from ingest.pipeline import derive_run, ingest_bundle, limits
from tests.ingest import golden
from tests.pipeline.bundles import (
    KEY,
    STARTED,
    busy_row,
    changelog,
    iso,
    jobs_for,
    master,
    results,
    row,
    run_object,
    write_bundle,
)
from tests.pipeline.conftest import Desk, forget_runs, the_run, the_sweep

DENSE = [4, 8, 16, 32]


def official(run_id: int, day: int, **changes: Any) -> dict[str, Any]:
    at = iso(STARTED + timedelta(days=day))
    return run_object(run_id, created_at=at, run_started_at=at, **changes)


def push(desk: Desk, run_id: int, day: int, concs: list[int], **parts: Any) -> Sweep:
    """Take in an official run that measured some concurrencies; return its sweep."""
    image = parts.pop("image", "img/sglang:1")
    model = parts.pop("model", row()["model"])
    rows = [busy_row(c, 10.0 * c, image=image, model=model) for c in concs]
    parts.setdefault("changelog", changelog())
    desk.ingest(official(run_id, day), results(*rows), **parts)
    return the_sweep(run_id)


def states() -> dict[int, tuple[str | None, str]]:
    sweeps = Sweep.objects.select_related("run")
    return {s.run.github_run_id: (s.state, s.state_reason) for s in sweeps}


def test_c21_a_cancelled_run_keeps_its_rows_and_its_plan(desk: Desk) -> None:
    cancelled = run_object(conclusion="cancelled", event="pull_request")
    rows = [busy_row(4), busy_row(8)]
    desk.ingest(cancelled, results(*rows), jobs=jobs_for([4, 8, 16, 32, 64]))
    run, sweep = the_run(), the_sweep()
    assert (run.conclusion, run.received_count, run.planned_count) == (
        "cancelled",
        2,
        5,
    )
    assert (sweep.received_count, sweep.planned_count) == (2, 5)
    assert (run.publication, sweep.state) == ("unofficial", None)


def test_c21_a_cancelled_official_run_is_held_for_a_person(desk: Desk) -> None:
    push(desk, 90001, 0, DENSE)
    rows = [busy_row(4), busy_row(8)]
    cancelled = official(90002, 1, conclusion="cancelled")
    desk.ingest(
        cancelled, results(*rows), jobs=jobs_for([4, 8, 16]), changelog=changelog()
    )
    assert states() == {
        90001: ("current", ""),
        90002: ("held", "incomplete: 2 of 3 points"),
    }


@pytest.mark.parametrize(
    "changes",
    [
        {"event": "workflow_dispatch"},
        {"event": "pull_request"},
        {"head_branch": "topic"},
        {"path": ".github/workflows/e2e-tests.yml"},
        {"repository": {"full_name": "someone/InferenceX"}},
    ],
)
def test_c23_only_a_push_of_the_sweep_workflow_is_official(
    desk: Desk, changes: dict[str, Any]
) -> None:
    desk.ingest(run_object(**changes), results(row()))
    assert the_run().publication == "unofficial"
    assert the_sweep().state is None


def test_c23_a_development_image_is_no_reason_to_be_unofficial(desk: Desk) -> None:
    assert (
        push(desk, 90001, 0, DENSE, image="img/sglang:nightly-dev").state == "current"
    )


def test_c23_excluding_falls_back_and_undoing_restores_every_byte(desk: Desk) -> None:
    push(desk, 90001, 0, DENSE)
    push(desk, 90002, 1, DENSE)
    before = golden.state()
    run = the_run(90002)
    with pytest.raises(CorrectionRefusedError):
        exclude_points(run=run, author="a", reason=" ")
    made = exclude_points(run=run, author="a", reason="wrong weights")
    again = exclude_points(run=run, author="b", reason="other words")
    assert made == again
    derive_run(run)
    excluded = golden.state()
    assert states() == {90001: ("current", ""), 90002: ("held", "no usable point")}
    assert the_run(90002).received_count == 0
    assert set(Point.objects.filter(sweep__run=run).values_list("is_excluded")) == {
        (True,)
    }
    derive_run(run)
    assert golden.state() == excluded
    undo(correction=made, author="a", reason="it was right")
    derive_run(run)
    assert golden.state() == before
    assert Correction.objects.get().undone_by == "a"


def test_c23_an_exclusion_survives_ingesting_the_run_again(desk: Desk) -> None:
    push(desk, 90001, 0, DENSE)
    run = the_run()
    exclude_points(run=run, concurrency=8, author="a", reason="odd")
    derive_run(run)
    push(desk, 90001, 0, DENSE)
    assert the_sweep().received_count == 3
    assert not Point.objects.get(concurrency=8).is_current


def test_c32_a_narrow_sweep_without_a_known_plan_is_held(desk: Desk) -> None:
    push(desk, 90001, 0, DENSE)
    push(desk, 90002, 1, DENSE[:2])
    assert states() == {
        90001: ("current", ""),
        90002: ("held", "no plan known, and only 2 of 4 current points are there"),
    }


def test_c32_a_grid_that_was_planned_smaller_is_current(desk: Desk) -> None:
    push(desk, 90001, 0, DENSE, jobs=jobs_for(DENSE))
    push(desk, 90002, 1, DENSE[:2], jobs=jobs_for(DENSE[:2]))
    assert states() == {90001: ("former", ""), 90002: ("current", "")}


def test_the_first_sweep_is_current_though_incomplete_and_says_so(desk: Desk) -> None:
    push(desk, 90001, 0, DENSE[:2], jobs=jobs_for(DENSE))
    assert states() == {90001: ("current", "incomplete: 2 of 4 points")}


def test_a_held_sweep_that_a_later_attempt_completes_is_current(desk: Desk) -> None:
    push(desk, 90001, 0, DENSE, jobs=jobs_for(DENSE))
    push(desk, 90002, 1, DENSE[:2], jobs=jobs_for(DENSE))
    assert states()[90002] == ("held", "incomplete: 2 of 4 points")
    later = STARTED + timedelta(days=1, hours=5)
    again = official(90002, 1, run_attempt=2) | {"run_started_at": iso(later)}
    desk.ingest(
        again,
        results(*[busy_row(c) for c in DENSE[2:]]),
        jobs=jobs_for(DENSE),
        uploaded_at=later + timedelta(hours=1),
        first_id=2000,
    )
    assert states() == {90001: ("former", ""), 90002: ("current", "")}


def _append(desk: Desk, **parts: Any) -> Sweep:
    push(desk, 90001, 0, DENSE)
    only = changelog(**{"append-only": True})
    return push(desk, 90002, 1, [64, 128], changelog=only, **parts)


def test_append_only_extends_where_image_and_checkpoint_are_equal(desk: Desk) -> None:
    added = _append(desk)
    assert (added.state, added.extends) == ("current", the_sweep(90001))
    assert the_sweep(90001).state == "current"


@pytest.mark.parametrize(
    ("change", "named"),
    [({"image": "img/sglang:2"}, "image"), ({"model": "org-b/Other"}, "checkpoint")],
)
def test_append_only_is_held_where_image_or_checkpoint_differs(
    desk: Desk, change: dict[str, str], named: str
) -> None:
    added = _append(desk, **change)
    assert (added.state, added.extends) == ("held", None)
    assert named in added.state_reason
    assert the_sweep(90001).state == "current"


def test_the_order_of_arrival_of_append_only_does_not_matter(desk: Desk) -> None:
    _append(desk)
    expected = golden.state()
    forget_runs()
    push(desk, 90002, 1, [64, 128], changelog=changelog(**{"append-only": True}))
    push(desk, 90001, 0, DENSE)
    assert golden.state() == expected


def test_a_replaced_curve_takes_its_extensions_with_it(desk: Desk) -> None:
    _append(desk)
    push(desk, 90003, 2, [*DENSE, 64, 128])
    assert {run: state for run, (state, _) in states().items()} == {
        90001: "former",
        90002: "former",
        90003: "current",
    }


def _reuse(desk: Desk) -> list[Path]:
    """A pull request's run and the merge that publishes its measurements."""
    source = official(90001, 0, event="pull_request", head_branch="topic")
    note = {"source_run_id": "90001", "ingest_run_id": "90002"}
    return [
        desk.write(source, results(row(), busy_row(8))),
        desk.write(
            official(90002, 3),
            {"reused-ingest-metadata": {"reuse_source_run.json": note}},
            changelog=changelog(),
        ),
    ]


def test_reuse_in_either_order_publishes_the_source_once(desk: Desk) -> None:
    bundles = _reuse(desk)
    found = []
    for order in (bundles, bundles[::-1]):
        forget_runs()
        for bundle in order:
            desk.take(bundle)
        found.append(golden.state())
        source, merge = the_run(90001), the_run(90002)
        assert (source.publication, source.published_by) == ("official", merge)
        sweep = the_sweep(90001)
        assert sweep.official_at == merge.created_at
        assert sweep.measured_at == source.created_at
        assert (merge.received_count, merge.sweeps.count()) == (0, 0)
    assert found[0] == found[1]


def test_the_command_says_whose_measurements_a_merge_publishes(
    desk: Desk, capsys: pytest.CaptureFixture[str]
) -> None:
    for bundle in _reuse(desk):
        call_command("ingest_path", str(bundle))
    said = capsys.readouterr().out.splitlines()
    place = said.index("  it publishes the measurements of run 90001")
    assert said[place - 1].startswith("run 90002: 0 points")


def test_a_source_that_is_named_no_longer_is_unofficial_again(desk: Desk) -> None:
    for bundle in _reuse(desk):
        desk.take(bundle)
    note = {"source_run_id": 77, "ingest_run_id": 90002}
    desk.ingest(
        official(90002, 3),
        {"reused-ingest-metadata": {"reuse_source_run.json": note}},
        uploaded_at=STARTED + timedelta(days=4),
        first_id=3000,
    )
    assert the_run(90001).publication == "unofficial"
    assert the_sweep(90001).state is None


def test_a_later_sight_of_an_earlier_moment_takes_nothing_back(desk: Desk) -> None:
    done = jobs_for([64])
    running = jobs_for([64], status="in_progress", conclusion=None)
    desk.ingest(run_object(), results(row()), jobs=done)
    state = golden.state()
    early = run_object(status="in_progress", conclusion=None)
    desk.ingest(early, results(row()), jobs=running)
    assert golden.state() == state
    assert the_run().status == "completed"
    assert the_run().jobs.get().conclusion == "success"


@pytest.mark.django_db(transaction=True)
def test_c20_two_workers_on_one_run_leave_one_set_of_rows(tmp_path: Path) -> None:
    rows = [busy_row(conc) for conc in range(1, 200)]
    bundle = write_bundle(
        tmp_path / "bundle",
        None,
        results(*rows),
        changelog=changelog(),
        configs={"amd-master.yaml": master()},
    )
    outcomes: list[str] = []
    start = threading.Barrier(2)

    def work() -> None:
        start.wait()
        try:
            report = ingest_bundle(open_bundle(bundle, limits()))
            outcomes.append("unchanged" if report.tally.is_unchanged else "stored")
        except AlreadyRunningError as error:
            outcomes.append(str(error))
        finally:
            connection.close()

    workers = [threading.Thread(target=work) for _ in range(2)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert "stored" in outcomes
    others = [o for o in outcomes if o != "stored"]
    assert others in (["run 90001 is already being ingested"], ["unchanged"])
    assert Point.objects.count() == 199
    state, stamps = golden.state(), golden.stamps()
    assert ingest_bundle(open_bundle(bundle, limits())).tally.is_unchanged
    assert (golden.state(), golden.stamps()) == (state, stamps)


@pytest.mark.django_db(transaction=True)
def test_a_claim_is_held_against_other_sessions_and_then_let_go(
    tmp_path: Path,
) -> None:
    errors: list[str] = []

    def other() -> None:
        try:
            with claimed("A/B", 7):
                pass
        except AlreadyRunningError as error:
            errors.append(str(error))
        finally:
            connection.close()

    with claimed("a/b", 7):
        worker = threading.Thread(target=other)
        worker.start()
        worker.join()
    assert errors == ["run 7 is already being ingested"]
    with claimed("a/b", 7):
        pass


def test_the_key_of_a_sweep_is_the_changelogs(desk: Desk) -> None:
    assert push(desk, 90001, 0, DENSE).config_key.key == KEY


@pytest.mark.parametrize(("last", "state"), [("publish", "current"), ("hold", "held")])
def test_the_newest_of_a_hold_and_a_publication_wins(
    desk: Desk, last: str, state: str
) -> None:
    push(desk, 90001, 0, DENSE)
    run, sweep = the_run(), the_sweep()
    by = {"author": "a", "reason": "b"}
    narrow = {"config_key": sweep.config_key, "scenario": sweep.scenario}
    first = "hold" if last == "publish" else "publish"
    Correction.objects.create(run=run, action=first, made_at=STARTED, **by)
    Correction.objects.create(run=run, action=last, **narrow, **by)
    derive_run(run)
    assert the_sweep().state == state
