"""Two runs held against each other: what the page shows, says, and refuses."""

import csv
import io
import json
import re
from typing import Any

import pytest
from plotly.graph_objects import Figure

from dashboard.models import Run
from dashboard.templatetags.verdicts import days_apart
from tests.factories import (
    ChangelogEntryFactory,
    ConfigDefinitionFactory,
    EvalResultFactory,
    PointFactory,
    RunAttemptFactory,
    RunFactory,
)
from tests.pages.key_builders import CURVE, KEY
from tests.pages.test_hostile_texts import HOSTILE, assert_inert
from tests.verdict_builders import official, unofficial

pytestmark = pytest.mark.django_db
OTHER = "qwen3.5-fp4-b200-trt"


def sides(base: Any, head: Any, **more: str) -> dict[str, str]:
    ids = {"base": str(_id(base)), "head": str(_id(head))}
    return {**ids, **more}


def _id(side: Any) -> int:
    run_id: int = (
        side.github_run_id if isinstance(side, Run) else side.run.github_run_id
    )
    return run_id


def page(client, base, head, status=200, **more) -> str:
    answer = client.get("/compare", sides(base, head, **more))
    assert answer.status_code == status
    return " ".join(answer.content.decode().split())


def rows_of(client, base, head, **more) -> list[dict[str, str]]:
    answer = client.get("/compare.csv", sides(base, head, **more))
    assert answer["Content-Type"].startswith("text/csv")
    return list(csv.DictReader(io.StringIO(answer.content.decode())))


def figures(body: str) -> list[Any]:
    found = re.findall(r'<script id="figure-\d+" type="application/json">(.*?)<', body)
    return [json.loads(text) for text in found]


def table(body: str, name: str) -> str:
    found = re.search(rf'id="{name}-0">.*?</section>', body)
    assert found is not None
    return found[0]


def slower() -> tuple[Any, Any]:
    return official(0), unofficial(3, scale=0.9)


def test_a_loss_is_told_in_a_sentence_in_numbers_and_at_each_point(client):
    base, head = slower()
    body = page(client, base, head)
    assert '<span class="badge badge-bad">regression</span>' in body
    said = (
        f"run {_id(head)}, {KEY} 8k/1k: regression: -10.0 % total throughput per GPU "
        "at 4 of 4 points (TP2 c4, c16, c64, c256)"
    )
    assert said in body
    assert '<strong>11.1 % behind</strong>, <span class="muted">at TP2 c' in body
    assert f"run {_id(base)}</a> of 2026-07-01, 3 days older" in body


def test_the_figure_is_valid_and_has_both_sides(client):
    (figure,) = figures(page(client, *slower()))
    assert Figure(figure)
    keys = {trace["meta"]["key"] for trace in figure["data"]}
    assert keys == {"base", "head", "gap-worse"}


def test_the_legend_shows_an_official_base_hollow_beside_an_official_head(client):
    base, head = official(0), official(1, scale=0.9)
    body = page(client, base, head)
    legend = body[body.index('class="key-legend"') :]
    marks = [item.count('fill="none"') for item in legend.split("<li>")[1:3]]
    assert marks == [2, 0]


def test_the_table_leads_with_what_decides_and_the_file_has_its_rows(client):
    base, head = slower()
    rows = rows_of(client, base, head)
    body = page(client, base, head)
    assert table(body, "deltas").count("<tr data-point") == len(rows) == 4 * 6
    assert {row["flag"] for row in rows[:4]} == {"worse"}
    first = rows[0]
    assert (first["metric"], first["unit"]) == ("tput_per_gpu", "tok/s/GPU")
    assert float(first["change"]) == pytest.approx(-0.1)
    assert first["base_run_id"] == str(_id(base))
    assert rows[-1]["flag"] == ""


@pytest.mark.parametrize(
    ("sort", "first"),
    [
        ("place", [("4", "median_intvty"), ("4", "tput_per_gpu")]),
        ("metric", [("4", "median_intvty"), ("16", "median_intvty")]),
    ],
)
def test_the_table_is_sorted_as_asked_for(client, sort, first):
    rows = rows_of(client, *slower(), sort=sort)
    assert [(row["concurrency"], row["metric"]) for row in rows[:2]] == first


def test_best_throughput_is_blank_where_a_side_does_not_reach(client):
    base = official(0)
    head = unofficial(1, curve=CURVE[1:])
    best = table(page(client, base, head), "best")
    reached = 'title="300.0">300.0</td> <td class="num" title="not reached"></td>'
    assert f'>150</th> <td class="num" {reached}' in best
    assert ">200</th>" not in best


def test_what_is_not_comparable_keeps_numbers_without_a_colour(client):
    base = official(0)
    head = unofficial(1, checkpoint="org-b/Other", scale=1.3)
    body = page(client, base, head)
    assert '<span class="badge">not comparable</span>' in body
    assert "+30.0 %" in table(body, "deltas")
    assert "badge-ok" not in table(body, "deltas")
    assert "Nothing is flagged: checkpoint differs." in body
    (figure,) = figures(body)
    fills = {t["fillcolor"] for t in figure["data"] if t["meta"]["role"] == "gap"}
    assert fills == {"rgba(125,138,150,0.22)"}
    assert "org-b/Other" in table(body, "facts")


def test_a_gain_above_twice_is_marked_and_called_no_improvement(client):
    base, head = official(0), unofficial(1, scale=2.5)
    body = page(client, base, head)
    assert "inconclusive" in body
    assert "above 2x, needs a look" in table(body, "deltas")
    assert {row["flag"] for row in rows_of(client, base, head)[:4]} == {
        "above 2x, needs a look"
    }


def test_one_common_point_is_inconclusive(client):
    base, head = official(0), unofficial(1, curve=CURVE[:1], scale=0.9)
    body = page(client, base, head)
    assert "inconclusive: 1 usable pair of points, 3 are needed" in body
    (figure,) = figures(body)
    assert Figure(figure)
    gaps = [t for t in figure["data"] if t["meta"]["role"] == "gap"]
    assert {gap["fillcolor"] for gap in gaps} == {"rgba(125,138,150,0.22)"}
    assert "Grey, since nothing is judged here." in body
    assert "Bare where a line rests on a point that only one side measured" in body


def test_a_zero_baseline_gives_no_change(client):
    base, head = official(0), unofficial(1)
    base.points.filter(concurrency=4).update(tput_per_gpu=0)
    assert '>0</td> <td class="num" title="300.0">300.0</td> <td class="num">n/a<' in (
        table(page(client, base, head), "deltas")
    )
    zero = [r for r in rows_of(client, base, head) if r["base"] == "0.0"]
    assert [row["change"] for row in zero] == [""]


def test_evals_stand_side_by_side_with_their_intervals(client):
    base, head = slower()
    EvalResultFactory(run=base.run, config_key=base.config_key, strict=0.97)
    EvalResultFactory(run=head.run, config_key=base.config_key, strict=0.96, n=1319)
    EvalResultFactory(run=head.run, config_key=base.config_key, concurrency=256)
    evals = table(page(client, base, head), "evals")
    assert "-1.00 pp" in evals
    assert "z -1.40, p 0.16: no difference shown" in evals
    assert ">amber</span>" in evals
    assert "flexible +0.00 pp" in evals
    assert '0.9600 <span class="muted">0.9480 to 0.9693</span>' in evals
    assert '<span class="missing">not measured</span>' in evals


def test_what_differs_names_image_definition_and_changelog(client):
    base = official(0, image="img/sglang:1")
    head = unofficial(1, image="img/sglang:2", images=["img/sglang:2"])
    for image, sweep in (("img/sglang:1", base), ("img/sglang:2", head)):
        ConfigDefinitionFactory(
            config_key=base.config_key,
            checkpoint=sweep.checkpoint,
            image=image,
            entry={"image": image, "runner": "mi355x"},
            first_seen_at=sweep.run.created_at,
            last_seen_at=sweep.run.created_at,
        )
    ChangelogEntryFactory(run=head.run, description=["Bump the image"])
    ChangelogEntryFactory(run=head.run, raw_keys=["another"], description=["Not here"])
    body = page(client, base, head)
    facts, changes = table(body, "facts"), table(body, "changes")
    assert '<td class="fact">img/sglang:1</td> <td class="fact">img/sglang:2' in facts
    assert "<code>img/sglang:1</code></td> <td><code>img/sglang:2</code>" in changes
    assert "runner" not in changes
    assert "https://github.com/example/bench/pull/501" in changes
    assert "Bump the image" in changes
    assert "Not here" not in changes


def test_where_the_head_has_no_point_nothing_is_called_a_loss(client):
    base, head = official(0), unofficial(1, curve=CURVE[:2])
    body = page(client, base, head)
    best = table(body, "best")
    assert "the head has no point there" in best
    assert "+0.0 %" in best
    assert not re.search(r"-\d+\.\d %", best)
    assert "head below base" not in body
    assert "Bare where a line rests on a point that only one side measured" in body


def test_a_recipe_differs_on_its_own_only_without_another_image(client):
    base = official(0, images=["img/sglang:1"], fingerprints=["aaaa"])
    same = unofficial(1, images=["img/sglang:1"], fingerprints=["bbbb"])
    other = unofficial(2, images=["img/sglang:2"], fingerprints=["bbbb"])
    assert "recipe" in table(page(client, base, same), "facts")
    facts = table(page(client, base, other), "facts")
    assert "img/sglang:2" in facts
    assert "recipe" not in facts


def test_a_placeholder_link_is_no_link(client):
    base, head = slower()
    ChangelogEntryFactory(
        run=head.run, pr_link="https://x.example/pull/XXX", link_state="placeholder"
    )
    changes = table(page(client, base, head), "changes")
    assert '<span class="muted">of the run</span>' in changes
    assert 'href="https://x.example' not in changes


def test_the_noise_says_where_it_comes_from(client):
    body = page(client, *slower())
    assert "Noise that the changes were held against" in body
    assert "start value, from the published history" in body
    assert '<td class="num">0.75 %</td>' in body


def test_sides_can_be_swapped(client):
    base, head = slower()
    body = page(client, base, head, key=KEY)
    assert f"/compare?key={KEY}&amp;base={_id(head)}&amp;head={_id(base)}" in body
    swapped = page(client, head, base)
    assert 'badge-ok">improvement' in swapped
    assert "3 days later" in swapped


def test_attempts_are_sides_of_their_own(client):
    head = unofficial(1)
    RunAttemptFactory(run=head.run, attempt=2)
    Run.objects.filter(pk=head.run.pk).update(attempt=2)
    for point in head.points.all():
        PointFactory(
            sweep=head,
            deployment=point.deployment,
            concurrency=point.concurrency,
            attempt=2,
            is_current=False,
        )
    token = f"{_id(head)}/attempts/"
    query = {
        "base": f"{token}1",
        "head": f"https://github.com/a/b/actions/runs/{token}2",
    }
    body = client.get("/compare", query).content.decode()
    assert f"run {_id(head)}, attempt 2 against run {_id(head)}, attempt 1" in (
        body.lower()
    )
    other = {"base": _id(head), "base_attempt": 1, "head": _id(head), "head_attempt": 2}
    assert client.get("/compare", other).status_code == 200
    twice = {"base": f"{token}1", "base_attempt": 2, "head": _id(head)}
    answer = client.get("/compare", twice)
    assert answer.status_code == 400
    assert "two different attempts" in answer.content.decode()


def test_only_common_keys_are_compared_and_counted(client):
    base, head = unofficial(0), unofficial(1)
    unofficial(0, key=OTHER, run=base.run)
    unofficial(1, key="qwen3.5-fp4-mi355x-atom", run=head.run)
    unofficial(0, key="qwen3.5-fp8-mi355x-vllm", run=base.run)
    unofficial(1, key="qwen3.5-fp8-mi355x-vllm", run=head.run)
    body = page(client, base, head)
    said = "2 in common</strong>: of 3 that the base measured and 3 that the head"
    assert said in body
    assert f"Only the base measured {OTHER} (8k/1k)." in body
    narrowed = page(client, base, head, key=KEY)
    assert len(figures(body)) == 2
    assert len(figures(narrowed)) == 1
    assert len(rows_of(client, base, head)) == 2 * len(
        rows_of(client, base, head, key=KEY)
    )


def test_many_keys_are_listed_with_a_link_each(client):
    base, head = unofficial(0), unofficial(1)
    for n in range(4):
        unofficial(0, key=f"key-{n}", run=base.run)
        unofficial(1, key=f"key-{n}", run=head.run)
    body = page(client, base, head)
    assert figures(body) == []
    assert "Details are shown for at most 4 at once: choose one." in body
    assert "key=key-3&amp;scenario=8k/1k" in body


def test_without_parameters_there_is_a_form(client):
    body = client.get("/compare").content.decode()
    assert 'name="base"' in body
    assert 'name="head"' in body
    assert "error" not in body


def test_a_head_alone_offers_its_official_baselines(client):
    base, head = slower()
    body = client.get("/compare", {"head": _id(head)}).content.decode()
    assert f"?base={_id(base)}&amp;head={_id(head)}&amp;key={KEY}" in body


def test_a_run_is_not_compared_with_itself(client):
    sweep = official(0)
    body = page(client, sweep, sweep)
    assert "This is the same run" in body
    assert "within noise" not in body
    alone = page(client, sweep, sweep, head_attempt="1")
    assert "This is the same run" in alone


def test_a_run_is_not_compared_with_what_it_publishes(client):
    sweep = official(0)
    merge = RunFactory(official=True, reuse_source_run_id=_id(sweep))
    body = page(client, merge, sweep)
    assert "This is the same run" in body
    assert "one publishes what the other measured" in body


def test_runs_without_a_common_key_say_what_each_measured(client):
    base, head = official(0), unofficial(1, key=OTHER)
    body = page(client, base, head)
    assert "no config key and scenario in common" in body
    assert f"measured {KEY} (8k/1k)." in body
    assert f"measured {OTHER} (8k/1k)." in body


def test_runs_of_other_models_say_so(client):
    base, head = official(0), unofficial(1, key="dsr1-fp4-b200-trt")
    head.config_key.model = "dsr1"
    head.config_key.save()
    assert "They measured different models: Qwen" in page(client, base, head)


def test_a_run_that_measured_nothing_says_so(client):
    base = official(0)
    body = page(client, base, RunFactory())
    assert "measured no usable point." in body


def test_an_unknown_run_can_be_fetched(client):
    base = official(0)
    answer = client.get("/compare", {"base": _id(base), "head": 4711})
    assert answer.status_code == 404
    body = answer.content.decode()
    assert "Run 4711 is not stored here" in body
    assert 'href="/inference?unofficialRun=4711"' in body


def test_a_hidden_run_is_held_against_nothing(client):
    base, head = official(0), unofficial(1, run_fields={"publication": "hidden"})
    body = page(client, base, head)
    assert f"Run {_id(head)} is hidden" in body
    assert client.get("/compare.csv", sides(base, head)).status_code == 404


def test_an_unknown_attempt_is_said(client):
    base, head = slower()
    body = page(client, base, head, status=404, head_attempt="9")
    assert f"Run {_id(head)} has no attempt 9" in body


def test_a_key_that_only_one_side_measured_is_refused_by_name(client):
    base, head = slower()
    body = page(client, base, head, status=400, key="nonsense")
    assert f"Both measured {KEY} (8k/1k)." in body


@pytest.mark.parametrize(
    "query",
    [
        {"base": "abc", "head": "1"},
        {"base": "1,2", "head": "3"},
        {"base": "0", "head": "3"},
        {"base": "-5", "head": "3"},
        {"base": "99999999999999999999", "head": "3"},
        {"base": "1/attempts/0", "head": "3"},
        {"base": "https://example.org/actions/runs/7", "head": "3"},
        {"base": "1\0", "head": "3"},
        {"base": "1", "head": "3", "base_attempt": "x"},
        {"base": "1", "head": "3", "sort": "nonsense"},
        {"base": "1" * 400, "head": "3"},
    ],
)
def test_malformed_ids_are_refused_by_name(client, query):
    answer = client.get("/compare", query)
    assert answer.status_code == 400
    assert 'class="error">' in answer.content.decode()
    assert client.get("/compare.csv", query).status_code == 400


@pytest.mark.parametrize("text", list(HOSTILE.values()), ids=list(HOSTILE))
def test_hostile_texts_are_inert(client, text):
    base = official(0, image=text, checkpoint=text.replace("\0", "")[:200])
    head = unofficial(
        1, run_fields={"title": text, "branch": text}, images=[text], harness=text[:90]
    )
    ChangelogEntryFactory(run=head.run, description=[text], pr_link=text)
    assert_inert(client.get("/compare", sides(base, head)).content.decode())
    assert_inert(client.get("/compare", {"base": text[:250]}).content.decode())
    assert not any(
        cell.startswith(("=", "+", "@"))
        for row in rows_of(client, base, head)
        for cell in row.values()
    )


def test_queries_do_not_grow_with_keys_and_points(client, django_assert_num_queries):
    base, head = unofficial(0), unofficial(1)
    page(client, base, head)  # what every page keeps is read once
    with django_assert_num_queries(21):
        page(client, base, head)
    for n in range(3):
        unofficial(0, key=f"key-{n}", run=base.run)
        unofficial(1, key=f"key-{n}", run=head.run)
    with django_assert_num_queries(21):
        page(client, base, head)


@pytest.mark.parametrize(
    ("age", "words"),
    [
        (0, "less than a day older"),
        (1, "1 day older"),
        (3, "3 days older"),
        (-1, "1 day later"),
        (-3, "3 days later"),
    ],
)
def test_an_age_is_written_whichever_side_is_older(age, words):
    assert days_apart(age) == words
