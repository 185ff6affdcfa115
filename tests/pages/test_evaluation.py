"""The evaluation page: which scores it lists, in which order, and what it ignores."""

from datetime import timedelta

import pytest

from dashboard.models import IngestRequest
from tests.factories import (
    START,
    ConfigKeyFactory,
    EvalResultFactory,
    RunFactory,
    SweepFactory,
)

pytestmark = pytest.mark.django_db


def shown(client, query: str = "") -> list[tuple[int, bool]]:
    rows = client.get(f"/evaluation{query}").context["rows"]
    return [(item.result.run.github_run_id, state is not None) for item, state in rows]


def official(**given):
    return EvalResultFactory(run=RunFactory(official=True), **given)


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


def test_model_and_task_filter(client):
    official()
    wanted = official(
        config_key=ConfigKeyFactory(key="other", model="dsr1"),
        task="gpqa_diamond_cot_n_shot",
    )
    found = [(wanted.run.github_run_id, False)]
    assert shown(client, "?model=dsr1") == found
    assert shown(client, "?g_model=DeepSeek-R1-0528") == found
    assert shown(client, "?task=gpqa_diamond_cot_n_shot") == found
    assert shown(client, "?e_bench=GPQA_diamond_cot_n_shot") == found


def test_official_values_without_a_counterpart_are_said(client):
    official()
    page = client.get("/evaluation?e_bench=nothing&i_metric=y&e_rundate=x")
    assert page.status_code == 200
    for ignored in ("e_bench=nothing", "i_metric=y", "e_rundate=x"):
        assert ignored in page.content.decode()


@pytest.mark.parametrize("query", ["model=gpt-9", "task=no", "date=x"])
def test_unknown_filter_is_refused_by_name(client, query):
    answer = client.get(f"/evaluation?{query}")
    assert answer.status_code == 400
    assert query.partition("=")[0] in answer.content.decode()


def test_empty_page_says_why(client):
    assert (
        "No official run with an eval score"
        in client.get("/evaluation").content.decode()
    )


def test_queries_do_not_grow(client, django_assert_max_num_queries):
    mine = RunFactory()
    for concurrency in range(1, 30):
        official(concurrency=concurrency)
        EvalResultFactory(run=mine, concurrency=concurrency)
    with django_assert_max_num_queries(18):
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
