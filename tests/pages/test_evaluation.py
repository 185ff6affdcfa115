"""The evaluation page: which scores it lists, against what, and what it ignores."""

import csv
import io
from datetime import timedelta
from typing import Any

import plotly.graph_objects as go
import pytest

from dashboard.models import IngestRequest, Sweep
from tests.factories import (
    START,
    CheckpointFactory,
    ConfigKeyFactory,
    DeploymentFactory,
    EvalResultFactory,
    EvalSampleFactory,
    RunFactory,
    SweepFactory,
)
from tests.verdict_builders import official as official_sweep
from tests.verdict_builders import unofficial as unofficial_sweep

pytestmark = pytest.mark.django_db

HOSTILE = "<script>alert(1)</script>\u202e=cmd|'/c calc'!A1"


def rows(client, query: str = "") -> list[Any]:
    found: list[Any] = client.get(f"/evaluation{query}").context["rows"]
    return found


def shown(client, query: str = "") -> list[tuple[int, bool]]:
    found = rows(client, query)
    return [(row.run.github_run_id, row.state is not None) for row in found]


def table(client, query: str = "") -> list[dict[str, str]]:
    text = client.get(f"/evaluation.csv{query}").content.decode()
    return list(csv.DictReader(io.StringIO(text)))


def official(**given):
    return EvalResultFactory(run=RunFactory(official=True), **given)


def of_sweep(sweep: Sweep, strict: float, **given: Any) -> Any:
    usual: dict[str, Any] = {"run": sweep.run, "config_key": sweep.config_key}
    usual |= {"deployment": DeploymentFactory(tp=2), "scenario": sweep.scenario}
    usual |= {"flexible": strict, "score": strict}
    return EvalResultFactory(**{**usual, "strict": strict, **given})


def test_newest_official_score_of_each_place_is_listed(client):
    old = official()
    new = official()
    other = official(concurrency=128)
    EvalResultFactory()
    assert shown(client) == [
        (new.run.github_run_id, False),
        (other.run.github_run_id, False),
    ]
    day = f"{old.run.created_at:%Y-%m-%d}"
    new.run.created_at += timedelta(days=3)
    new.run.save()
    assert shown(client, f"?e_rundate={day}")[0] == (old.run.github_run_id, False)


def test_scores_as_of_a_run_are_those_official_by_then(client):
    old, new = official(), official()
    new.run.created_at += timedelta(days=3)
    new.run.save()
    for query in ("asof_run", "g_runid"):
        found = shown(client, f"?{query}={old.run.github_run_id}")
        assert found == [(old.run.github_run_id, False)]
    for query in ("asof_run=77", "asof_run=x", "asof_run=1&date=2026-08-01"):
        answer = client.get(f"/evaluation?{query}")
        assert answer.status_code == 400
        assert "asof_run" in answer.content.decode()


def test_held_sweep_brings_no_score(client):
    run = RunFactory(official=True)
    EvalResultFactory(run=run)
    SweepFactory(run=run, state="held", official_at=START)
    assert shown(client) == []


def test_scores_have_four_decimals_floor_and_outcome(client):
    official(strict=0.5, flexible=None, score=0.5)
    page = client.get("/evaluation").content.decode()
    for text in ("0.5000", "0.94", "fail", "1319", "not measured"):
        assert text in page


@pytest.mark.parametrize(
    ("strict", "flexible", "n", "state", "note"),
    [
        (0.9447, 0.9447, 1319, "thin margin", ""),
        (0.9350, 0.9350, 1319, "borderline", "borderline: strict"),
        (0.8947, 0.8947, 1319, "fail", "fail: strict"),
        (0.95, 0.95, 100, "too few questions", ""),
        (None, 0.96, 1319, "not measured", "strict not measured"),
        (0.9697, 0.7700, 1319, "fail", "the prompt template may be wrong"),
        (0.9697, None, 1319, "pass", "flexible not measured"),
    ],
)
def test_c30_states_are_told_with_their_reason(
    client, strict, flexible, n, state, note
):
    official(strict=strict, flexible=flexible, score=strict, n=n)
    (line,) = table(client)
    assert line["state"] == state
    assert note in line["notes"]
    body = client.get("/evaluation").content.decode()
    assert f">{state}</span>" in body
    assert note in body


def test_change_is_against_the_newest_score_of_the_same_segment(client):
    of_sweep(official_sweep(0), 0.9500)
    base = official_sweep(1)
    of_sweep(base, 0.9697)
    of_sweep(official_sweep(2), 0.9545)
    (row,) = rows(client)
    change = row.standing.change
    assert row.standing.former.moment.run == base.run.github_run_id
    assert row.standing.verdict.level == "red"
    page = client.get("/evaluation").content.decode()
    assert "-1.52 pp" in page
    assert f"z {change.z:.2f}, p {change.p:.2g}: worse" in page
    assert f'against <a href="/runs/{base.run.github_run_id}">' in page
    (line,) = table(client)
    assert (line["level"], line["baseline_run_id"]) == (
        "red",
        str(base.run.github_run_id),
    )
    assert float(line["difference"]) == pytest.approx(-0.0152)


def test_nothing_is_compared_across_a_swap(client):
    of_sweep(official_sweep(0), 0.9697)
    of_sweep(official_sweep(1, checkpoint="org-a/Model-V2"), 0.9545)
    (row,) = rows(client)
    assert row.standing.change is None
    assert "checkpoint differs" in client.get("/evaluation").content.decode()


def test_a_run_of_the_link_is_held_against_what_served_the_same(client):
    base = official_sweep(0)
    of_sweep(base, 0.9697)
    of_sweep(official_sweep(1, checkpoint="org-a/Model-V2"), 0.9545)
    mine = unofficial_sweep(2)
    of_sweep(mine, 0.9690)
    first, _ = rows(client, f"?unofficialRun={mine.run.github_run_id}")
    assert first.standing.former.moment.run == base.run.github_run_id
    assert first.standing.verdict.words == "no difference shown"


def test_recovery_is_against_the_declared_reference(client):
    reference = official_sweep(0)
    of_sweep(reference, 0.9700)
    quantized = official_sweep(1, checkpoint="org-a/Model-V2")
    assert reference.checkpoint is not None
    assert quantized.checkpoint is not None
    quantized.checkpoint.reference = CheckpointFactory(name=reference.checkpoint.name)
    quantized.checkpoint.save()
    of_sweep(quantized, 0.9603)
    (row,) = rows(client)
    assert row.standing.recovery.share == pytest.approx(0.99)
    assert not row.standing.recovery.is_elsewhere
    assert "99.00 %" in client.get("/evaluation").content.decode()


def test_repeats_that_differ_by_two_points_are_unstable(client):
    official(strict=0.97, repeats=[[None, 0.944, 0.95], [None, 0.96, None]])
    official(strict=0.97, concurrency=8, repeats=[[None, 0.955, 0.95]])
    first, second = sorted(rows(client), key=lambda row: row.concurrency, reverse=True)
    assert first.standing.repeats == (0.944, 0.96, 0.97)
    assert (first.standing.is_unstable, second.standing.is_unstable) == (True, False)
    assert client.get("/evaluation").content.decode().count("unstable</span>") == 1


def test_what_was_to_be_evaluated_and_was_not_has_a_row_of_its_own(client):
    sweep = official_sweep(0)
    sweep.run.eval_plan = {
        "source": "jobs",
        "evals": [
            [sweep.config_key.key, sweep.scenario, "TP2", 2, [64]],
            [sweep.config_key.key, sweep.scenario, "TP8", 8, [128]],
        ],
    }
    sweep.run.save()
    of_sweep(sweep, 0.9697)
    assert [(r.deployment, r.outcome) for r in rows(client)] == [
        ("TP2", "pass"),
        ("TP8", "not measured"),
    ]
    (gap,) = rows(client, "?state=not+measured")
    assert (gap.places, gap.judged) == ("128", None)
    assert "the eval jobs of the run" in client.get("/evaluation").content.decode()
    assert [line["state"] for line in table(client)] == ["pass", "not measured"]


def test_run_of_the_link_comes_first_and_marked(client):
    known = official()
    mine = EvalResultFactory()
    query = f"?unofficialRun={mine.run.github_run_id}"
    assert shown(client, query) == [
        (mine.run.github_run_id, True),
        (known.run.github_run_id, False),
    ]
    page = client.get(f"/evaluation{query}").content.decode()
    assert "unofficial</span>" in page
    assert "1 of 1 evals passed" in page


def test_a_link_opens_on_the_model_and_task_of_its_run(client):
    official(config_key=ConfigKeyFactory(key="other", model="dsr1"))
    mine = EvalResultFactory(task="aime")
    query = f"?unofficialRun={mine.run.github_run_id}"
    answer = client.get(f"/evaluation{query}")
    filters = answer.context["filters"]
    assert (filters.model, filters.task) == ("Qwen-3.5-397B-A17B", "aime")
    assert shown(client, query) == [(mine.run.github_run_id, True)]
    assert len(shown(client, f"{query}&model=all")) == 2


def test_official_run_of_the_link_is_listed_once(client):
    known = official()
    assert shown(client, f"?unofficialRun={known.run.github_run_id}") == [
        (known.run.github_run_id, True)
    ]


def test_run_without_scores_says_so(client):
    run = RunFactory()
    page = client.get(f"/evaluation?unofficialRun={run.github_run_id}")
    assert f"Run {run.github_run_id} has no eval score" in page.content.decode()


def test_unknown_run_is_asked_for(client):
    page = client.get("/evaluation?unofficialRun=5,abc").content.decode()
    assert IngestRequest.objects.get().github_run_id == 5
    assert "abc is no run id" in page
    assert client.get("/evaluation?unofficialRun=abc").status_code == 400


def test_filters_narrow_by_what_a_key_is(client):
    official()
    wanted = official(
        config_key=ConfigKeyFactory(
            key="other", model="dsr1", hardware="b200", framework="trt"
        ),
        task="gpqa_diamond_cot_n_shot",
    )
    found = [(wanted.run.github_run_id, False)]
    for query in (
        "model=dsr1",
        "g_model=DeepSeek-R1-0528",
        "task=gpqa_diamond_cot_n_shot",
        "e_bench=GPQA_diamond_cot_n_shot",
        "hardware=b200",
        "framework=trtllm",
        "key=other",
    ):
        assert shown(client, f"?{query}") == found


def test_rows_sort_by_any_column_blanks_last(client):
    for concurrency, strict in ((8, 0.95), (16, None), (32, 0.98)):
        official(concurrency=concurrency, strict=strict)

    def order(sort: str) -> list[int]:
        return [row.concurrency for row in rows(client, f"?sort={sort}")]

    assert order("strict") == [8, 32, 16]
    assert order("-strict") == [32, 8, 16]
    assert order("-concurrency") == [32, 16, 8]
    assert order("state") == [16, 8, 32]
    page = client.get("/evaluation?sort=-strict").content.decode()
    assert 'aria-sort="descending"' in page


def test_official_values_without_a_counterpart_are_said(client):
    official()
    page = client.get("/evaluation?e_bench=nothing&i_metric=y&e_rundate=x")
    assert page.status_code == 200
    for ignored in ("e_bench=nothing", "i_metric=y", "e_rundate=x"):
        assert ignored in page.content.decode()


@pytest.mark.parametrize(
    "query",
    ["model=gpt-9", "task=no", "date=x", "hardware=x", "state=ok", "sort=x", "key=x"],
)
@pytest.mark.parametrize("path", ["/evaluation", "/evaluation.csv"])
def test_unknown_filter_is_refused_by_name(client, path, query):
    answer = client.get(f"{path}?{query}")
    assert answer.status_code == 400
    assert query.partition("=")[0] in answer.content.decode()


def test_empty_page_says_why(client):
    page = client.get("/evaluation").content.decode()
    assert "No official run with an eval score" in page
    official()
    page = client.get("/evaluation?state=fail").content.decode()
    assert "No stored score passes these filters" in page


def test_rows_without_a_score_are_told_instead_of_drawn(client):
    official(strict=None, flexible=0.96, score=None)
    answer = client.get("/evaluation")
    assert answer.context["reason"] == "None of these rows has a score."
    assert "Nothing to draw" in answer.content.decode()


def test_the_chart_is_the_rows(client):
    official()
    mine = EvalResultFactory(concurrency=128)
    answer = client.get(f"/evaluation?unofficialRun={mine.run.github_run_id}")
    figure = answer.context["figure"]
    go.Figure(figure)
    drawn = {point[0] for trace in figure["data"] for point in trace["customdata"]}
    assert drawn == {row.row_id for row in answer.context["rows"]}
    body = answer.content.decode()
    for row_id in drawn:
        assert f'data-point="{row_id}"' in body


def test_hostile_texts_are_inert_on_page_and_in_files(client):
    key = ConfigKeyFactory(key=HOSTILE, model="x<y>", hardware="<i>")
    run = RunFactory(official=True)
    EvalResultFactory(run=run, config_key=key, task="=HYPERLINK(1)", flags=[])
    SweepFactory(
        run=run,
        config_key=key,
        checkpoint=CheckpointFactory(name="@weights<b>"),
        image="+img<b>",
        state="current",
        official_at=START,
    )
    body = client.get("/evaluation").content.decode()
    assert "<script>alert" not in body
    assert "\u202e" not in body
    (line,) = table(client)
    for name in ("task", "checkpoint", "image"):
        assert line[name].startswith("'")


def test_queries_do_not_grow(client, django_assert_max_num_queries):
    mine = RunFactory()
    for concurrency in range(1, 30):
        official(concurrency=concurrency)
        EvalResultFactory(run=mine, concurrency=concurrency)
    with django_assert_max_num_queries(27):
        client.get(f"/evaluation?unofficialRun={mine.github_run_id}")


def test_lists_offer_what_is_official_or_of_the_link(client):
    official(task="gsm8k")
    of_link = EvalResultFactory(task="aime")
    EvalResultFactory(task="unofficial")
    hidden = EvalResultFactory(run=RunFactory(publication="hidden"), task="hidden")

    def tasks(query: str = "") -> list[str]:
        return list(client.get(f"/evaluation{query}").context["form"].shown["task"])

    assert tasks() == ["gsm8k"]
    runs = f"{of_link.run.github_run_id},{hidden.run.github_run_id}"
    assert tasks(f"?unofficialRuns={runs}") == ["aime", "gsm8k"]


def test_rows_lead_to_stored_samples(client):
    result = official()
    assert "/evaluation/samples/" not in client.get("/evaluation").content.decode()
    EvalSampleFactory(eval=result)
    path = f"/evaluation/samples/{result.pk}"
    assert path in client.get("/evaluation").content.decode()
