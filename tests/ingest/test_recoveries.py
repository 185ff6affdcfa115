"""A regression is over with the first later sweep no worse than its baseline."""

# mypy: allow-untyped-calls

from datetime import UTC, datetime, timedelta

import pytest

from dashboard.models import Point, Regression, Run, Sweep
from ingest.detection import detect
from tests import factories
from tests.pages.builders import TRADE_OFF, add_points

pytestmark = pytest.mark.django_db
START = datetime(2026, 8, 1, tzinfo=UTC)
WORSE = [(c, x * 0.9, y * 0.9) for c, x, y in TRADE_OFF if x is not None]


def history(*kinds: str) -> list[Sweep]:
    """Make official sweeps of one key, a day apart: "good" or "worse"."""
    made: list[Sweep] = []
    for day, kind in enumerate(kinds):
        at = START + timedelta(days=day)
        is_last = day == len(kinds) - 1
        sweep = factories.SweepFactory(
            run=factories.RunFactory(official=True, created_at=at),
            state="current" if is_last else "former",
            official_at=at,
            segment=1,
            previous=made[-1] if made else None,
        )
        add_points(sweep, TRADE_OFF if kind == "good" else WORSE)
        made.append(sweep)
    return made


def found(sweeps: list[Sweep], changed: list[Run] | None = None) -> int:
    keys = {(sweep.config_key_id, sweep.scenario) for sweep in sweeps}
    return detect(keys, changed or [])


def test_the_first_sweep_back_at_the_baseline_ends_it():
    _, bad, still, back, later = history("good", "worse", "worse", "good", "worse")
    assert found([bad])
    first, second = Regression.objects.order_by("run__created_at")
    assert first.sweep == bad
    assert first.recovered_by == back.run
    assert first.recovered_at == back.official_at
    assert first.checks == [still.pk]
    assert (second.sweep, second.recovered_by) == (later, None)
    assert found([bad]) == 0


def test_a_sweep_is_held_against_the_baseline_once():
    _, bad, back = history("good", "worse", "good")
    found([bad])
    Regression.objects.update(checks=[back.pk])
    found([bad])
    assert Regression.objects.get().recovered_by is None
    found([bad], [back.run])
    row = Regression.objects.get()
    assert (row.recovered_by, row.checks) == (back.run, [])


@pytest.mark.parametrize("position", [0, 1, 2])
def test_it_is_looked_at_again_when_one_of_the_runs_changed(position):
    sweeps = history("good", "worse", "good")
    found(sweeps)
    assert Regression.objects.get().recovered_by == sweeps[2].run
    for point, (_, x, y) in zip(
        Point.objects.filter(sweep=sweeps[2]).order_by("concurrency"),
        WORSE,
        strict=True,
    ):
        point.median_intvty, point.tput_per_gpu = x, y
        point.save()
    found(sweeps, [sweeps[position].run])
    row = Regression.objects.get()
    assert (row.recovered_by, row.recovered_at) == (None, None)
    assert row.checks == [sweeps[2].pk]


def test_what_ended_it_and_is_held_now_does_not_end_it():
    sweeps = history("good", "worse", "good")
    found(sweeps)
    Sweep.objects.filter(pk=sweeps[2].pk).update(state="held", segment=None)
    found(sweeps)
    assert Regression.objects.get().recovered_by is None


def test_a_sweep_that_arrives_late_may_end_it_earlier():
    sweeps = history("good", "worse", "worse", "good")
    Sweep.objects.filter(pk=sweeps[2].pk).update(state=None, segment=None)
    Sweep.objects.filter(pk=sweeps[3].pk).update(previous=sweeps[1])
    Point.objects.filter(sweep=sweeps[2]).delete()
    add_points(sweeps[2])
    found(sweeps)
    assert Regression.objects.get().recovered_by == sweeps[3].run
    Sweep.objects.filter(pk=sweeps[2].pk).update(state="former", segment=1)
    Sweep.objects.filter(pk=sweeps[3].pk).update(previous=sweeps[2])
    found(sweeps, [sweeps[2].run])
    assert Regression.objects.get().recovered_by == sweeps[2].run
