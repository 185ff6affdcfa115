"""The eval state of each point of the inference page: hover, table and CSV."""

import csv
import io
from typing import Any

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
    with django_assert_num_queries(9):
        client.get("/inference")
