"""Better or worse: on the page of a run, and in the banner of its link."""

from typing import Any

import pytest

from dashboard.models import Judgement
from tests.factories import EvalResultFactory, GenerationFactory, RunFactory
from tests.pages.key_builders import CURVE, KEY
from tests.verdict_builders import official, unofficial

pytestmark = pytest.mark.django_db
OTHER = "qwen3.5-fp4-b200-trt"


def text(client, path: str) -> str:
    answer = client.get(path)
    assert answer.status_code == 200
    return " ".join(answer.content.decode().split())


def run_page(client, run: Any) -> str:
    body = text(client, f"/runs/{run.github_run_id}")
    start = body.index('id="verdict">Better or worse')
    return body[start : body.index("</section>", start)]


def banner(client, *runs: Any) -> str:
    ids = ",".join(str(run.github_run_id) for run in runs)
    body = text(client, f"/inference?unofficialRun={ids}")
    start = body.index('id="asked"')
    return body[start : body.index("</section>", start)]


def test_the_page_says_the_verdict_first_and_where_to_compare(client):
    base, head = official(0), unofficial(3, scale=0.9)
    body = run_page(client, head.run)
    assert '<span class="badge badge-bad">regression</span>' in body
    assert "regression: -10.0 % total throughput per GPU at 4 of 4 points" in body
    base_id, head_id = base.run.github_run_id, head.run.github_run_id
    assert f"/compare?base={base_id}&amp;head={head_id}&amp;key={KEY}" in body
    assert f"/runs/{head_id}/verdict.md" in body
    assert f"run {base_id}</a> of 2026-07-01, 3 days older" in body
    assert "old baseline" not in body


def test_the_page_and_the_list_of_runs_lead_to_the_frontiers(client):
    head = unofficial(3)
    link = f'href="/inference?unofficialRun={head.run.github_run_id}"'
    assert f"{link}>On the frontiers</a>" in run_page(client, head.run)
    assert link in text(client, "/runs")


def test_an_old_baseline_is_warned_of(client):
    official(0)
    body = run_page(client, unofficial(70).run)
    assert "70 days older" in body
    assert '<span class="badge badge-warn">old baseline</span>' in body


def test_what_is_not_comparable_has_no_colour(client):
    official(0)
    body = run_page(client, unofficial(1, checkpoint="org-b/Other").run)
    assert '<span class="badge">not comparable</span>' in body
    assert "not judged" in body
    assert "badge-ok" not in body
    assert "Area at matched points, not like for like</dt>" in body


def test_lost_points_and_those_no_longer_planned_are_told_apart(client):
    official(0)
    plan = [["TP2", concurrency] for concurrency, _, _ in CURVE[1:]]
    head = unofficial(1, curve=CURVE[2:], planned=plan, planned_count=len(plan))
    body = run_page(client, head.run)
    assert ">lost: TP2 c16<" in body
    assert ">no longer planned: TP2 c4<" in body


def test_a_gain_above_twice_is_marked(client):
    official(0)
    body = run_page(client, unofficial(1, scale=3).run)
    assert "above 2x, needs a look" in body


def test_a_first_sweep_has_no_baseline_and_nothing_to_compare_with(client):
    body = run_page(client, unofficial(1).run)
    assert "no baseline: there is no earlier official sweep of this key" in body
    assert "?base=" not in body


def test_a_run_that_measured_nothing_says_so(client):
    assert "Nothing to judge: no usable point." in run_page(client, RunFactory())


def test_a_merge_is_judged_by_the_run_that_it_publishes(client):
    official(0)
    source = unofficial(1, scale=1.2).run
    merge = RunFactory(official=True, reuse_source_run_id=source.github_run_id)
    body = run_page(client, merge)
    assert f"measured in run {source.github_run_id}" in body
    assert "improvement" in body
    absent = RunFactory(official=True, reuse_source_run_id=4711)
    said = "Measured in run 4711, which is not stored here."
    assert said in run_page(client, absent)


def test_a_hidden_run_is_not_judged(client):
    official(0)
    run = unofficial(1, run_fields={"publication": "hidden"}).run
    assert "Not judged: a person took this run out." in run_page(client, run)


def test_many_keys_have_their_numbers_folded(client):
    head = unofficial(1)
    for n in range(3):
        unofficial(1, key=f"key-{n}", run=head.run)
    assert run_page(client, head.run).count("<summary>Three numbers") == 4


def test_the_verdict_names_the_place_of_the_evals(client):
    head = unofficial(1)
    EvalResultFactory(run=head.run, config_key=head.config_key)
    assert 'Evals: <a href="#evals">intact, 1 of 1 passed</a>' in (
        run_page(client, head.run)
    )


def test_an_official_run_shows_what_was_stored_with_it(client):
    base, sweep = official(0), official(1)
    unjudged = run_page(client, sweep.run)
    assert "within noise" in unjudged
    Judgement.objects.create(
        sweep=sweep,
        baseline=base,
        verdict="within noise",
        numbers={
            **_numbers(client, sweep.run),
            "sentence": "within noise: as it was stored",
        },
    )
    GenerationFactory(number=9)
    assert "within noise: as it was stored" in run_page(client, sweep.run)


def _numbers(client, run: Any) -> dict[str, Any]:
    answer = client.get(f"/api/v1/runs/{run.github_run_id}/verdict").json()
    numbers: dict[str, Any] = answer["verdicts"][0]
    return numbers


def test_an_attempt_page_judges_the_attempt(client):
    official(0)
    run = unofficial(1).run
    body = text(client, f"/runs/{run.github_run_id}/attempts/1")
    assert f"&amp;head={run.github_run_id}/attempts/1&amp;key=" in body
    assert f"/runs/{run.github_run_id}/verdict.md?attempt=1" in body


def test_the_banner_tells_the_worst_in_one_line(client):
    official(0)
    base = official(0, key=OTHER)
    head = unofficial(1, scale=1.3)
    unofficial(1, key=OTHER, run=head.run, scale=0.9)
    said = banner(client, head.run)
    assert '<span class="badge badge-bad">regression</span>' in said
    assert f"{OTHER}: regression: -10.0 % total throughput" in said
    assert "(other keys: 1 improvement)" in said
    assert "/verdict.md" in said
    ids = base.run.github_run_id, head.run.github_run_id
    assert f"/compare?base={ids[0]}&amp;head={ids[1]}" in said


def test_the_banner_of_each_run_tells_its_own_verdict(client):
    official(0)
    better, worse = unofficial(1, scale=1.3).run, unofficial(2, scale=0.8).run
    said = banner(client, better, worse)
    assert "improvement: +30.0 %" in said
    assert "regression: -20.0 %" in said


def test_the_banner_of_a_partial_run_says_so(client):
    official(0)
    head = unofficial(1, planned_count=9)
    assert "within noise, partial: 4 of 9 points" in banner(client, head.run)


def test_the_banner_of_a_hidden_run_has_no_verdict(client):
    official(0)
    head = unofficial(1, run_fields={"publication": "hidden"}, scale=0.5)
    said = banner(client, head.run)
    assert "A person took this run out" in said
    assert "regression" not in said


def test_the_evaluation_page_tells_no_speed(client):
    official(0)
    head = unofficial(1, scale=0.5)
    body = text(client, f"/evaluation?unofficialRun={head.run.github_run_id}")
    assert "regression: " not in body
