"""Whatever order sweeps arrive in, their verdicts and regressions end up the same."""

import random
from datetime import timedelta
from itertools import permutations
from typing import Any

import pytest

from dashboard.models import Judgement, Noise, Notice, Regression, Run, Sweep
from dashboard.queries.verdicts import judge_run
from ingest.detection import detect
from ingest.segments import derive_segments, replace_sweeps
from tests.factories import NoticeFactory
from tests.pages.key_builders import START, add_sweep
from tests.verdict_builders import unofficial

pytestmark = pytest.mark.django_db

OLD, NEW = "org-a/Model-FP4", "org-z/Other-FP8"

# What a history may hold: a slow run, one that is held, a repeat on the same commit,
# one that does not name its checkpoint, a swap after that one.
HISTORY: tuple[dict[str, Any], ...] = (
    {"day": 1, "sha": "a" * 40},
    {"day": 2, "sha": "a" * 40, "scale": 0.98},
    {"day": 3, "sha": "b" * 40, "scale": 0.8, "state": "held"},
    {"day": 4, "sha": "c" * 40, "scale": 0.8},
    {"day": 5, "sha": "d" * 40, "checkpoint": None},
    {"day": 6, "sha": "e" * 40, "scale": 0.7, "checkpoint": NEW},
)


def arrive(**given: Any) -> None:
    """Store one official sweep and decide what follows, as an ingestion does."""
    day, sha = given.pop("day"), given.pop("sha")
    checkpoint = given.pop("checkpoint", OLD)
    sweep = add_sweep(day, checkpoint=checkpoint or OLD, **given)
    if checkpoint is None:
        Sweep.objects.filter(pk=sweep.pk).update(checkpoint=None)
    Run.objects.filter(pk=sweep.run.pk).update(sha=sha)
    sweep.run.refresh_from_db()
    keys = {(sweep.config_key_id, sweep.scenario)}
    # States are given here: which sweep is held is not the question.
    placed = replace_sweeps(keys)
    detect(keys, [sweep.run, *Run.objects.filter(pk__in=placed.broken)])


def outcome() -> list[tuple[object, ...]]:
    judged = Judgement.objects.order_by("sweep__official_at").values_list(
        "sweep__official_at__day", "verdict", "baseline__official_at__day", "sentence"
    )
    listed = Regression.objects.filter(is_active=True).order_by("sweep__official_at")
    worse = listed.values_list(
        "sweep__official_at__day", "kind", "change", "recovered_at__day"
    )
    # The ids of runs differ from order to order, and stand in the sentences.
    return [(d, v, b, s.partition(", vs run")[0]) for d, v, b, s in judged] + list(
        worse
    )


ORDERS = random.Random(40).sample(list(permutations(HISTORY)), 4)


@pytest.mark.parametrize("order", ORDERS, ids=range(len(ORDERS)))
def test_any_order_of_arrival_ends_in_the_same_verdicts(order):
    for given in order:
        arrive(**given)
    found = outcome()
    Judgement.objects.all().delete()
    Regression.objects.all().delete()
    keys = set(Sweep.objects.values_list("config_key_id", "scenario"))
    detect(keys, Run.objects.all())
    assert found == outcome()
    verdicts = {row[0]: row[1] for row in found[: len(HISTORY)]}
    assert verdicts[START.day + 4] == "regression"
    assert verdicts[START.day + 6] == "not comparable"


def test_a_break_by_staff_is_not_folded_over():
    arrive(day=1, sha="a" * 40, scale=2.0)
    NoticeFactory(kind=Notice.Kind.BREAK, at=START + timedelta(days=1, hours=12))
    arrive(day=2, sha="a" * 40)
    arrive(day=3, sha="b" * 40)
    assert outcome()[-1][:3] == (
        START.day + 3,
        "within noise",
        START.day + 2,
    )


def test_a_base_that_is_named_is_that_run_alone():
    arrive(day=1, sha="a" * 40, scale=2.0)
    base = unofficial(2, run_fields={"sha": "a" * 40})
    head = unofficial(3)
    (verdict,) = judge_run(head.run, base=base.run)
    assert verdict.verdict == "within noise"


def test_noise_that_is_measured_later_changes_no_verdict_on_the_past():
    arrive(day=1, sha="a" * 40)
    arrive(day=2, sha="b" * 40, scale=0.94)
    before = outcome()
    for metric in ("tput_per_gpu", "median_intvty"):
        later = (START + timedelta(days=30)).date()
        Noise.objects.create(
            metric=metric, band="all", as_of=later, value=0.2, pairs=99
        )
    detect(
        set(Sweep.objects.values_list("config_key_id", "scenario")), Run.objects.all()
    )
    assert outcome() == before


def listed_days() -> list[int]:
    """Return the days of the sweeps that are listed for a regression."""
    listed = Regression.objects.filter(is_active=True)
    return list(listed.values_list("sweep__official_at__day", flat=True))


def test_hiding_the_first_of_two_repeats_leaves_the_regression_of_the_other():
    arrive(day=1, sha="a" * 40)
    arrive(day=5, sha="b" * 40, scale=0.8)
    arrive(day=6, sha="b" * 40, scale=0.8)
    assert listed_days() == [START.day + 5]
    hidden = Sweep.objects.get(official_at__day=START.day + 5)
    Sweep.objects.filter(pk=hidden.pk).update(state=None, segment=None)
    keys = {(hidden.config_key_id, hidden.scenario)}
    derive_segments(keys)
    detect(keys, [hidden.run])
    assert listed_days() == [START.day + 6]


def test_points_that_cannot_be_used_are_a_loss_of_coverage():
    arrive(day=1, sha="a" * 40)
    arrive(day=2, sha="b" * 40)
    newest = Sweep.objects.get(official_at__day=START.day + 2)
    newest.points.update(is_out=True)
    detect({(newest.config_key_id, newest.scenario)}, [newest.run])
    found = Regression.objects.get(is_active=True)
    assert (found.kind, found.change) == ("coverage", -1.0)
    assert "cannot be used" in found.summary


def test_absurd_numbers_are_judged_and_break_nothing():
    arrive(day=1, sha="a" * 40)
    head = unofficial(2, scale=1e160)
    head.points.update(median_intvty=1e160)
    (verdict,) = judge_run(head.run)
    assert verdict.judged.comparison is not None
    assert verdict.judged.comparison.like_for_like is None


def test_the_worse_level_is_told_once_the_segment_is_long_enough():
    for day in range(2, 10):
        arrive(day=day, sha=f"{day:040x}")
    arrive(day=10, sha="b" * 40, scale=0.8)
    assert Regression.objects.get().first_bad is None
    arrive(day=1, sha="a" * 40)
    found = Regression.objects.get()
    assert (found.first_bad_id, found.recovered_by_id) == (found.run_id, None)
