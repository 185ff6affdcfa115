"""The frontier figure: valid, escaped, and a reason where there is none."""

from typing import Any

import pandas as pd
from plotly.graph_objects import Figure

from dashboard.analysis.curves import Curve
from dashboard.charts.frontier import MOST_POINTS, frontier_figure
from tests.analysis.test_curves import START, sweep

X, Y = "median_intvty", "tput_per_gpu"


def frame(*rows: dict[str, Any]) -> pd.DataFrame:
    usual = {
        "config_key": "a",
        "deployment": "TP2",
        "concurrency": 64,
        "run_id": 90001,
        "measured_at": START,
        "image": "img:1",
        "flags": [],
        "standing": "frontier",
        X: 50.0,
        Y: 1000.0,
    }
    return pd.DataFrame([{"point_id": n, **usual, **row} for n, row in enumerate(rows)])


def figure(*rows: dict[str, Any], key: str = "a") -> Any:
    return frontier_figure(frame(*rows), [Curve(sweep(1, config_key=key))], X, Y)


def test_figure_is_valid_and_has_units_on_both_axes():
    drawn = Figure(figure({}, {"standing": "dominated", X: 40.0}))
    assert len(drawn.data) == 2
    assert drawn.layout.xaxis.title.text == "Median interactivity (tok/s/user)"
    assert drawn.layout.yaxis.title.text == "Total throughput per GPU (tok/s/GPU)"


def test_the_frontier_lies_on_top_and_runs_from_left_to_right():
    drawn = figure({X: 90.0}, {X: 10.0}, {"standing": "out"}, {"standing": "dominated"})
    roles = [trace["meta"]["role"] for trace in drawn["data"]]
    assert roles[-1] == "frontier"
    assert drawn["data"][-1]["x"] == [10, 90]


def test_only_the_frontier_has_a_line_and_dominated_points_are_faint():
    drawn = figure({}, {"standing": "dominated"}, {"standing": "out"})
    by_role = {trace["meta"]["role"]: trace for trace in drawn["data"]}
    assert by_role["frontier"]["mode"] == "lines+markers"
    assert by_role["dominated"]["marker"]["opacity"] == 0.35
    assert "line" not in by_role["dominated"]
    assert by_role["out"]["marker"]["symbol"] != by_role["frontier"]["marker"]["symbol"]


def test_text_cannot_become_markup_nor_a_template():
    row = {"config_key": "%{x}<a>", "image": "<a href='x'>", "flags": [["c", "<i>"]]}
    drawn = figure(row, key="%{x}<a>")
    (trace,) = drawn["data"]
    assert "<a" not in trace["hovertemplate"]
    assert not trace["hovertemplate"].startswith("%{x}")
    assert "&lt;a" in trace["customdata"][0][5]
    assert trace["customdata"][0][6] == "<br>&lt;i&gt;"


def test_points_without_both_values_are_not_drawn():
    drawn = figure({}, {X: None, "standing": "unplaced"})
    assert [len(trace["x"]) for trace in drawn["data"]] == [1]


def test_nothing_to_draw_gives_the_reason():
    reason = figure({X: None, "standing": "unplaced"})
    assert reason == (
        "None of the 1 points of these sweeps has both median interactivity "
        "and total throughput per GPU."
    )


def test_above_the_limit_dominated_points_are_left_to_the_table():
    rows = [{"standing": "dominated"}] * MOST_POINTS
    drawn = figure({}, *rows)
    assert [trace["meta"]["role"] for trace in drawn["data"]] == ["frontier"]
