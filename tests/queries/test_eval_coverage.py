"""Which evals were to come and which have, of runs recorded and made."""

from pathlib import Path

import pytest

from dashboard.models import EvalResult, Run
from dashboard.queries.eval_coverage import EvalCoverage, key_coverage, run_coverage
from dashboard.queries.run_parts import evals
from tests.factories import (
    ConfigKeyFactory,
    DeploymentFactory,
    EvalResultFactory,
    RunFactory,
    SweepFactory,
)
from tests.ingest.golden import SGLANG, import_masters, ingest

pytestmark = pytest.mark.django_db

KEY = "qwen3.5-fp4-mi355x-sglang"


def planned(*arms: list[object], source: str = "jobs") -> dict[str, object]:
    return {"source": source, "evals": list(arms)}


def of_run(run: Run) -> EvalCoverage:
    return run_coverage(run, evals(run, None))


def test_what_left_no_score_is_not_measured_and_never_passed():
    run = RunFactory(
        eval_plan=planned(
            [KEY, "8k/1k", "TP2", 2, [64]], [KEY, "8k/1k", "TP2", 2, [256]]
        )
    )
    EvalResultFactory(run=run, concurrency=64)
    EvalResultFactory(run=run, concurrency=4)
    found = of_run(run)
    assert [(a.concurrencies, a.outcome) for a in found.arms] == [
        ((64,), "pass"),
        ((256,), "not measured"),
    ]
    assert [a.concurrencies for a in found.missing] == [(256,)]
    assert [e.result.concurrency for e in found.unplanned] == [4]
    assert found.source_text == "the eval jobs of the run"


def test_a_job_of_several_concurrencies_is_measured_by_one_score():
    run = RunFactory(eval_plan=planned([KEY, "8k/1k", "TP2", 2, [4, 64]]))
    EvalResultFactory(run=run, concurrency=64)
    (arm,) = of_run(run).arms
    assert arm.is_measured
    EvalResultFactory(run=run, concurrency=4, strict=0.5, flexible=0.5)
    (arm,) = of_run(run).arms
    assert (len(arm.evals), arm.outcome) == (2, "fail")


def test_a_score_of_another_expert_size_is_joined_where_unique_and_says_so():
    arms = [[KEY, "agentic-traces", "TP2/EP2", 2, [4]]]
    run = RunFactory(eval_plan=planned(*arms))
    plain = DeploymentFactory(tp=2, ep=1)
    EvalResultFactory(
        run=run, deployment=plain, concurrency=4, scenario="agentic-traces"
    )
    (arm,) = of_run(run).arms
    assert arm.join_text == "scored as TP2, joined by TP and concurrency"
    run.eval_plan = planned(*arms, [KEY, "agentic-traces", "TP2/EP4", 2, [4]])
    found = of_run(run)
    assert [a.outcome for a in found.arms] == ["not measured", "not measured"]
    assert len(found.unplanned) == 1


def test_without_a_plan_nobody_can_tell():
    run = EvalResultFactory().run
    found = of_run(run)
    assert (found.source, found.arms, len(found.unplanned)) == ("", [], 1)


def test_a_key_is_covered_by_the_runs_of_its_current_curve(django_assert_num_queries):
    key = ConfigKeyFactory(key=KEY)
    other = [["another", "8k/1k", "TP2", 2, [64]]]
    plan = planned([KEY, "8k/1k", "TP2", 2, [64]], *other, source="matrix")
    former = SweepFactory(official=True, config_key=key, state="former")
    current = SweepFactory(official=True, config_key=key)
    for sweep in (former, current):
        Run.objects.filter(pk=sweep.run_id).update(eval_plan=plan)
        EvalResultFactory(run=sweep.run, config_key=key)
    with django_assert_num_queries(3):  # sweeps, scores, floors
        found = key_coverage(key, "8k/1k")
    ((run, covered),) = found.items()
    assert run == current.run
    assert [(a.config_key, a.outcome) for a in covered.arms] == [(KEY, "pass")]
    assert not covered.unplanned


@pytest.mark.parametrize(
    ("run_id", "source", "arms", "missing", "by_size"),
    [
        (33598359757, "jobs", 4, 0, 0),
        (33400000005, "jobs", 17, 0, 0),
        (31900000004, "jobs", 1, 0, 0),
        (33588417338, "jobs", 1, 1, 0),
        (31544080186, "jobs", 41, 15, 10),
    ],
)
def test_recorded_runs_are_covered_as_their_jobs_say(
    shared_data: Path, run_id: int, source: str, arms: int, missing: int, by_size: int
):
    import_masters(shared_data)
    ingest(shared_data, run_id)
    found = of_run(Run.objects.get(github_run_id=run_id))
    seen = (found.source, len(found.arms), len(found.missing))
    assert seen == (source, arms, missing)
    assert sum(bool(a.join_text) for a in found.arms) == by_size
    assert not found.unplanned
    scored = sum(len(a.evals) for a in found.arms)
    assert scored == EvalResult.objects.filter(is_current=True).count()


def test_the_rule_says_of_a_recorded_run_what_its_jobs_say(shared_data: Path):
    import_masters(shared_data)
    ingest(shared_data, 33598359757)
    run = Run.objects.get()
    by_jobs = {(a.config_key, a.concurrencies) for a in of_run(run).arms}
    assert by_jobs == {
        (SGLANG, (64,)),
        (SGLANG, (256,)),
        (f"{SGLANG}-mtp", (64,)),
        (f"{SGLANG}-mtp", (128,)),
    }
