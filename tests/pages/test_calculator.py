"""The calculator: the step rule per key, its bars and files, and what it refuses."""

import csv
import io
import json
import re
from datetime import UTC, datetime
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from plotly.graph_objects import Figure

from dashboard.models import HardwarePrice
from tests.factories import GenerationFactory
from tests.pages.builders import add_points, curve, disaggregated, official_sweep, story

pytestmark = pytest.mark.django_db


def rows_of(client, query: str = "") -> dict[tuple[str, str], dict[str, str]]:
    text = client.get(f"/calculator.csv{query}").content.decode()
    rows = csv.DictReader(io.StringIO(text))
    return {(row["config_key"], row["metric"]): row for row in rows}


def figure_of(client, name: str, query: str = "") -> Any:
    page = client.get(f"/calculator{query}").content.decode()
    found = re.search(rf'<script id="{name}-figure"[^>]*>(.*?)</script>', page)
    assert found, f"the page holds no chart of {name}"
    return json.loads(found.group(1))


def test_each_key_has_its_best_point_at_the_target_with_its_source(client):
    sweep = curve("key-a")
    row = rows_of(client, "?at=50")["key-a", "tput_per_gpu"]
    assert (row["value"], row["x_measured"], row["at"]) == ("1800.0", "60.0", "50.0")
    assert row["run_id"] == str(sweep.run.github_run_id)
    assert row["checkpoint"] == "org-a/Model-397B-FP4"
    assert row["measured_at"].startswith("2026-")
    assert (row["deployment"], row["concurrency"]) == ("TP2", "64")


def test_cost_and_energy_are_those_of_the_edition_of_the_day(client):
    curve("key-a")
    rows = rows_of(client, "?at=50&tier=neocloud")
    cost = rows["key-a", "cost_total_neocloud"]
    # 1800 tok/s are 6.48 M tokens an hour.
    assert float(cost["value"]) == pytest.approx(2.09 / 6.48)
    assert cost["terms"] == "2.09 USD per GPU and hour, 2026-08"
    assert cost["unit"] == "$/M tok"
    energy = rows["key-a", "provisioned_joules_per_total_token"]
    assert float(energy["value"]) == pytest.approx(2090 / 1800)
    assert ("key-a", "joules_per_total_token") not in rows


def test_as_of_an_earlier_day_the_edition_of_that_day_counts(client):
    sweep = curve("key-a")
    at = datetime(2026, 7, 1, tzinfo=UTC)
    type(sweep).objects.update(official_at=at, measured_at=at)
    rows = rows_of(client, "?at=50&tier=neocloud&date=2026-07-31")
    assert rows["key-a", "cost_total_neocloud"]["terms"].startswith("1.9 USD")
    HardwarePrice.objects.filter(valid_from__lt="2026-08-01").delete()
    blank = rows_of(client, "?at=50&tier=neocloud&date=2026-07-31")
    assert ("key-a", "cost_total_neocloud") not in blank
    assert blank["key-a", "tput_per_gpu"]["value"] == "1800.0"


def test_the_permalink_keeps_day_and_prices(client, time_machine):
    curve("key-a")
    time_machine.move_to(datetime(2026, 11, 30, 12, tzinfo=UTC))
    link = client.get("/calculator?at=50").context["permalink"]
    assert link.address.endswith("/calculator?at=50&date=2026-11-30")
    assert "with the prices and power of that day" in link.pinned


def test_above_the_highest_measured_point_a_key_is_blank(client):
    curve("key-a")
    add_points(official_sweep("key-b"), [(4, 300.0, 100.0)])
    row = rows_of(client, "?at=200")["key-a", "tput_per_gpu"]
    assert (row["value"], row["run_id"]) == ("", "")
    assert row["why_blank"] == "ends at 180.0 tok/s/user"
    drawn = figure_of(client, "tput_per_gpu", "?at=200")
    assert [trace["meta"]["key"] for trace in drawn["data"]] == ["key-b"]
    page = client.get("/calculator?at=200").content.decode()
    assert "ends at 180.0 tok/s/user" in page
    assert "1 key without a value" in page


def test_bars_stand_best_first_in_each_direction(client):
    curve("key-a")
    add_points(official_sweep("key-b"), [(4, 100.0, 5000.0)])
    add_points(
        official_sweep("key-c", key_fields={"hardware": "b200"}), [(4, 70.0, 1000.0)]
    )
    drawn = figure_of(client, "tput_per_gpu", "?at=50")
    assert [t["meta"]["key"] for t in drawn["data"]] == ["key-b", "key-a", "key-c"]
    assert [t["y"] for t in drawn["data"]] == [[2], [1], [0]]
    costs = figure_of(client, "cost_total_rental", "?at=50&tier=rental")
    values = [t["x"][0] for t in costs["data"]]
    assert values == sorted(values)
    said = costs["layout"]["xaxis"]["title"]["text"]
    assert "prices of 2026-08, rental" in said
    assert Figure(drawn)
    assert Figure(costs)


def test_output_of_a_disaggregated_point_is_over_all_its_gpus(client):
    add_points(
        official_sweep("key-a", key_fields={"hardware": "gb200"}),
        [(64, 50.0, 500.0)],
        deployment=disaggregated(),
        gpus=24,
        prefill_gpus=4,
        decode_gpus=20,
        output_tput_per_gpu=200.0,
        input_tput_per_gpu=2000.0,
    )
    rows = rows_of(client, "?at=50&tokens=output&tier=hyperscaler")
    rate = rows["key-a", "output_tput_per_cluster_gpu"]
    assert float(rate["value"]) == pytest.approx(4000 / 24)
    cost = rows["key-a", "cost_output_hyperscaler"]
    # 24 GPUs at 1.86 $/h are 44.64 $/h for 14.4 M output tokens.
    assert float(cost["value"]) == pytest.approx(44.64 / 14.4)
    page = client.get("/calculator?at=50&tokens=output").content.decode()
    assert "over all GPUs, prefill and decode" in page


def test_prices_of_ones_own_stand_over_an_edition_and_are_said(client):
    curve("key-a")
    query = "?at=50&tier=neocloud&price=mi355x:3.6&kw=mi355x:1.8"
    rows = rows_of(client, query)
    cost = rows["key-a", "cost_total_neocloud"]
    assert float(cost["value"]) == pytest.approx(3.6 / 6.48)
    assert cost["terms"] == "3.6 USD per GPU and hour, as given"
    assert float(
        rows["key-a", "provisioned_joules_per_total_token"]["value"]
    ) == pytest.approx(1)
    page = client.get(f"/calculator{query}").content.decode()
    assert "MI355X 3.6 $/GPU-h as given" in page
    about = json.loads(client.get(f"/calculator.json{query}").content)["about"]
    assert "MI355X 3.6 $/GPU-h as given" in json.dumps(about)


def test_a_placeholder_leaves_the_cost_out_and_keeps_the_throughput(client):
    curve("key-a", key_fields={"hardware": "rtx5090"})
    rows = rows_of(client, "?at=50&tier=hyperscaler")
    assert list(rows) == [("key-a", "tput_per_gpu")]
    curve("key-b")
    cost = rows_of(client, "?at=50")["key-a", "cost_total_hyperscaler"]
    assert cost["value"] == ""
    said = "hyperscaler price of RTX 5090 of 2026-08 is a placeholder"
    assert cost["why_blank"] == said
    assert said in client.get("/calculator?at=50").content.decode()


def test_without_a_target_one_is_taken_that_half_of_the_keys_reach(client):
    curve("key-a")
    answer = client.get("/calculator")
    assert answer.context["shown"].at == 150
    assert 'value="150"' in answer.content.decode()


def test_traces_are_read_at_their_slow_tail(client):
    sweep = official_sweep("key-a", scenario="agentic-traces")
    add_points(sweep, [(4, 90.0, 100.0)], p90_intvty=40.0)
    answer = client.get("/calculator?at=30&scenario=agentic-traces")
    assert answer.context["chosen"].x == "p90_intvty"
    row = rows_of(client, "?at=50&scenario=agentic-traces")["key-a", "tput_per_gpu"]
    assert row["why_blank"] == "ends at 40.00 tok/s/user"


def test_measured_energy_is_read_where_it_was_measured(client):
    sweep = official_sweep("key-a")
    add_points(sweep, [(4, 90.0, 100.0)], extra={"joules_per_total_token": 0.5})
    rows = rows_of(client, "?at=50")
    assert rows["key-a", "joules_per_total_token"]["value"] == "0.5"


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("at=fast", "at: not a number above 0"),
        ("at=-1", "at: not a number above 0"),
        ("x=median_ttft", "x: median_ttft is not known"),
        ("tokens=all", "tokens: all is not known. Allowed: input, output, total."),
        ("tier=mine", "tier: mine is not known."),
        ("price=mi355x", "price: mi355x is not like mi355x:1.85."),
        ("price=tpu9:1", "price: tpu9 is not known. Allowed: gb300"),
        ("price=mi355x:%25s", "price: %s is no price above 0"),
        ("kw=mi355x:0", "kw: 0 is no power above 0"),
        ("model=gpt-9", "model: gpt-9 is not known"),
        ("date=2026-13-01", "date: not a date such as"),
    ],
)
def test_bad_input_is_refused_by_the_name_of_its_parameter(client, query, said):
    curve("key-a")
    answer = client.get(f"/calculator?{query}")
    assert answer.status_code == 400
    assert said in answer.content.decode()
    for ending in ("csv", "json", "md"):
        refused = client.get(f"/calculator.{ending}?{query}")
        assert refused.status_code == 400
        assert said in refused.content.decode()


def test_runs_of_a_link_are_named_as_ignored(client):
    curve("key-a")
    page = client.get("/calculator?unofficialRun=90099").content.decode()
    assert "ignored: unofficialRun=90099" in page


def test_nothing_stored_and_nothing_that_passes_are_said(client):
    assert "is stored yet" in client.get("/calculator").content.decode()
    curve("key-a")
    page = client.get("/calculator?hardware=b200").content.decode()
    assert "passes these filters" in page
    assert rows_of(client, "?hardware=b200") == {}


def test_queries_do_not_grow_with_keys(client):
    GenerationFactory()
    story()
    client.get("/calculator")
    with CaptureQueriesContext(
        connection,
    ) as few:
        client.get("/calculator")
    for number in range(6):
        curve(f"key-{number}")
    with CaptureQueriesContext(connection) as many:
        client.get("/calculator")
    assert len(many) == len(few) <= 8
