"""The eval state of each point of the inference page: hover, table and CSV."""

import csv
import io
from typing import Any

import plotly.graph_objects as go
import pytest
from django.test import Client

from tests.factories import DeploymentFactory, EvalResultFactory
from tests.pages.builders import TRADE_OFF, add_points, curve, official_sweep

pytestmark = pytest.mark.django_db


def evals_of(client: Client) -> dict[str, str]:
    text = client.get("/inference.csv").content.decode()
    return {r["concurrency"]: r["eval"] for r in csv.DictReader(io.StringIO(text))}


def add_eval(sweep: Any, deployment: Any, **given: Any) -> None:
    usual = {"run": sweep.run, "config_key": sweep.config_key, "deployment": deployment}
    EvalResultFactory(**{**usual, "scenario": sweep.scenario, **given})


def test_each_point_says_what_its_evals_say(client):
    sweep = official_sweep()
    points = {point.concurrency: point for point in add_points(sweep, TRADE_OFF)}
    where = points[4].deployment
    low = {"strict": 0.5, "flexible": 0.5}
    add_eval(sweep, where, concurrency=4)
    add_eval(sweep, where, concurrency=16)
    add_eval(sweep, where, concurrency=16, task="gpqa_diamond_cot_n_shot", flexible=0.1)
    add_eval(sweep, where, concurrency=64, n=100)
    add_eval(sweep, where, concurrency=256, is_current=False, **low)
    add_eval(curve("other"), where, concurrency=256, **low)
    states = {"4": "pass", "16": "fail", "64": "too few questions"}
    found = [r.point for r in client.get("/inference").context["rows"]]
    own = {
        str(p["concurrency"]): p["eval"]
        for p in found
        if p["run_id"] == sweep.run.github_run_id
    }
    assert own == {**states, "256": "not measured"}
    page = client.get("/inference?sort=eval")
    assert "too few questions" in page.content.decode()
    data = [t for t in page.context["figure"]["data"] if t["meta"]["key"] != "other"]
    hovered = {str(row[2]): row[7] for trace in data for row in trace["customdata"]}
    assert hovered == own
    assert "eval: %{customdata[7]}" in data[0]["hovertemplate"]


def test_an_eval_of_another_expert_size_belongs_to_the_only_such_point(client):
    sweep = official_sweep()
    ep2 = DeploymentFactory(tp=4, ep=2)
    add_points(sweep, TRADE_OFF[:2], deployment=ep2)
    ep1 = DeploymentFactory(tp=4, ep=1)
    add_eval(sweep, ep1, concurrency=4)
    add_eval(sweep, ep1, concurrency=16)
    add_points(sweep, [(16, 119.0, 899.0)], deployment=DeploymentFactory(tp=4, ep=4))
    rows = client.get("/inference").context["rows"]
    states = sorted((r.point["concurrency"], r.point["eval"]) for r in rows)
    assert states == [(4, "pass"), (16, "not measured"), (16, "not measured")]


@pytest.mark.parametrize("keys", [1, 6])
def test_evals_and_their_floors_are_read_in_two_queries(
    client, django_assert_num_queries, keys
):
    for number in range(keys):
        sweep = official_sweep(f"key-{number}")
        for point in add_points(sweep):
            add_eval(sweep, point.deployment, concurrency=point.concurrency)
    with django_assert_num_queries(8):
        client.get("/inference")


def concurrencies(answer: Any) -> list[int]:
    return sorted(r.point["concurrency"] for r in answer.context["rows"])


def test_the_gate_leaves_out_what_did_not_pass_and_says_its_rule(client):
    sweep = official_sweep()
    where = add_points(sweep, TRADE_OFF)[0].deployment
    tp4 = DeploymentFactory(tp=4)
    add_points(sweep, [(8, 150.0, 500.0)], deployment=tp4)
    add_eval(sweep, where, concurrency=64)
    add_eval(sweep, tp4, concurrency=8, strict=0.5, flexible=0.5)
    curve("without-evals")
    query = "/inference?key=qwen3.5-fp4-mi355x-sglang"
    assert concurrencies(client.get(query)) == [4, 8, 16, 64, 256]
    gated = client.get("/inference?gate=1")
    assert concurrencies(gated) == [4, 16, 64, 256]
    body = gated.content.decode()
    assert "eval-gated" in body
    assert "A point without an eval is not passed." in body
    assert "without-evals" not in [
        t["meta"]["key"] for t in gated.context["figure"]["data"]
    ]
    rows = client.get("/inference.csv?gate=1").content.decode()
    assert len(rows.splitlines()) == 5


def test_a_gate_that_nothing_passes_says_why(client):
    curve()
    body = client.get("/inference?gate=1").content.decode()
    assert "No point passes the gate of evals." in body
    body = client.get("/keys/qwen3.5-fp4-mi355x-sglang?gate=1").content.decode()
    assert "No point passes the gate of evals." in body
    assert client.get("/inference?gate=x").status_code == 400


def test_markers_say_what_the_evals_say(client):
    sweep = official_sweep()
    where = add_points(sweep, TRADE_OFF)[0].deployment
    for concurrency, strict in ((4, 0.5), (16, 0.935), (64, 0.97)):
        add_eval(sweep, where, concurrency=concurrency, strict=strict, flexible=strict)
    (trace,) = client.get("/inference").context["figure"]["data"]
    symbols = dict(
        zip((r[2] for r in trace["customdata"]), trace["marker"]["symbol"], strict=True)
    )
    assert symbols == {
        4: "circle-open",
        16: "circle-open-dot",
        64: "circle-dot",
        256: "circle",
    }
    go.Figure(client.get("/inference").context["figure"])
    line = trace["marker"]["line"]
    outlines = zip(trace["marker"]["symbol"], line["width"], strict=True)
    assert dict(outlines) == {
        "circle-open": 2,
        "circle-open-dot": 2,
        "circle-dot": 1,
        "circle": 0,
    }


def test_the_key_page_has_the_same_gate(client):
    sweep = official_sweep()
    where = add_points(sweep, TRADE_OFF)[0].deployment
    add_points(sweep, [(8, 150.0, 500.0)], deployment=DeploymentFactory(tp=4))
    add_eval(sweep, where, concurrency=64)
    add_eval(sweep, DeploymentFactory(tp=4), concurrency=8, strict=0.5, flexible=0.5)
    page = f"/keys/{sweep.config_key.key}"
    assert concurrencies(client.get(page)) == [4, 8, 16, 64, 256]
    gated = client.get(f"{page}?gate=1")
    assert concurrencies(gated) == [4, 16, 64, 256]
    assert "A point without an eval is not passed." in gated.content.decode()
