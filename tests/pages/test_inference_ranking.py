"""Ranking, table and files of the inference page."""

import csv
import io
import re
from datetime import timedelta

import plotly.io
import pytest
import time_machine

from tests.factories import CheckpointFactory
from tests.pages.builders import add_points, curve, official_sweep, story

pytestmark = pytest.mark.django_db


def rivals():
    fast = official_sweep("fast", checkpoint=CheckpointFactory(name="org/Fast-FP4"))
    add_points(fast, [(4, 230.0, 120.0), (16, 90.0, 600.0), (64, 40.0, 1100.0)])
    dense = official_sweep("dense")
    add_points(dense, [(8, 60.0, 700.0), (64, 20.0, 1500.0)])
    slow = official_sweep("slow")
    add_points(slow, [(256, 30.0, 2000.0)])
    return fast, dense, slow


def test_keys_are_ranked_by_their_best_value_at_the_cursor(client):
    rivals()
    context = client.get("/inference?at=50").context
    ranked = [
        (row.place, row.entry.curve.config_key, row.value) for row in context["ranked"]
    ]
    assert ranked == [(1, "dense", 700), (2, "fast", 600)]
    assert [(u.entry.curve.config_key, u.x) for u in context["unreached"]] == [
        ("slow", 30)
    ]


def test_the_ranking_says_point_date_checkpoint_and_run(client):
    fast, *_ = rivals()
    page = client.get("/inference?at=200").content.decode()
    ranking = page[page.index('id="ranking"') : page.index("data-figure")]
    for expected in (
        "fast",
        "120",
        "TP2, c4",
        f"{fast.measured_at:%Y-%m-%d}",
        "Fast-FP4",
        fast.run.get_absolute_url(),
        "Cannot reach 200 tok/s/user",
        "ends at 60.00",
    ):
        assert expected in ranking


def test_hidden_keys_are_not_ranked(client):
    rivals()
    context = client.get("/inference?at=50&hide=dense").context
    assert [row.entry.curve.config_key for row in context["ranked"]] == ["fast"]
    assert "dense" in [e.curve.config_key for e in context["legend"]]


def test_where_lower_is_better_on_both_axes_the_rule_turns(client):
    one = official_sweep("one")
    add_points(one, [(4, 100.0, 300.0)], median_ttft=0.2, median_e2el=9.0)
    add_points(one, [(64, 50.0, 900.0)], median_ttft=0.9, median_e2el=4.0)
    for at, expected in (("0.5", [9.0]), ("2", [4.0]), ("0.1", [])):
        query = f"/inference?x=median_ttft&y=median_e2el&at={at}"
        assert [row.value for row in client.get(query).context["ranked"]] == expected


def test_nobody_reaching_is_said(client):
    rivals()
    page = client.get("/inference?at=5000").content.decode()
    assert "No visible key reaches 5000 tok/s/user." in page


def test_old_partial_and_synthetic_lines_are_marked(client):
    measured = story()["sglang"].measured_at
    with time_machine.travel(measured + timedelta(days=45, hours=1), tick=False):
        page = client.get("/inference?at=10").content.decode()
    assert "45 days old" in page
    assert "acceptance: synthetic 3.39 (golden)" in page
    assert "newer one held" in page


def test_a_young_line_is_not_called_old(client):
    measured = curve().measured_at
    with time_machine.travel(measured + timedelta(days=30), tick=False):
        assert "days old" not in client.get("/inference").content.decode()
    day = f"{measured + timedelta(days=40):%Y-%m-%d}"
    assert "40 days old" in client.get(f"/inference?date={day}").content.decode()


@pytest.mark.parametrize(
    ("sort", "values"),
    [
        ("concurrency", [4, 8, 64]),
        ("-concurrency", [64, 8, 4]),
        ("median_ttft", [8, 4, 64]),
        ("-median_ttft", [4, 8, 64]),
    ],
)
def test_the_table_sorts_by_any_column_with_blanks_last(client, sort, values):
    sweep = official_sweep()
    add_points(sweep, [(4, 100.0, 300.0)], median_ttft=0.5)
    add_points(sweep, [(64, 50.0, 900.0)], median_ttft=None)
    add_points(sweep, [(8, 90.0, 400.0)], median_ttft=0.1)
    answer = client.get(f"/inference?sort={sort}")
    assert [row.point["concurrency"] for row in answer.context["rows"]] == values
    order = "descending" if sort.startswith("-") else "ascending"
    assert f'aria-sort="{order}"' in answer.content.decode()
    text = client.get(f"/inference.csv?sort={sort}").content.decode()
    rows = csv.DictReader(io.StringIO(text))
    assert [int(row["concurrency"]) for row in rows] == values


def test_every_header_sorts_and_every_anchor_of_the_help_page_exists(client):
    story()
    answer = client.get("/inference")
    help_page = client.get("/help").content.decode()
    for column in answer.context["columns"]:
        assert client.get(f"/inference?{column.query}").status_code == 200
    for anchor in set(re.findall(r'href="/help#([^"]+)"', answer.content.decode())):
        assert f'id="{anchor}"' in help_page, anchor


def test_the_figure_is_read_by_plotly_as_it_comes(client):
    story()
    answer = client.get("/inference.json?at=50&ghost=1&logx=1&zoom=10,100,1,5000")
    assert answer["Content-Type"] == "application/json"
    figure = plotly.io.from_json(answer.content.decode())
    assert figure.layout.title.text.startswith("Qwen-3.5-397B-A17B 8k/1k: total")
    assert "Source: Frontierboard, http" in figure.layout.annotations[0].text
    names = [trace.name for trace in figure.data if trace.showlegend]
    assert all(re.search(r"\(2026-08-\d\d, run \d+", name) for name in names)


def test_the_html_file_says_title_date_runs_and_source(client):
    sweeps = story()
    answer = client.get("/inference.html?hide=qwen3.5-fp4-b200-trt-mtp")
    assert (
        'filename="frontiers-Qwen-3.5-397B-A17B-8k_1k.html"'
        in (answer["Content-Disposition"])
    )
    page = answer.content.decode()
    assert "<title>Qwen-3.5-397B-A17B 8k/1k: total throughput" in page
    for expected in (
        "official sweeps as of 20",
        str(sweeps["sglang"].run.github_run_id),
        "Source: Frontierboard",
    ):
        assert expected in page
    assert "trt-mtp (" not in page


def test_files_of_nothing_say_why(client):
    curve()
    for suffix in ("json", "html"):
        empty = client.get(f"/inference.{suffix}?y=joules_per_output_token")
        assert (empty.status_code, empty["Content-Type"]) == (404, "text/plain")
        assert b"None of the 4 points" in empty.content
        none = client.get(f"/inference.{suffix}?precision=bf16")
        assert none.status_code == 404


def test_axes_offer_only_what_is_measured(client):
    sweep = official_sweep()
    add_points(sweep, [(4, 10.0, 100.0)], extra={"p99.9_ttft": 1.5})
    offered = {
        option.value
        for _, options in client.get("/inference").context["axes"]["x"]
        for option in options
    }
    assert {"median_intvty", "p90_ttft", "p99.9_ttft"} <= offered
    assert offered.isdisjoint({"p99_itl", "joules_per_output_token"})


def test_queries_stay_few_whatever_is_asked(client, django_assert_num_queries):
    story()
    for n in range(20):
        add_points(official_sweep(f"key-{n}"))
    for query, count in (
        ("", 7),
        ("?at=50&sort=-median_ttft&logx=1&vendor=AMD", 7),
        ("?ghost=1", 7),
        ("?date=2027-08-01", 7),
    ):
        with django_assert_num_queries(count):
            client.get(f"/inference{query}")
