"""States that hang on other runs: late configs, plans, images, excluded attempts."""

import itertools
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from dashboard.corrections import exclude_points, undo
from dashboard.models import EvalResult, Run, Sweep
from ingest.pipeline import derive_run, import_config_files
from ingest.states import derive_states
from tests.ingest import golden
from tests.pipeline.bundles import (
    KEY,
    REPOSITORY,
    STARTED,
    busy_row,
    changelog,
    eval_row,
    evals,
    iso,
    job,
    jobs_for,
    master,
    results,
    run_object,
)
from tests.pipeline.conftest import Desk, forget_runs, the_run, the_sweep

DENSE = [4, 8, 16, 32]
APPEND = {"append-only": True}
BY: dict[str, Any] = {"author": "maintainer", "reason": "a broken node"}


def official(run_id: int, day: int, **changes: Any) -> dict[str, Any]:
    at = iso(STARTED + timedelta(days=day))
    return run_object(run_id, created_at=at, run_started_at=at, **changes)


def rows(concurrencies: list[int], **changes: Any) -> list[dict[str, Any]]:
    return [busy_row(c, 10.0 * c, **changes) for c in concurrencies]


def states() -> dict[int, tuple[str | None, str]]:
    sweeps = Sweep.objects.select_related("run")
    return {s.run.github_run_id: (s.state, s.state_reason) for s in sweeps}


@pytest.mark.parametrize("order", ["cbsm", "smcb", "msbc", "bsmc", "mbcs"])
def test_a_merges_late_config_decides_on_the_sweeps_of_its_source(
    desk: Desk, order: str
) -> None:
    """The merge's changelog names its keys by a pattern: only a config expands it."""
    note = {"source_run_id": "90002", "ingest_run_id": "90003"}
    topic = official(90002, 1, event="pull_request", head_branch="topic")
    bundles = {
        "b": desk.write(official(90001, 0), results(*rows(DENSE))),
        "s": desk.write(topic, results(*rows([64, 128]))),
        "m": desk.write(
            official(90003, 3),
            {"reused-ingest-metadata": {"reuse_source_run.json": note}},
            changelog=changelog("qwen3.5-fp4-*", **APPEND),
        ),
    }
    for step in order:
        if step == "c":
            at = STARTED - timedelta(days=1)
            files = {"amd-master.yaml": master()}
            import_config_files(files, repository=REPOSITORY, sha="b" * 40, at=at)
        else:
            desk.take(bundles[step])
    added = the_sweep(90002)
    assert (added.state, added.extends) == ("current", the_sweep(90001))
    assert the_sweep(90001).state == "current"


def test_jobs_whose_names_say_nothing_are_no_plan(desk: Desk) -> None:
    desk.ingest(official(90001, 0), results(*rows(DENSE)))
    odd = [job(1, 4, name="build"), job(2, 8, name="upload")]
    desk.ingest(official(90002, 1), results(*rows(DENSE[:2])), jobs=odd)
    assert the_run(90002).planned_count is None
    assert the_sweep(90002).planned_count is None
    assert states()[90002][0] == "held"


def test_a_sweep_that_no_job_planned_has_no_plan(desk: Desk) -> None:
    desk.ingest(official(90001, 0), results(*rows(DENSE, tp=4)))
    other = jobs_for(DENSE, body="llama fp8 h200-nv vllm TP8")
    desk.ingest(official(90002, 1), results(*rows(DENSE[:2], tp=4)), jobs=other)
    measured = Sweep.objects.get(run=the_run(90002), received_count=2)
    assert (measured.planned_count, measured.state) == (None, "held")


def test_a_changelog_plans_only_the_scenarios_that_it_names(desk: Desk) -> None:
    note = changelog(**{"scenario-type": ["agentic-coding"]})
    configs = {"amd-master.yaml": master()}
    desk.ingest(None, {}, changelog=note, configs=configs)
    assert not the_run().sweeps.exists()
    desk.ingest(None, {}, changelog=changelog(), configs=configs, first_id=2000)
    assert the_sweep().planned_count == 6


def test_what_is_only_added_to_has_no_plan_of_the_whole_key(desk: Desk) -> None:
    configs = {"amd-master.yaml": master()}
    desk.ingest(official(90001, 0), results(*rows(DENSE)), configs=configs)
    added = desk.write(
        official(90002, 1),
        results(*rows([64])),
        changelog=changelog(**APPEND),
        configs=configs,
    )
    desk.take(added)
    assert the_sweep(90002).planned_count is None
    assert (the_sweep(90002).state, the_sweep(90002).extends) == (
        "current",
        the_sweep(90001),
    )


def test_an_addition_to_agentic_traces_adds_nothing_to_fixed_lengths(
    desk: Desk,
) -> None:
    configs = {"amd-master.yaml": master()}
    desk.ingest(official(90001, 0), results(*rows(DENSE)), configs=configs)
    note = changelog(**APPEND, **{"scenario-type": ["agentic-coding"]})
    desk.ingest(
        official(90002, 1), results(*rows(DENSE)), changelog=note, configs=configs
    )
    assert {run: state for run, (state, _) in states().items()} == {
        90001: "former",
        90002: "current",
    }


def test_images_are_the_same_whatever_their_share(desk: Desk) -> None:
    one, two = {"image": "img/a:1"}, {"image": "img/b:1"}
    desk.ingest(official(90001, 0), results(*rows([4, 8], **one), *rows([16], **two)))
    desk.ingest(
        official(90002, 1),
        results(*rows([32], **one), *rows([64, 128], **two)),
        changelog=changelog("qwen3.5-fp4-mi355x-sglang", **APPEND),
        configs={"amd-master.yaml": master()},
    )
    assert the_sweep(90001).images == the_sweep(90002).images[::-1]
    assert the_sweep(90002).extends == the_sweep(90001)


def _two_attempts(desk: Desk) -> None:
    later = STARTED + timedelta(hours=5)
    again = run_object(run_attempt=2) | {"run_started_at": iso(later)}
    attempts = [
        run_object(run_attempt=1),
        run_object(run_attempt=2, run_started_at=iso(later)),
    ]
    desk.ingest(None, {**results(*rows([64])), **evals(eval_row())})
    desk.ingest(
        again,
        {**results(*rows([64])), **evals(eval_row(em_strict=0.5))},
        attempts=attempts,
        uploaded_at=later + timedelta(hours=1),
        first_id=2000,
    )


def _current_evals() -> list[tuple[int, float | None]]:
    found = EvalResult.objects.filter(is_current=True)
    return list(found.values_list("attempt", "strict"))


def test_an_excluded_attempt_takes_its_evals_along(desk: Desk) -> None:
    _two_attempts(desk)
    assert _current_evals() == [(2, 0.5)]
    before = golden.state()
    made = exclude_points(run=the_run(), attempt=2, **BY)
    derive_run(the_run())
    assert _current_evals() == [(1, 0.9697)]
    excluded = golden.state()
    _two_attempts(desk)
    assert golden.state() == excluded
    undo(correction=made, author="a", reason="fine")
    derive_run(the_run())
    assert golden.state() == before


def test_excluding_the_whole_run_leaves_no_current_eval(desk: Desk) -> None:
    _two_attempts(desk)
    exclude_points(run=the_run(), **BY)
    derive_run(the_run())
    assert _current_evals() == []
    assert the_run().eval_count == 0


def test_excluding_one_point_leaves_its_evals(desk: Desk) -> None:
    _two_attempts(desk)
    exclude_points(run=the_run(), concurrency=64, **BY)
    derive_run(the_run())
    assert _current_evals() == [(2, 0.5)]


def test_what_derivation_changes_is_stamped(desk: Desk) -> None:
    desk.ingest(None, results(*rows(DENSE)))
    long_ago = timezone.now() - timedelta(days=30)
    for model in (Run, Sweep):
        model.objects.update(updated_at=long_ago)
    derive_run(the_run())
    assert the_run().updated_at == the_sweep().updated_at == long_ago
    exclude_points(run=the_run(), concurrency=8, **BY)
    derive_run(the_run())
    assert the_run().updated_at > long_ago
    assert the_sweep().updated_at > long_ago


def test_deriving_states_takes_as_many_queries_for_many_sweeps(desk: Desk) -> None:
    desk.ingest(official(90001, 0), results(*rows(DENSE)), changelog=changelog())
    sweep = the_sweep()
    keys = {(sweep.config_key_id, sweep.scenario)}
    counts = []
    for first in (90002, 90007):
        with CaptureQueriesContext(connection) as queries:
            assert derive_states(keys) == 0
        counts.append(len(queries))
        for run_id in range(first, first + 5):
            desk.ingest(
                official(run_id, run_id - 90000),
                results(*rows(DENSE)),
                changelog=changelog(),
            )
    assert counts[0] == counts[1]
    assert Sweep.objects.filter(state="current").count() == 1
    assert the_sweep(90011).config_key.key == KEY


def test_every_order_of_four_runs_ends_in_one_state(desk: Desk) -> None:
    bundles = [
        desk.write(official(90001, 0), results(*rows(DENSE)), changelog=changelog()),
        desk.write(
            official(90002, 1),
            results(*rows([64])),
            changelog=changelog(**APPEND),
        ),
        desk.write(
            official(90003, 2), results(*rows(DENSE[:1])), changelog=changelog()
        ),
        desk.write(official(90004, 3), results(*rows(DENSE)), changelog=changelog()),
    ]
    found = set()
    for order in itertools.islice(itertools.permutations(bundles), 0, None, 5):
        forget_runs()
        for bundle in order:
            desk.take(bundle)
        found.add(golden.state()["sweeps"])
    assert len(found) == 1
