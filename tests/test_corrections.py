"""Corrections: rows with author and reason, asked for once, undone by name."""

# mypy: allow-untyped-calls

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from celery import current_app
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from dashboard import corrections
from dashboard.ingest_requests import (
    LOST,
    request_history_derivation,
    request_repository_derivation,
    resend_lost,
)
from dashboard.models import Correction, IngestRequest
from tests import factories

pytestmark = pytest.mark.django_db

BY: dict[str, Any] = {"author": "maintainer", "reason": "measured on a broken node"}


def _drained(queue):
    with queue:
        while True:
            try:
                message = queue.get(block=False)
            except queue.Empty:
                return
            message.ack()
            yield message.headers["task"], message.decode()[0]


@pytest.fixture
def sent(django_capture_on_commit_callbacks):
    """Run a step as if its transaction were committed; return the messages sent."""

    def run(step):
        with django_capture_on_commit_callbacks(execute=True):
            step()
        with current_app.connection_for_read() as connection:
            queue = connection.SimpleQueue(current_app.conf.task_default_queue)
            return list(_drained(queue))

    return run


def test_hiding_a_run_stores_who_and_why_and_asks_for_derivation(sent):
    run = factories.RunFactory(official=True)
    messages = sent(lambda: corrections.hide_run(run=run, **BY))
    correction = Correction.objects.get()
    assert (correction.action, correction.run) == ("hide", run)
    assert (correction.author, correction.reason) == tuple(BY.values())
    request = IngestRequest.objects.get()
    assert (request.kind, request.target) == ("derive", str(run.github_run_id))
    assert request.requested_by == "maintainer"
    assert messages == [
        ("ingest.tasks.derive_run", [run.github_run_id, request.pk]),
    ]


def test_asking_twice_changes_nothing(sent):
    run = factories.RunFactory()
    first = corrections.hide_run(run=run, **BY)
    sent(lambda: None)
    again = corrections.hide_run(run=run, author="other", reason="other")
    assert again == first
    assert again.author == "maintainer"
    assert Correction.objects.count() == IngestRequest.objects.count() == 1


@pytest.mark.parametrize("lacking", ["author", "reason"])
@pytest.mark.parametrize("text", ["", "  "])
def test_author_and_reason_are_required(lacking, text):
    run = factories.RunFactory()
    with pytest.raises(corrections.CorrectionRefusedError, match=lacking):
        corrections.hide_run(run=run, **BY | {lacking: text})
    assert not Correction.objects.exists()


def test_exclusions_of_different_points_stand_side_by_side():
    sweep = factories.SweepFactory()
    deployment = factories.DeploymentFactory()
    for concurrency in (4, 8):
        factories.PointFactory(
            sweep=sweep, deployment=deployment, concurrency=concurrency
        )
    place = {"run": sweep.run, "config_key": sweep.config_key, "scenario": "8k/1k"}
    for concurrency in (4, 8, 4):
        corrections.exclude_points(
            **place, deployment=deployment, concurrency=concurrency, **BY
        )
    corrections.exclude_points(**place, attempt=1, **BY)
    found = Correction.objects.values_list("attempt", "concurrency")
    assert sorted(found, key=str) == [(1, None), (None, 4), (None, 8)]


def test_a_correction_without_parts_means_the_whole_run_once():
    run = factories.PointFactory().sweep.run
    corrections.exclude_points(run=run, **BY)
    corrections.exclude_points(run=run, **BY)
    assert Correction.objects.count() == 1


def test_undo_keeps_the_row_and_says_who_and_why(sent):
    correction = corrections.hide_run(run=factories.RunFactory(), **BY)
    sent(lambda: None)
    messages = sent(
        lambda: corrections.undo(
            correction=correction, author="reviewer", reason="the node was fine"
        )
    )
    correction.refresh_from_db()
    assert correction.undone_at is not None
    assert correction.undone_by == "reviewer"
    assert correction.undo_reason == "the node was fine"
    assert len(messages) == 1


def test_undoing_twice_changes_nothing():
    correction = corrections.hide_run(run=factories.RunFactory(), **BY)
    corrections.undo(correction=correction, **BY)
    undone_at = correction.undone_at
    again = corrections.undo(correction=correction, author="x", reason="y")
    assert (again.undone_at, again.undone_by) == (undone_at, "maintainer")
    assert IngestRequest.objects.count() == 2


def test_undo_needs_a_reason():
    correction = corrections.hide_run(run=factories.RunFactory(), **BY)
    with pytest.raises(corrections.CorrectionRefusedError):
        corrections.undo(correction=correction, author="x", reason="")


def test_what_was_undone_can_be_asked_for_again():
    run = factories.RunFactory()
    first = corrections.hide_run(run=run, **BY)
    corrections.undo(correction=first, **BY)
    second = corrections.hide_run(run=run, **BY)
    assert second.pk != first.pk


def test_publishing_a_sweep_undoes_its_hold_and_the_reverse():
    sweep = factories.SweepFactory(official=True)
    hold = corrections.hold_sweep(sweep=sweep, **BY)
    publish = corrections.publish_sweep(sweep=sweep, **BY)
    hold.refresh_from_db()
    assert hold.undone_at is not None
    corrections.hold_sweep(sweep=sweep, **BY)
    publish.refresh_from_db()
    assert publish.undone_at is not None


def test_holding_leaves_the_other_scenario_alone():
    sweep = factories.SweepFactory(official=True)
    other = factories.SweepFactory(run=sweep.run, scenario="1k/1k")
    corrections.publish_sweep(sweep=other, **BY)
    corrections.hold_sweep(sweep=sweep, **BY)
    assert Correction.objects.filter(undone_at=None).count() == 2


@pytest.mark.parametrize("part", ["attempt", "concurrency"])
def test_hiding_takes_a_whole_run(part):
    point = factories.PointFactory()
    target = corrections.Target(
        action="hide", run=point.sweep.run, **{part: getattr(point, part)}
    )
    with pytest.raises(corrections.CorrectionRefusedError, match="exclude"):
        corrections.correct(target=target, **BY)


@pytest.mark.parametrize("action", ["hold", "publish"])
def test_holding_and_publishing_take_a_sweep_of_the_run(action):
    sweep = factories.SweepFactory()
    whole = corrections.Target(
        action=action,
        run=sweep.run,
        config_key=sweep.config_key,
        scenario=sweep.scenario,
    )
    for part in (
        {"config_key": None},
        {"scenario": ""},
        {"attempt": 1},
        {"run": factories.RunFactory()},
    ):
        with pytest.raises(corrections.CorrectionRefusedError, match="sweep"):
            corrections.correct(target=replace(whole, **part), **BY)
    assert corrections.correct(target=whole, **BY).action == action


def test_an_exclusion_names_a_point_or_a_score_of_the_run():
    point = factories.PointFactory(concurrency=4)
    score = factories.EvalResultFactory(run=point.sweep.run, concurrency=16)
    for part in ({"concurrency": 5}, {"attempt": 9}, {"scenario": "1k/1k"}):
        with pytest.raises(corrections.CorrectionRefusedError, match="no point"):
            corrections.exclude_points(run=point.sweep.run, **part, **BY)
    corrections.exclude_points(
        run=point.sweep.run, scenario=point.sweep.scenario, concurrency=4, **BY
    )
    corrections.exclude_points(
        run=score.run, config_key=score.config_key, concurrency=16, **BY
    )


def test_an_equal_correction_of_before_is_returned_whatever_it_names():
    old = factories.CorrectionFactory(action="hide", attempt=3)
    target = corrections.Target(action="hide", run=old.run, attempt=3)
    assert corrections.correct(target=target, **BY) == old


def _answered(state, **changes):
    IngestRequest.objects.update(state=state, **changes)


def test_asking_again_asks_for_what_was_never_carried_out(sent):
    run = factories.RunFactory()
    sent(lambda: corrections.hide_run(run=run, **BY))
    _answered("failed")
    messages = sent(lambda: corrections.hide_run(run=run, **BY))
    newest = IngestRequest.objects.latest("pk")
    assert messages == [("ingest.tasks.derive_run", [run.github_run_id, newest.pk])]
    _answered("done")
    assert sent(lambda: corrections.hide_run(run=run, **BY)) == []
    assert Correction.objects.count() == 1


@pytest.mark.parametrize("state", ["queued", "running"])
def test_asking_again_sends_again_what_the_broker_lost(sent, state):
    run = factories.RunFactory()
    sent(lambda: corrections.hide_run(run=run, **BY))
    _answered(state)
    assert sent(lambda: corrections.hide_run(run=run, **BY)) == []
    _answered(state, sent_at=timezone.now() - LOST - timedelta(minutes=1))
    request = IngestRequest.objects.get()
    messages = sent(lambda: corrections.hide_run(run=run, **BY))
    assert messages == [("ingest.tasks.derive_run", [run.github_run_id, request.pk])]


def test_lost_messages_of_every_kind_are_sent_again_once(sent):
    run = factories.RunFactory()
    hide = corrections.hide_run
    sent(lambda: hide(run=run, **BY))
    request_repository_derivation(repository=run.repository, requested_by="staff")
    request_history_derivation(scope={"model": "qwen3.5"}, requested_by="staff")
    sent(lambda: None)
    assert sent(resend_lost) == []
    _answered("queued", sent_at=timezone.now() - LOST - timedelta(minutes=1))
    correction, repository, history = IngestRequest.objects.order_by("pk")
    assert sent(resend_lost) == [
        ("ingest.tasks.derive_run", [run.github_run_id, correction.pk]),
        (
            "ingest.tasks.derive_repository",
            [run.repository.full_name, repository.pk],
        ),
        ("ingest.tasks.derive_history", ["history?model=qwen3.5", history.pk]),
    ]
    assert sent(resend_lost) == []


def test_correcting_lets_others_store_rows_that_refer_to_the_run():
    run = factories.RunFactory()
    with CaptureQueriesContext(connection) as queries:
        corrections.hide_run(run=run, **BY)
    assert any("FOR NO KEY UPDATE" in query["sql"] for query in queries)
