"""Verdicts on runs: against which baseline, over what, and in how many queries."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from dashboard.analysis.sides import SweepVerdict
from dashboard.analysis.verdict_json import verdict_json
from dashboard.models import Generation, Judgement, Notice, Run
from dashboard.queries.run_verdicts import run_verdict
from dashboard.queries.told_verdicts import told_verdicts
from dashboard.queries.verdicts import judge_run, judge_runs
from tests.factories import GenerationFactory, NoticeFactory, PointFactory
from tests.pages.key_builders import CURVE, KEY, START, add_sweep, derive
from tests.verdict_builders import official, unofficial

pytestmark = pytest.mark.django_db
OTHER = "qwen3.5-fp4-b200-trt"
THIRD = "qwen3.5-fp4-mi355x-atom"


def the_verdict(run: Run, **given: Any) -> SweepVerdict:
    (verdict,) = judge_run(run, **given)
    return verdict


def test_the_baseline_is_never_a_later_sweep_and_an_old_one_warns():
    june, candidate = 0, 70
    base = official(june)
    official(candidate + 2)
    verdict = the_verdict(unofficial(candidate).run)
    assert verdict.base is not None
    assert verdict.base.run_id == base.run.github_run_id
    assert verdict.age_days == 70
    assert verdict.is_old
    assert "the baseline is 70 days old" in verdict.sentence


def test_a_baseline_of_thirty_days_is_not_old_yet():
    official(0)
    assert not the_verdict(unofficial(30).run).is_old
    assert the_verdict(unofficial(31).run).is_old


def test_a_held_sweep_and_an_unofficial_one_are_no_baseline():
    base = official(0)
    official(1, state="held")
    unofficial(2)
    verdict = the_verdict(unofficial(3).run)
    assert verdict.base is not None
    assert verdict.base.run_id == base.run.github_run_id


def test_a_repeat_on_the_same_commit_is_no_baseline_and_is_folded_into_one():
    base = official(0, run_fields={"sha": "a" * 40})
    repeat = official(1, run_fields={"sha": "a" * 40}, scale=1.02)
    same = official(2, run_fields={"sha": "b" * 40}, scale=1.02)
    verdict = the_verdict(same.run)
    assert verdict.base is not None
    assert verdict.base.run_id == repeat.run.github_run_id
    assert verdict.base.folded == (base.pk,)
    again = official(3, run_fields={"sha": "b" * 40})
    later = the_verdict(again.run).base
    assert later is not None
    assert later.run_id == repeat.run.github_run_id


def test_without_an_earlier_sweep_there_is_no_baseline():
    official(5)
    verdict = the_verdict(unofficial(1).run)
    assert (verdict.verdict, verdict.base) == ("no baseline", None)


def test_two_of_five_points_are_judged_by_what_they_match_and_say_so():
    curve = [*CURVE, (8, 150.0, 500.0)]
    official(0, curve=curve)
    cancelled = unofficial(
        1,
        curve=curve[:2],
        planned_count=5,
        run_fields={"conclusion": "cancelled"},
        scale=0.5,
    )
    verdict = the_verdict(cancelled.run)
    assert verdict.verdict == "inconclusive"
    assert verdict.headline.startswith("inconclusive, partial: 2 of 5 points")
    assert "2 usable pairs of points, 3 are needed" in verdict.sentence
    assert verdict.judged.comparison is not None
    assert verdict.judged.comparison.like_for_like is not None
    assert verdict.judged.comparison.like_for_like.pairs == 2


def test_more_throughput_is_better_and_longer_latency_is_worse():
    official(0)
    faster = the_verdict(unofficial(1, scale=1.2).run)
    slower = unofficial(2, point_fields={"median_ttft": 0.36})
    assert faster.verdict == "improvement"
    found = the_verdict(slower.run)
    assert found.verdict == "regression"
    assert {p.metric for p in found.judged.findings.losses} == {"median_ttft"}
    assert all(p.gain is not None and p.gain < 0 for p in found.judged.findings.losses)


def test_a_zero_baseline_has_no_change():
    official(0)
    sweep = official(1)
    sweep.points.filter(concurrency=4).update(tput_per_gpu=0)
    verdict = the_verdict(unofficial(2).run)
    assert verdict.judged.comparison is not None
    (point,) = [
        p
        for p in verdict.judged.comparison.points
        if (p.concurrency, p.metric) == (4, "tput_per_gpu")
    ]
    assert (point.change, point.gain, point.z) == (None, None, None)


def test_another_checkpoint_is_not_comparable_and_keeps_its_numbers():
    official(0)
    verdict = the_verdict(unofficial(1, checkpoint="org-b/Other", scale=1.1).run)
    assert verdict.verdict == "not comparable"
    assert verdict.judged.comparison is not None
    assert not verdict.judged.flagged


def test_a_break_by_staff_parts_sides_whichever_is_the_base():
    old, new = official(0), unofficial(4)
    NoticeFactory(kind=Notice.Kind.BREAK, at=START + timedelta(days=2), text="new rack")
    for run, base in ((new.run, old.run), (old.run, new.run)):
        verdict = the_verdict(run, base=base)
        assert verdict.verdict == "not comparable"
        assert "new rack" in verdict.judged.reason


def test_only_series_of_both_runs_are_summed_up():
    first = unofficial(0, key=KEY)
    unofficial(0, key=OTHER, run=first.run)
    second = unofficial(1, key=KEY)
    unofficial(1, key=THIRD, run=second.run)
    judged = {v.config_key: v for v in judge_run(second.run, base=first.run)}
    assert judged[KEY].base is not None
    assert judged[THIRD].base is None
    said = f"run {first.run.github_run_id} did not measure this key"
    assert judged[THIRD].judged.reason == said
    assert set(judged) == {KEY, THIRD}


def test_an_attempt_is_judged_by_its_own_points():
    official(0)
    sweep = unofficial(1, scale=0.8)
    for concurrency, intvty, tput in CURVE:
        PointFactory(
            sweep=sweep,
            concurrency=concurrency,
            median_intvty=intvty,
            tput_per_gpu=tput,
            attempt=2,
            is_current=False,
        )
    assert the_verdict(sweep.run, attempt=1).verdict == "regression"
    assert the_verdict(sweep.run, attempt=2).verdict == "within noise"
    against = the_verdict(sweep.run, attempt=2, base=sweep.run, base_attempt=1)
    assert against.verdict == "improvement"


def test_a_run_that_publishes_another_is_judged_by_what_that_measured():
    official(0)
    sweep = unofficial(1, scale=1.2)
    merge = official(9, key=OTHER).run
    merge.sweeps.all().delete()
    merge.reuse_source_run_id = sweep.run.github_run_id
    merge.save()
    found = run_verdict(merge)
    assert found.facts.measured_in == sweep.run.github_run_id
    assert [v.verdict for v in found.verdicts] == ["improvement"]


def test_what_a_person_took_out_is_not_judged():
    official(0)
    sweep = unofficial(1, run_fields={"publication": "hidden"})
    found = run_verdict(sweep.run)
    assert found.verdicts == []
    assert found.line == "not judged: a person took the run out"
    asked = (sweep.run, None)
    assert told_verdicts([asked]) == {asked: []}


def count(action: Callable[[], object]) -> int:
    with CaptureQueriesContext(connection) as queries:
        action()
    return len(queries)


def test_queries_do_not_grow_with_keys_nor_with_runs():
    def runs(keys: list[str]) -> list[tuple[Run, int | None]]:
        found: list[tuple[Run, int | None]] = []
        for day in (1, 2, 3):
            first = unofficial(day, key=keys[0])
            for key in keys[1:]:
                unofficial(day, key=key, run=first.run)
            found.append((first.run, None))
        return found

    for key in (KEY, OTHER, THIRD):
        official(0, key=key)
    few, many = runs([KEY]), runs([KEY, OTHER, THIRD])
    needed = count(lambda: judge_runs(few[:1]))
    assert needed == count(lambda: judge_runs(many)) == 9


def test_runs_judged_together_get_the_verdicts_they_get_alone():
    base = official(0, run_fields={"sha": "a" * 40})
    official(5, scale=1.3)
    asked: list[tuple[Run, int | None]] = [
        (unofficial(day, scale=scale).run, None)
        for day, scale in ((1, 1.2), (6, 1.0), (6, 1.3))
    ]
    together = judge_runs(asked)
    alone = [judge_run(run) for run, _ in asked]
    assert together == alone
    assert [v.verdict for (v,) in together] == [
        "improvement",
        "regression",
        "within noise",
    ]
    first = together[0][0].base
    assert first is not None
    assert first.run_id == base.run.github_run_id


def test_verdicts_told_are_kept_for_one_generation_of_the_data():
    GenerationFactory()
    official(0)
    sweep = unofficial(1, scale=1.2)
    asked = (sweep.run, None)
    (first,) = told_verdicts([asked])[asked]
    sweep.points.update(tput_per_gpu=1.0)
    assert told_verdicts([asked])[asked] == [first]
    assert count(lambda: told_verdicts([asked])) == 1
    Generation.bump()
    (second,) = told_verdicts([asked])[asked]
    assert (first.verdict, second.verdict) == ("improvement", "regression")


def test_an_official_run_tells_what_was_stored_with_its_sweeps():
    base = official(0)
    sweep = official(1)
    asked = (sweep.run, None)
    numbers = {
        **verdict_json(the_verdict(sweep.run)),
        "sentence": "as it was stored",
    }
    Judgement.objects.create(
        sweep=sweep, baseline=base, verdict="within noise", numbers=numbers
    )
    (stored,) = told_verdicts([asked])[asked]
    assert stored.sentence == "as it was stored"


def test_an_official_run_with_an_unjudged_sweep_is_judged_now():
    add_sweep(0)
    sweep = add_sweep(1)
    derive()
    asked = (sweep.run, None)
    (told,) = told_verdicts([asked])[asked]
    assert told.verdict == "within noise"
