"""The recorded runs, judged: what got better, worse, cannot be told, and is over."""

import csv
import io
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.db import transaction

from dashboard.corrections import exclude_points, undo
from dashboard.models import Judgement, Regression, Run, TriageEvent
from dashboard.queries.regressions import RegressionFilters, improvements
from dashboard.queries.run_verdicts import run_verdict, stored_run
from ingest.pipeline import derive_run, replay_run
from tests.ingest import golden

OFFICIAL = {
    (31900000004, golden.AGENTIC): "no baseline",
    (33100000001, golden.ATOM): "no baseline",
    (33100000001, golden.SGLANG): "no baseline",
    (33100000001, golden.MTP): "no baseline",
    (33300000002, golden.SGLANG): "improvement",
    (33300000002, golden.MTP): "improvement",
    (33400000005, "dsr1-fp4-gb200-dynamo-trt"): "no baseline",
    (33400000005, "dsv4-fp4-b200-dynamo-sglang-mtp"): "no baseline",
    (33400000005, "qwen3.5-fp8-gb200-dynamo-sglang"): "no baseline",
    (33598359757, golden.SGLANG): "not comparable",
    (33598359757, golden.MTP): "not comparable",
    (33500000006, golden.SGLANG): "regression",
    (33500000006, golden.MTP): "within noise",
    (33600000007, golden.SGLANG): "improvement",
    (33600000007, golden.MTP): "within noise",
}


@pytest.fixture(scope="module")
def loaded(
    shared_data: Path, django_db_setup: None, django_db_blocker: Any
) -> Iterator[Path]:
    """Every recorded run, once for the module, in an order of its own."""
    order = list(golden.RUN_IDS)
    random.Random(6).shuffle(order)
    with django_db_blocker.unblock(), transaction.atomic():
        golden.import_masters(shared_data)
        for run_id in order:
            golden.ingest(shared_data, run_id)
        yield shared_data
        transaction.set_rollback(True)


@pytest.fixture
def all_runs(loaded: Path, db: None) -> Path:
    """The recorded runs, inside the test's own savepoint."""
    return loaded


def _run(github_run_id: int) -> Run:
    run = stored_run(github_run_id)
    assert run is not None
    return run


def _judged() -> dict[tuple[int, str], str]:
    rows = Judgement.objects.values_list(
        "sweep__run__github_run_id", "sweep__config_key__key", "verdict"
    )
    return {(run, key): verdict for run, key, verdict in rows}


def test_official_sweeps_get_their_verdicts(all_runs: Path) -> None:
    assert _judged() == OFFICIAL


def test_there_is_one_regression_and_it_is_over(all_runs: Path) -> None:
    (found,) = Regression.objects.select_related("recovered_by", "run", "config_key")
    assert (found.run.github_run_id, found.config_key.key, found.kind) == (
        33500000006,
        golden.SGLANG,
        "performance",
    )
    assert found.numbers["places"] == [["TP2", [64, 128, 256]]]
    # One figure everywhere, and the sentence says of what it is.
    assert found.change is not None
    figure = f"up to {100 * found.change:+.1f} % total throughput per GPU at 3 of 7"
    assert figure in found.summary
    assert found.recovered_by is not None
    assert found.recovered_by.github_run_id == 33600000007
    assert found.state == Regression.State.UNTRIAGED


def test_the_return_of_the_regression_is_no_improvement(all_runs: Path) -> None:
    listed = improvements(RegressionFilters())
    assert {row.sweep.run.github_run_id for row in listed} == {33300000002}
    found = run_verdict(_run(33600000007))
    assert list(found.facts.recovers.values()) == [[33500000006]]


def test_a_swap_is_not_comparable_and_keeps_its_numbers(all_runs: Path) -> None:
    (found,) = Judgement.objects.filter(
        sweep__run__github_run_id=33598359757, sweep__config_key__key=golden.SGLANG
    )
    assert found.reason == "checkpoint differs"
    assert found.numbers["like_for_like"]["pairs"] == 7
    assert round(found.numbers["like_for_like"]["change"], 3) == 0.067
    assert "area at matched points +6.7 % [" in found.sentence
    assert "], not like for like, vs run 33300000002" in found.sentence


def test_the_cancelled_run_is_judged_by_what_it_has(all_runs: Path) -> None:
    found = run_verdict(_run(33588417338))
    assert found.line.startswith(
        "improvement, partial: 8 of 16 points, image differs, acceptance synthetic: "
    )
    # The points gained 4.0 to 6.9 %.
    assert "up to +6.9 % total throughput per GPU at 8 of 8 points" in found.line
    (verdict,) = found.verdicts
    assert verdict.base is not None
    assert verdict.base.run_id == 31900000004


def test_a_run_without_a_usable_point_has_nothing_to_judge(all_runs: Path) -> None:
    found = run_verdict(_run(31544080186))
    assert found.line == "nothing to judge: no usable point"
    assert found.verdicts == []


def test_the_run_after_the_regression_is_as_the_one_before(all_runs: Path) -> None:
    found = run_verdict(_run(33600000007), base=_run(33598359757))
    assert [str(v.verdict) for v in found.verdicts] == ["within noise"] * 2


def test_a_run_against_itself_shows_no_change(all_runs: Path) -> None:
    found = run_verdict(_run(33300000002), base=_run(33300000002))
    assert {str(v.verdict) for v in found.verdicts} == {"within noise"}


def test_a_run_without_a_common_key_has_no_baseline(all_runs: Path) -> None:
    found = run_verdict(_run(33300000002), base=_run(31900000004))
    assert {str(v.verdict) for v in found.verdicts} == {"no baseline"}


def test_replaying_changes_no_judgement(all_runs: Path) -> None:
    before = list(Judgement.objects.order_by("pk").values())
    regressions = list(Regression.objects.order_by("pk").values())
    for run_id in golden.RUN_IDS:
        replay_run(_run(run_id))
    assert list(Judgement.objects.order_by("pk").values()) == before
    assert list(Regression.objects.order_by("pk").values()) == regressions


def test_excluding_and_undoing_keeps_the_triage(all_runs: Path) -> None:
    (regression,) = Regression.objects.all()
    Regression.objects.update(state=Regression.State.INVESTIGATING)
    TriageEvent.objects.create(regression=regression, author="ada", note="looking")
    run = _run(33500000006)
    made = exclude_points(run=run, author="ada", reason="host was throttled")
    derive_run(run)
    regression.refresh_from_db()
    assert not regression.is_active
    assert _judged()[33600000007, golden.SGLANG] == "within noise"

    undo(correction=made, author="ada", reason="it was not")
    derive_run(run)
    (again,) = Regression.objects.filter(is_active=True)
    assert again.pk == regression.pk
    assert again.state == Regression.State.INVESTIGATING
    assert again.events.count() == 1
    assert _judged() == OFFICIAL


def test_the_regression_is_compared_point_by_point(all_runs: Path, client: Any) -> None:
    asked = {"base": 33598359757, "head": 33500000006}
    answer = client.get("/compare.csv", asked)
    rows = list(csv.DictReader(io.StringIO(answer.content.decode())))
    worse = {
        (row["config_key"], row["deployment"], int(row["concurrency"]))
        for row in rows
        if row["flag"] == "worse"
    }
    assert worse == {(golden.SGLANG, "TP2", c) for c in (64, 128, 256)}
    assert {row["flag"] for row in rows} == {"worse", "worse, not deciding", ""}


def test_a_swap_is_compared_without_a_flag(all_runs: Path, client: Any) -> None:
    asked = {"base": 33300000002, "head": 33598359757}
    text = client.get("/compare.csv", asked).getvalue().decode("utf-8-sig")
    rows = list(csv.DictReader(text.splitlines()))
    assert len(rows) > 80
    assert {row["flag"] for row in rows} == {""}
    body = client.get("/compare", asked).content.decode()
    assert "checkpoint differs" in body
    assert "badge-ok" not in body[body.index('id="deltas-0"') : body.index('id="evals')]


def test_the_run_page_and_the_banner_tell_the_golden_sentence(
    all_runs: Path, client: Any
) -> None:
    said = "improvement, partial: 8 of 16 points, image differs, acceptance synthetic"
    for path in ("/runs/33588417338", "/inference?unofficialRun=33588417338"):
        assert said in client.get(path).content.decode()


def test_points_that_a_person_took_out_are_neither_missing_nor_a_regression(
    all_runs: Path,
) -> None:
    run = _run(33500000006)
    sweep = run.sweeps.get(config_key__key=golden.SGLANG)
    for concurrency in (64, 128, 256):
        exclude_points(
            run=run,
            config_key=sweep.config_key,
            concurrency=concurrency,
            author="ada",
            reason="the host was throttled",
        )
    derive_run(run)
    sweep.refresh_from_db()
    assert (sweep.state, sweep.received_count) == ("former", 4)
    assert not Regression.objects.filter(is_active=True).exists()
    (found,) = [v for v in run_verdict(run).verdicts if v.config_key == golden.SGLANG]
    assert str(found.verdict) == "within noise"
    assert found.judged.partial == ""
    assert found.judged.comparison is not None
    assert found.judged.comparison.coverage.left_out_head == 3
    assert found.judged.comparison.coverage.lost == ()
