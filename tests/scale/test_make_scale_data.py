"""The made-up large database: what is counted, what holds, and that pages read it."""

from datetime import date
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.db import transaction
from django.db.models import Count, Sum
from django.test import Client

from dashboard.analysis.physics import Measurement, physical_flags
from dashboard.models import (
    ConfigKey,
    Deployment,
    EvalResult,
    Judgement,
    Point,
    Regression,
    Run,
    Sweep,
)
from dashboard.vocabulary import deployments
from dashboard.vocabulary.scenarios import lengths_of
from ingest.derive import derive_current_evals, derive_current_points
from ingest.detection import detect
from ingest.measured import note_measured
from ingest.scale.filling import fill
from ingest.scale.layout import Layout, Scale
from ingest.scale.measurements import measured
from ingest.segments import derive_segments
from ingest.states import derive_states

SCALE = Scale(points=3600, keys=60, dates=12, seed=3, until=date(2026, 9, 1))
ARGUMENTS = [
    *("--points", "3600", "--keys", "60", "--dates", "12"),
    *("--seed", "3", "--until", "2026-09-01"),
]
PAGES = [
    "/",
    "/inference",
    "/inference?g_model=DeepSeek-R1-0528&scenario=1k/1k",
    "/evaluation",
    "/keys",
    "/keys/dsr1-fp4-b200-sglang",
    "/runs",
    "/runs/30000000000",
    "/runs/30000000037",
    "/regressions",
    "/changes",
    "/compare",
]


@pytest.fixture(scope="class")
def filled(django_db_setup, django_db_blocker):
    """The database of the tests of a class, filled once and rolled back at its end."""
    with django_db_blocker.unblock(), transaction.atomic():
        fill(Layout(SCALE), lambda _done, _total: None, vacuum=False)
        yield
        transaction.set_rollback(True)


def sweep_keys() -> set[tuple[int, str]]:
    official = Sweep.objects.filter(state__isnull=False)
    return set(official.values_list("config_key_id", "scenario"))


@pytest.mark.usefixtures("filled", "db")
class TestFilled:
    def test_as_many_points_keys_and_dates_as_asked_for(self):
        official = Point.objects.filter(sweep__run__publication="official")
        assert official.count() == SCALE.points
        assert ConfigKey.objects.count() == SCALE.keys
        days = Sweep.objects.filter(state__isnull=False).dates("official_at", "day")
        assert len(days) == SCALE.dates
        assert EvalResult.objects.count() == 26 * SCALE.points // 1000

    def test_derivation_finds_nothing_to_change(self):
        keys = sweep_keys()
        assert derive_states(keys) == 0
        assert derive_segments(keys) == 0
        for run in Run.objects.all():
            assert derive_current_points(run) == 0
            assert derive_current_evals(run) == 0
            assert note_measured(run) == 0

    def test_detection_has_no_run_left_to_judge(self):
        before = Judgement.objects.count(), Regression.objects.count()
        detect(sweep_keys())
        assert before == (Judgement.objects.count(), Regression.objects.count())

    def test_history_has_swaps_held_sweeps_and_regressions_that_ended_or_not(self):
        assert Sweep.objects.filter(is_swap=True).exists()
        assert Sweep.objects.filter(state="held").exists()
        assert Regression.objects.filter(recovered_by__isnull=False).exists()
        states = Regression.objects.values_list("state", flat=True).distinct()
        assert len(states) > 1

    def test_no_point_fails_a_physical_check(self):
        stored = Point.objects.select_related("deployment", "sweep")
        for point in stored.order_by("pk")[:: SCALE.points // 300]:
            fields = deployments.Deployment._fields
            topology = deployments.Deployment(
                *(getattr(point.deployment, name) for name in fields)
            )
            told = Measurement(
                metrics=point.metrics,
                deployment=topology,
                concurrency=point.concurrency,
                osl=lengths_of(point.sweep.scenario)[1],
                gpus=point.gpus,
                prefill_gpus=point.prefill_gpus,
                decode_gpus=point.decode_gpus,
                role_denominators=topology.multinode,
            )
            assert physical_flags(told) == []

    def test_counts_of_runs_are_those_of_their_rows(self):
        counted = Run.objects.annotate(n=Count("sweeps__points")).values_list(
            "received_count", "n"
        )
        assert all(told == stored for told, stored in counted)
        evals = Run.objects.aggregate(n=Sum("eval_count"))["n"]
        assert evals == EvalResult.objects.count()
        assert Deployment.objects.count() > 5

    @pytest.mark.parametrize("path", PAGES)
    def test_pages_show_it(self, path):
        answer = Client().get(path)
        assert answer.status_code == 200
        body = answer.content.decode()
        named = ("example/", "dsr1", "/runs/3000000")
        assert any(name in body for name in named) or path == "/compare"

    def test_a_measurement_follows_from_seed_and_place_alone(self):
        day = next(Layout(SCALE).official())
        found = measured(day.key, day.speed, day.lost, [SCALE.seed, day.sweep_id])
        stored = Point.objects.filter(sweep_id=day.sweep_id).order_by("pk").first()
        assert stored is not None
        assert stored.metrics == {name: row[0] for name, row in found.items()}


@pytest.mark.django_db
def test_a_database_with_keys_is_left_alone_unless_told(django_user_model):
    ConfigKey.objects.create(key="somebodys")
    django_user_model.objects.create(username="someone")
    with pytest.raises(CommandError, match="--replace"):
        call_command("make_scale_data", *ARGUMENTS)
    assert ConfigKey.objects.get().key == "somebodys"


@pytest.mark.django_db(transaction=True)
def test_replacing_deletes_what_was_there_and_no_account(django_user_model):
    ConfigKey.objects.create(key="somebodys")
    django_user_model.objects.create(username="someone")
    said = StringIO()
    call_command("make_scale_data", "--replace", *ARGUMENTS, stdout=said)
    assert "points" in said.getvalue()
    assert not ConfigKey.objects.filter(key="somebodys").exists()
    assert django_user_model.objects.get().username == "someone"
    # New rows get ids of their own.
    ConfigKey.objects.create(key="another")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--points", "10"], "at least one per key and date"),
        (["--keys", "0"], "--keys"),
        (["--until", "soon"], "not a day"),
    ],
)
def test_odd_sizes_are_told_in_a_line(arguments, said):
    with pytest.raises(CommandError, match=said):
        call_command("make_scale_data", *arguments)
