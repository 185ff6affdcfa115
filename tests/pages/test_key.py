"""The page of one config key and its files: what they show, refuse and say."""

import csv
import io
import json
import re
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from plotly.graph_objects import Figure

from dashboard.models import ConfigChange, Notice, Regression
from tests.factories import (
    ChangelogEntryFactory,
    ConfigDefinitionFactory,
    ConfigKeyFactory,
    EvalResultFactory,
    NoticeFactory,
    RepositoryFactory,
)
from tests.pages.key_builders import KEY, START, add_sweep, derive, two_swaps

pytestmark = pytest.mark.django_db


def body(client: Client, query: str = "", key: str = KEY) -> str:
    return " ".join(client.get(f"/keys/{key}{query}").content.decode().split())


def figure(client: Client, query: str = "", name: str = "history") -> Any:
    page = client.get(f"/keys/{KEY}{query}").content.decode()
    found = re.search(rf'<script id="{name}-figure"[^>]*>(.*?)</script>', page)
    assert found, f"the page holds no {name} figure"
    return json.loads(found.group(1))


def lines(drawn: Any) -> dict[tuple[str, int | None], list[float]]:
    """Return the values of each line by its series and segment."""
    return {
        (t["meta"]["key"], t["meta"]["segment"]): t["y"]
        for t in drawn["data"]
        if t["meta"]["role"] in {"series", "segment"}
    }


def rows(client: Client, table: str, query: str = "") -> list[dict[str, str]]:
    answer = client.get(f"/keys/{KEY}/{table}.csv{query}")
    assert answer["Content-Type"].startswith("text/csv")
    return list(csv.DictReader(io.StringIO(answer.content.decode())))


def test_history_is_the_best_at_the_targets_one_line_per_segment(client):
    two_swaps()
    found = lines(figure(client, "?at=50&at=200,20"))
    at_50 = "at 50 tok/s/user or more"
    assert found[at_50, 1] == pytest.approx([1800, 1836, 1890])
    assert found[at_50, 2] == pytest.approx([1782, 1800])
    assert len(found[at_50, 3]) == 3
    assert not any("at 200" in series for series, _ in found)


def test_both_checkpoints_of_each_swap_stand_on_the_chart(client):
    two_swaps()
    layout = figure(client)["layout"]
    assert [a["text"] for a in layout["annotations"]] == [
        "swap: Model-FP4<br>\u2192 Model-FP4-V2",
        "swap: org-a/Model-FP4-V2<br>\u2192 org-b/Model-FP4-V2",
    ]
    assert len(layout["shapes"]) == 2


@pytest.mark.parametrize("show", ["best", "area", "point", "evals"])
def test_every_history_is_a_valid_figure_with_the_same_rows(client, show):
    for sweep in two_swaps():
        EvalResultFactory(run=sweep.run, config_key=sweep.config_key)
    assert Figure(figure(client, f"?show={show}"))
    assert len(rows(client, "history", f"?show={show}")) == 9


def test_any_metric_is_drawn_at_a_place(client):
    two_swaps()
    query = "?show=point&metric=median_ttft&deployment=TP4&concurrency=64"
    drawn = figure(client, query)
    assert lines(drawn) == {("TP4 c64", 1): [0.3, 0.3, 0.3]}
    assert drawn["layout"]["yaxis"]["title"]["text"] == "Median time to first token (s)"


def test_evals_have_interval_and_floor(client):
    sweep = add_sweep(0)
    EvalResultFactory(run=sweep.run, config_key=sweep.config_key)
    drawn = figure(client, "?show=evals")
    assert lines(drawn) == {("gsm8k TP2 c64", None): [0.9697]}
    assert drawn["layout"]["shapes"][0]["y0"] == 0.94
    (row,) = rows(client, "evals")
    assert (row["floor"], row["outcome"]) == ("0.94", "pass")
    assert float(row["low"]) == pytest.approx(0.9590, abs=1e-4)


def test_frontier_shows_todays_curve_over_named_ghosts(client):
    two_swaps()
    *ghosts, current = figure(client, name="frontier")["data"]
    assert current["y"] == [2600, 1800, 900, 300]
    assert [g["meta"]["label"] for g in ghosts] == [
        "former sweep, 2026-08-06",
        "before the swap, 2026-07-27",
    ]


def test_held_sweeps_are_said_and_drawn_apart(client):
    two_swaps()
    page = body(client)
    assert "4 of 8 points" in page
    assert "8 sweeps, 1 held" in page
    roles = {t["meta"]["role"] for t in figure(client)["data"]}
    assert roles == {"series", "segment", "held", "marker"}


def test_grid_names_who_dropped_a_band(client):
    sweeps = two_swaps()
    cells = {(r["deployment"], r["concurrency"]): r for r in rows(client, "grid")}
    dropped = cells["TP4", "64"]
    assert dropped["event"] == "dropped"
    assert dropped["event_run_id"] == str(sweeps[3].run.github_run_id)
    assert dropped["tput_per_gpu_tok_s"] == ""
    assert float(cells["TP2", "64"]["change"]) == pytest.approx(1 / 1.12 - 1)
    assert 'dropped</span> <span class="key-cell-note">with the swap' in body(client)


def test_what_changed_is_listed_newest_first(client):
    sweeps = two_swaps()
    ChangelogEntryFactory(run=sweeps[5].run, pr_number=812)
    key = sweeps[0].config_key
    old = {"image": "img:1", "model": "org-a/Model-FP4"}
    for day, entry in ((0, old), (2, {**old, "image": "img:2"})):
        seen = START.replace(day=1 + day)
        ConfigDefinitionFactory(
            config_key=key, entry=entry, first_seen_at=seen, last_seen_at=seen
        )
    ConfigChange.objects.create(
        repository=RepositoryFactory(),
        config_key=KEY,
        kind="runner",
        sha="abcdef1234",
        at=START.replace(month=5),
        before="mi300x",
        after="mi355x",
    )
    items = client.get(f"/keys/{KEY}").context["items"]
    assert [item.kind for item in items] == [
        *("sweep", "sweep", "changelog", "sweep", "sweep"),
        *("config", "config", "imported"),
    ]
    page = body(client)
    assert "<code>img:1</code>" in page
    assert "1 field changed" in page
    assert "mi300x → mi355x" in page
    assert "not like for like" in page


def test_pull_requests_come_from_the_changelog_of_the_run(client):
    sweep = add_sweep(0)
    ChangelogEntryFactory(run=sweep.run, pr_number=812)
    (row,) = rows(client, "history")
    assert row["pr_number"] == "812"
    assert 'href="https://github.com/example/bench/pull/812"' in body(client)


def test_notices_and_regressions_of_the_key_are_shown(client):
    sweep = add_sweep(0)
    for text, model in (("Hosts move racks.", "qwen3.5"), ("Of another.", "dsr1")):
        Notice.objects.create(
            kind="note", text=text, at=START, author="maintainer", model=model
        )
    Regression.objects.create(
        run=sweep.run,
        config_key=sweep.config_key,
        scenario="8k/1k",
        kind="performance",
        change=-0.09,
        summary="three points lost 9 %",
    )
    page = body(client)
    assert "Hosts move racks." in page
    assert "Of another." not in page
    assert "three points lost 9 %" in page
    assert 'href="#regressions-title">1</a>' in page
    assert "-9.0 %" in page


def test_a_notice_is_shown_where_every_scope_agrees(client):
    sweep, other = add_sweep(0), add_sweep(1, key="other")
    key = sweep.config_key
    agreeing: list[dict[str, Any]] = [
        {},
        {"config_key": key},
        {"framework": key.framework, "model": key.model},
        {"run": sweep.run, "config_key": key},
    ]
    odd: list[dict[str, Any]] = [
        {"config_key": other.config_key},
        {"framework": "another"},
        {"run": other.run},
        {"config_key": key, "model": "another"},
    ]
    for number, scope in enumerate([*agreeing, *odd]):
        NoticeFactory(text=f"said {number}.", at=START, **scope)
    shown = [f"said {number}." in body(client) for number in range(8)]
    assert shown == [True] * 4 + [False] * 4


def test_one_sweep_is_a_visible_point_and_says_so(client):
    add_sweep(0)
    (trace, *_rest) = figure(client)["data"]
    assert trace["mode"] == "lines+markers"
    assert len(trace["x"]) == 1
    assert "<strong>One sweep</strong>" in body(client)


def test_without_a_sweep_the_page_says_so_and_shows_the_config(client):
    key = ConfigKeyFactory(key=KEY)
    key.definition = ConfigDefinitionFactory(config_key=key, image="img:configured")
    key.save()
    page = body(client)
    assert page.count("No official sweep of this key is stored yet.") == 3
    assert "img:configured" in page
    assert rows(client, "points") == rows(client, "grid") == []


def test_unofficial_sweeps_are_no_history(client):
    sweep = add_sweep(0)
    sweep.state = None
    sweep.save()
    assert "No official sweep of this key is stored yet." in body(client)


def test_all_held_is_said(client):
    add_sweep(0, state="held")
    assert "Every official sweep of this key is held." in body(client)


def test_targets_out_of_reach_give_the_reason(client):
    add_sweep(0)
    page = body(client, "?at=900")
    assert "No sweep reaches a median interactivity of 900 tok/s/user." in page


def test_scenarios_are_told_apart_and_the_fullest_is_first(client):
    add_sweep(0, scenario="1k/1k", tps=(2, 4))
    add_sweep(1)
    page = client.get(f"/keys/{KEY}")
    assert page.context["view"].scenario == "1k/1k"
    assert len(rows(client, "history", "?scenario=8k/1k")) == 1


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("?scenario=9k/9k", "scenario: 9k/9k is not known. Allowed: 8k/1k."),
        ("?show=all", "show: all is not known. Allowed: best, area, point, evals."),
        ("?at=fast", "at: allowed are numbers above 0, such as 20,50,100."),
        ("?at=-1", "at: allowed are numbers above 0"),
        ("?at=1e999", "at: allowed are numbers above 0"),
        ("?at=1,2,3,4,5,6,7", "at: at most 6 values, not 7."),
        ("?metric=speed", "metric: speed is not known. Allowed: "),
        ("?deployment=TP9", "deployment: TP9 is not known. Allowed: TP2."),
        ("?concurrency=5", "concurrency: 5 is not known. Allowed: 4, 16, 64, 256."),
    ],
)
def test_what_is_not_known_is_refused_by_name(client, query, said):
    add_sweep(0)
    for path in (f"/keys/{KEY}", f"/keys/{KEY}/history.csv"):
        answer = client.get(path + query)
        assert answer.status_code == 400
        assert said in answer.content.decode()


def test_unknown_key_is_404_with_the_nearest(client):
    ConfigKeyFactory(key=KEY)
    answer = client.get("/keys/qwen3.5-fp4-mi355x-sglagn")
    assert answer.status_code == 404
    assert f'href="/keys/{KEY}"' in answer.content.decode()
    assert client.get("/keys/%00").status_code == 404
    assert client.get(f"/keys/{KEY}/secrets.csv").status_code == 404


def test_a_retired_key_shows_what_is_left_of_it(client):
    ChangelogEntryFactory(
        raw_keys=["dsr1-old"], expanded_keys=[], retired_keys=["dsr1-old"]
    )
    page = body(client, key="dsr1-old")
    assert "retired" in page
    assert "Bump the image" in page


@pytest.mark.parametrize(
    "key", ["a.b-c.csv", "a/b", "a b?c#d&e=f", "a\nb", "unmapped-x"]
)
def test_keys_are_opaque_text(client, key):
    stored = ConfigKeyFactory(key=key)
    answer = client.get(stored.get_absolute_url())
    assert answer.status_code == 200
    assert answer.context["key"] == stored


def queries(client: Client, path: str) -> int:
    with CaptureQueriesContext(connection) as seen:
        assert client.get(path).status_code == 200
    return len(seen)


def test_query_count_does_not_grow_with_the_history(client):
    two_swaps()
    few = queries(client, f"/keys/{KEY}")
    for day in range(50, 62):
        add_sweep(day, image=f"img:{day}", checkpoint=f"org/{day % 3}")
    derive()
    assert queries(client, f"/keys/{KEY}") == few


def test_a_merge_is_shown_at_its_date_with_the_run_that_measured(client):
    sweep = add_sweep(0)
    sweep.official_at = START.replace(month=9)
    sweep.save()
    (row,) = rows(client, "history")
    assert row["official_at"].startswith("2026-09-01")
    assert row["run_id"] == str(sweep.run.github_run_id)


def test_unsteady_repeats_are_marked_in_the_history_of_evals(client):
    sweep = add_sweep(0)
    derive()
    EvalResultFactory(
        run=sweep.run,
        config_key=sweep.config_key,
        strict=0.97,
        repeats=[[None, 0.94, 0.93]],
    )
    answer = client.get(f"/keys/{sweep.config_key.key}?show=evals")
    body = answer.content.decode()
    names = {trace["name"] for trace in answer.context["history"]["data"]}
    assert "gsm8k TP2 c64, unstable" in names
    assert "+3.00 pp" in body
    assert body.count("unstable</span>") >= 1
    lines = client.get(f"/keys/{sweep.config_key.key}/evals.csv").content.decode()
    (row,) = csv.DictReader(io.StringIO(lines))
    assert row["unstable"] == "True"


def test_a_history_of_costs_is_made_with_the_prices_of_today(client):
    two_swaps()
    query = "?show=point&metric=cost_total_neocloud&deployment=TP4&concurrency=64"
    drawn = figure(client, query)
    said = drawn["layout"]["yaxis"]["title"]["text"]
    assert said.endswith("($/M tok); prices of 2026-08, neocloud")
    measured = [
        y
        for ys in lines(
            figure(client, query.replace("cost_total_neocloud", "tput_per_gpu"))
        ).values()
        for y in ys
    ]
    costs = [y for ys in lines(drawn).values() for y in ys]
    assert costs == pytest.approx([2.09 / (y * 0.0036) for y in measured])
