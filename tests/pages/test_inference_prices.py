"""Costs, energy and rates per MW on the inference page: axis, table, files."""

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

from dashboard.models import Generation, HardwarePrice
from dashboard.vocabulary.metrics import PRICED
from tests.factories import GenerationFactory
from tests.pages.builders import add_points, curve, disaggregated, official_sweep

pytestmark = pytest.mark.django_db


def figure_of(client, query: str) -> Any:
    page = client.get(f"/inference{query}").content.decode()
    found = re.search(
        r'<script id="frontier-figure"[^>]*>(.*?)</script>', page, re.DOTALL
    )
    assert found, "the page holds no figure"
    return json.loads(found.group(1))


def y_title(figure: Any) -> str:
    return str(figure["layout"]["yaxis"]["title"]["text"])


def rows_of(client, query: str) -> list[dict[str, str]]:
    text = client.get(f"/inference.csv{query}").content.decode()
    return list(csv.DictReader(io.StringIO(text)))


def test_a_frontier_of_costs_goes_down_and_says_whose_prices(client):
    curve("key-a")
    figure = figure_of(client, "?y=cost_total_neocloud")
    (trace,) = figure["data"]
    expected = [2.09 / (tput * 0.0036) for tput in (2600, 1800, 900, 300)]
    assert trace["y"] == pytest.approx(expected)
    assert y_title(figure).startswith("Neocloud cost per total token ($/M tok)<br>")
    assert "prices of 2026-08, neocloud" in y_title(figure)
    page = client.get("/inference?y=cost_total_neocloud").content.decode()
    assert "Better is" in page
    assert "Neocloud cost per total token: prices of 2026-08, neocloud" in page
    assert Figure(figure)


@pytest.mark.parametrize("name", sorted(PRICED))
def test_every_priced_metric_can_be_drawn(client, name):
    curve("key-a")
    answer = client.get(f"/inference?y={name}&price=mi355x:2&kw=mi355x:2")
    assert answer.status_code == 200
    assert answer.context["figure"]["data"]
    assert f"{name}_terms" in rows_of(client, f"?y={name}")[0]


def test_the_edition_is_that_of_the_day_shown(client):
    sweep = curve("key-a")
    at = datetime(2026, 7, 1, tzinfo=UTC)
    type(sweep).objects.update(official_at=at, measured_at=at)
    april = figure_of(client, "?y=cost_total_neocloud&date=2026-07-31")
    assert "prices of 2026-04, neocloud" in y_title(april)
    august = figure_of(client, "?y=cost_total_neocloud&date=2026-08-01")
    assert "prices of 2026-08, neocloud" in y_title(august)


def test_a_permalink_of_costs_keeps_the_prices_that_are_shown(client):
    sweep = curve("key-a")
    at = datetime(2026, 7, 1, tzinfo=UTC)
    type(sweep).objects.update(official_at=at, measured_at=at)
    shown = client.get("/inference?y=cost_total_neocloud")
    query = shown.context["permalink"].address.partition("?")[2]
    linked = figure_of(client, f"?{query}")
    assert "prices of 2026-08, neocloud" in y_title(linked)
    assert linked["data"][0]["y"] == shown.context["figure"]["data"][0]["y"]


def test_a_new_row_of_staff_counts_at_once(client):
    curve("key-a")
    HardwarePrice.objects.create(
        hardware="mi355x",
        valid_from="2026-09-15",
        neocloud=1.0,
        source="a contract",
        author="ada",
    )
    figure = figure_of(client, "?y=cost_total_neocloud")
    assert "prices of 2026-09-15, neocloud" in y_title(figure)
    assert figure["data"][0]["y"][0] == pytest.approx(1 / (2600 * 0.0036))


def test_a_readers_price_is_in_axis_table_file_and_form(client):
    curve("key-a")
    query = "?y=cost_output_rental&price=mi355x:1.85"
    assert "MI355X 1.85 $/GPU-h as given" in y_title(figure_of(client, query))
    for row in rows_of(client, query):
        assert row["cost_output_rental_terms"] == (
            "1.85 USD per GPU and hour, as given"
        )
        value = float(row["cost_output_rental_usd_per_m_tok"])
        assert value == pytest.approx(1.85 / (1578.4 * 0.0036))
    page = client.get(f"/inference{query}").content.decode()
    assert 'name="price" maxlength="400" placeholder="mi355x:1.85, b200:2"' in page
    assert 'value="mi355x:1.85"' in page
    html = client.get(f"/inference.html{query}").content.decode()
    # Slashes are escaped in it.
    assert "MI355X 1.85 $" in html


def test_a_placeholder_is_drawn_nowhere_and_named(client):
    curve("key-a", key_fields={"hardware": "rtx5090"})
    curve("key-b")
    query = "?y=cost_total_hyperscaler"
    figure = figure_of(client, query)
    assert {trace["meta"]["key"] for trace in figure["data"]} == {"key-b"}
    said = "hyperscaler price of RTX 5090 of 2026-08 is a placeholder"
    assert said in client.get(f"/inference{query}").content.decode()
    blank = [row for row in rows_of(client, query) if row["config_key"] == "key-a"]
    assert {row["cost_total_hyperscaler_usd_per_m_tok"] for row in blank} == {""}
    assert {row["cost_total_hyperscaler_terms"] for row in blank} == {said}
    assert {row["standing"] for row in blank} == {"unplaced"}


def test_which_gpus_divide_stands_at_the_axis_of_disaggregated_points(client):
    curve("key-a")
    add_points(
        official_sweep("key-b", key_fields={"hardware": "gb200"}),
        [(64, 50.0, 500.0)],
        deployment=disaggregated(),
        gpus=24,
        prefill_gpus=4,
        decode_gpus=20,
        output_tput_per_gpu=200.0,
        input_tput_per_gpu=2000.0,
    )
    assert "over all GPUs, prefill and decode" in y_title(figure_of(client, ""))
    per_role = y_title(figure_of(client, "?y=output_tput_per_gpu"))
    assert "disaggregated points: per decode GPU" in per_role
    single = y_title(figure_of(client, "?y=output_tput_per_gpu&key=key-a"))
    assert "decode" not in single
    rows = rows_of(client, "?y=cost_output_hyperscaler&key=key-b")
    cost = float(rows[0]["cost_output_hyperscaler_usd_per_m_tok"])
    assert cost == pytest.approx(24 * 1.86 / 14.4)


def test_a_deviation_has_no_interactivity_and_a_zero_tpot_keeps_its_throughput(client):
    sweep = official_sweep("key-a")
    add_points(sweep, [(4, 90.0, 100.0)], extra={"std_tpot": 0.001})
    sweep.points.update(more_metrics={"std_intvty": 1000})
    add_points(sweep, [(1, None, 50.0)], extra={"median_tpot": 0.0})
    page = client.get("/inference").content.decode()
    assert "std_intvty" not in page
    assert client.get("/inference?y=std_intvty").status_code == 400
    rows = {row["concurrency"]: row for row in rows_of(client, "?y=cost_total_rental")}
    assert all("std_intvty" not in name for name in rows["1"])
    assert rows["1"]["median_intvty_tok_s_user"] == ""
    assert rows["1"]["tput_per_gpu_tok_s"] == "50.0"
    assert float(rows["1"]["cost_total_rental_usd_per_m_tok"]) == pytest.approx(
        2.10 / (50 * 0.0036)
    )
    assert rows["1"]["standing"] == "unplaced"


def test_headers_name_the_unit_and_a_missing_value_is_blank(client):
    add_points(official_sweep("key-a"), [(4, 90.0, 100.0)])
    (row,) = rows_of(client, "?y=p99_ttft")
    assert (row["median_ttft_s"], row["p99_ttft_s"]) == ("0.3", "")
    (row,) = rows_of(client, "?y=watt_hours_per_successful_query")
    assert row["watt_hours_per_successful_query"] == ""


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("price=mi355x", "price: mi355x is not like mi355x:1.85."),
        ("price=tpu9:1", "price: tpu9 is not known. Allowed: gb300, gb200,"),
        ("price=mi355x:0", "price: 0 is no price above 0"),
        ("price=mi355x:1,mi355x:2", "price: mi355x is given twice."),
        ("kw=mi355x:-2", "kw: -2 is no power above 0"),
        ("kw=mi355x:inf", "kw: inf is no power above 0"),
        ("kw=%25(x)s:1", "kw: %(x)s is not known"),
        ("y=cost", "y: cost is not known. Allowed:"),
    ],
)
def test_what_is_no_price_is_refused_by_the_name_of_its_parameter(client, query, said):
    curve("key-a")
    answer = client.get(f"/inference?{query}")
    assert answer.status_code == 400
    assert said in answer.content.decode()
    assert client.get(f"/inference.csv?{query}").status_code == 400


def test_a_price_takes_one_more_query_whatever_the_number_of_keys(client):
    GenerationFactory()
    curve("key-a")
    counts = []
    for query in ("", "?y=cost_total_neocloud", "?y=cost_total_neocloud"):
        client.get(f"/inference{query}")
        with CaptureQueriesContext(connection) as asked:
            client.get(f"/inference{query}")
        counts.append(len(asked))
        if len(counts) == 2:
            for number in range(4):
                curve(f"key-{number}")
    assert counts[1:] == [counts[0] + 1] * 2


def test_staff_add_a_row_with_their_name_and_pages_follow(admin_client):
    GenerationFactory()
    before = Generation.objects.get().number
    fields = {
        "hardware": "rtx5090",
        "valid_from": "2026-10-01",
        "power_kw": "0.9",
        "placeholders": ["hyperscaler"],
        "hyperscaler": "9.99",
        "source": "measured at the wall",
    }
    path = "/admin/dashboard/hardwareprice/add/"
    answer = admin_client.post(path, fields)
    assert answer.status_code == 302, answer.context["errors"]
    row = HardwarePrice.objects.get(valid_from="2026-10-01")
    assert (row.author, row.power_kw, row.neocloud) == ("admin", 0.9, None)
    assert row.placeholders == ["hyperscaler"]
    assert Generation.objects.get().number == before + 1
    for bad in ({"power_kw": "0"}, {"source": "  "}, {"hardware": "tpu9"}):
        refused = admin_client.post(path, {**fields, "valid_from": "2026-11-01", **bad})
        assert refused.status_code == 200
        assert refused.context["errors"]
    admin_client.post(
        f"/admin/dashboard/hardwareprice/{row.pk}/delete/", {"post": "yes"}
    )
    assert not HardwarePrice.objects.filter(pk=row.pk).exists()
    assert Generation.objects.get().number == before + 2


def test_both_published_editions_are_stored_with_their_values():
    of = {
        (row.hardware, f"{row.valid_from:%Y-%m}"): row
        for row in HardwarePrice.objects.all()
    }
    assert len(of) == 20
    mi355x, older = of["mi355x", "2026-08"], of["mi355x", "2026-04"]
    assert (mi355x.hyperscaler, mi355x.neocloud, mi355x.rental) == (1.50, 2.09, 2.10)
    assert (mi355x.power_kw, older.power_kw) == (2.09, 2.65)
    assert of["b300", "2026-04"].note.startswith("temporary")
    assert of["rtx5090", "2026-08"].placeholders == ["hyperscaler", "power_kw"]
    assert ("rtx5090", "2026-04") not in of
