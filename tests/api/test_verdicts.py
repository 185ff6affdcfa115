"""GET /api/v1/runs/<id>/verdict: names, meanings and the ways to fail."""

import json
from typing import Any

import pytest

from tests.api.test_runs import strict
from tests.factories import RunFactory
from tests.pages.key_builders import CURVE, KEY
from tests.verdict_builders import official, unofficial

pytestmark = pytest.mark.django_db


def ask(client, run_id, status=200, **query) -> Any:
    answer = client.get(f"/api/v1/runs/{run_id}/verdict", query)
    assert answer.status_code == status
    return strict(answer)


def refused(client, run_id, status, **query) -> tuple[str, str]:
    fault = ask(client, run_id, status, **query)["error"]
    return fault["parameter"], fault["message"]


def test_a_verdict_has_every_field_of_the_shape(client):
    base = official(0, curve=[*CURVE, (512, 10.0, 2700.0)])
    head = unofficial(3, curve=[*CURVE, (8, 150.0, 500.0)], scale=0.9, planned_count=8)
    body = ask(client, head.run.github_run_id)
    assert (body["run_id"], body["attempt"]) == (head.run.github_run_id, None)
    (verdict,) = body["verdicts"]
    assert body["line"] == verdict["sentence"]
    assert (verdict["config_key"], verdict["scenario"]) == (KEY, "8k/1k")
    assert (verdict["verdict"], verdict["partial"]) == ("regression", "5 of 8")
    assert verdict["baseline"] == {
        "run_id": base.run.github_run_id,
        "attempt": None,
        "publication": "official",
        "repeats": 0,
        "measured_at": "2026-07-01T20:00:00+00:00",
        "official_at": "2026-07-01T20:00:00+00:00",
        "age_days": 3,
        "is_old": False,
    }
    like = verdict["like_for_like"]
    assert like["change"] == pytest.approx(-0.1)
    assert like["low"] < like["change"] < like["high"] < 0
    assert like["pairs"] == 4
    assert verdict["worst_local"]["loss"] == pytest.approx(1 / 0.9 - 1)
    assert verdict["worst_local"]["deployment"] == "TP2"
    assert verdict["coverage"]["lost"] == [["TP2", [512]]]
    assert verdict["coverage"]["gained"] == [["TP2", [8]]]
    assert (verdict["coverage"]["received"], verdict["coverage"]["planned"]) == (5, 8)
    point = next(p for p in verdict["points"] if p["metric"] == "tput_per_gpu")
    assert set(point) >= {"deployment", "concurrency", "base", "head", "z", "flagged"}
    assert point["change"] == pytest.approx(-0.1)
    assert verdict["evals"] == []
    assert [d["kind"] for d in verdict["differences"]] == ["grid"]


def test_ids_are_numbers_and_changes_fractions(client):
    base, head = official(0), unofficial(1, scale=1.2)
    body = ask(client, head.run.github_run_id, base=base.run.github_run_id)
    (verdict,) = body["verdicts"]
    assert isinstance(verdict["baseline"]["run_id"], int)
    assert verdict["like_for_like"]["change"] == pytest.approx(0.2)


def test_a_zero_baseline_is_null_and_strict_json(client):
    base, head = official(0), unofficial(1)
    base.points.filter(concurrency=4).update(tput_per_gpu=0)
    (verdict,) = ask(client, head.run.github_run_id)["verdicts"]
    zero = [p for p in verdict["points"] if p["base"] == 0]
    assert [(p["change"], p["gain"], p["z"]) for p in zero] == [(None, None, None)]


def test_without_a_baseline_the_numbers_are_null(client):
    head = unofficial(1)
    (verdict,) = ask(client, head.run.github_run_id)["verdicts"]
    assert verdict["verdict"] == "no baseline"
    assert (
        verdict["baseline"] is verdict["like_for_like"] is verdict["coverage"] is None
    )
    assert verdict["points"] == []


def test_a_base_that_did_not_measure_the_key_is_said(client):
    official(0)
    base, head = unofficial(1, key="another-key"), unofficial(2)
    run_ids = head.run.github_run_id, base.run.github_run_id
    (verdict,) = ask(client, run_ids[0], base=run_ids[1])["verdicts"]
    assert verdict["verdict"] == "no baseline"
    assert verdict["reason"] == f"run {run_ids[1]} did not measure this key"


def test_a_run_without_points_has_no_verdict(client):
    body = ask(client, RunFactory().github_run_id)
    assert body["verdicts"] == []
    assert body["line"] == "nothing to judge: no usable point"


def test_a_merge_whose_source_is_not_stored_says_where_it_was_measured(client):
    merge = RunFactory(official=True, reuse_source_run_id=4711)
    body = ask(client, merge.github_run_id)
    assert (body["measured_in"], body["line"]) == (4711, "measured in run 4711")


def test_a_hidden_run_is_not_judged(client):
    official(0)
    head = unofficial(1, run_fields={"publication": "hidden"})
    body = ask(client, head.run.github_run_id)
    assert body["verdicts"] == []
    assert "a person took the run out" in body["line"]


def test_unknown_runs_and_attempts_are_404_by_name(client):
    head = unofficial(1)
    run_id = head.run.github_run_id
    assert refused(client, 4711, 404) == ("run_id", "Run 4711 is not stored here.")
    assert refused(client, run_id, 404, base=4711)[0] == "base"
    assert refused(client, run_id, 404, attempt=9) == (
        "attempt",
        f"Run {run_id} has no attempt 9.",
    )


def test_a_hidden_base_is_404(client):
    base = unofficial(0, run_fields={"publication": "hidden"})
    head = unofficial(1)
    parameter, said = refused(
        client, head.run.github_run_id, 404, base=base.run.github_run_id
    )
    assert parameter == "base"
    assert "taken out" in said


def test_a_run_against_itself_is_400(client):
    run_id = unofficial(1).run.github_run_id
    assert refused(client, run_id, 400, base=run_id) == (
        "base",
        f"Run {run_id} is the same run.",
    )


def test_an_attempt_may_be_held_against_the_whole_run(client):
    run_id = unofficial(1).run.github_run_id
    body = ask(client, run_id, base=run_id, attempt=1)
    assert (body["attempt"], len(body["verdicts"])) == (1, 1)


@pytest.mark.parametrize(
    "query",
    [{"base": "abc"}, {"base": "0"}, {"base": 2**63}, {"attempt": -1}, {"attempt": ""}],
)
def test_malformed_parameters_are_4xx_and_named(client, query):
    answer = client.get(
        f"/api/v1/runs/{unofficial(1).run.github_run_id}/verdict", query
    )
    assert answer.status_code == 400
    assert json.loads(answer.content)["error"]["parameter"] == next(iter(query))


def test_the_shape_is_documented(client):
    schema = strict(client.get("/api/v1/openapi.json"))
    answer = schema["paths"]["/api/v1/runs/{run_id}/verdict"]["get"]["responses"]
    assert set(answer) == {"200", "304", "400", "404"}
