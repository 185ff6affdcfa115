"""The frontier figure: valid, escaped, and a reason where there is none."""

from typing import Any

import pandas as pd
import pytest
from plotly.graph_objects import Figure

from dashboard.analysis.curves import Curve
from dashboard.analysis.lineage import Opening
from dashboard.charts.exports import Words, export_layout, html_document, titled
from dashboard.charts.frontier import MOST_POINTS, Axes, frontier_figure
from dashboard.vocabulary.flags import is_about
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
        "eval": "not measured",
        "standing": "frontier",
        X: 50.0,
        Y: 1000.0,
    }
    return pd.DataFrame([{"point_id": n, **usual, **row} for n, row in enumerate(rows)])


def figure(*rows: dict[str, Any], key: str = "a", **axes: Any) -> Any:
    drawn = [Curve(sweep(1, config_key=key))]
    return frontier_figure(frame(*rows), drawn, Axes(X, Y, **axes))


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


@pytest.mark.parametrize(
    ("methods", "source", "line"),
    [
        (("mtp",), "synthetic_by_policy", "<br>acceptance: synthetic by policy<br>"),
        (("mtp",), "real", "<br>acceptance: measured<br>"),
        (("mtp", "none"), "real", "<br>acceptance where speculative: measured<br>"),
    ],
)
def test_hover_says_where_the_acceptance_length_comes_from(methods, source, line):
    drawn = [Curve(sweep(1, spec_methods=methods, acceptance_source=source))]
    found = frontier_figure(frame({}), drawn, Axes(X, Y))
    assert not isinstance(found, str)
    (trace,) = found["data"]
    assert line in trace["hovertemplate"]
    (plain,) = figure({})["data"]
    assert "acceptance" not in plain["hovertemplate"]


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


def test_former_frontiers_are_dotted_beneath_and_say_so():
    former = frame({X: 40.0}, {X: 30.0, "standing": "dominated"})
    curves = [Curve(sweep(1))]
    drawn: Any = frontier_figure(frame({}), curves, Axes(X, Y), (former, curves))
    ghost, line = drawn["data"]
    assert (ghost["meta"]["role"], ghost["x"]) == ("ghost", [40])
    assert ghost["line"]["dash"] == "dot"
    assert "(former)" in ghost["hovertemplate"]
    assert not ghost["showlegend"]
    assert line["meta"]["role"] == "frontier"
    Figure(drawn)


def test_before_a_swap_is_a_named_ghost_of_its_own():
    swap = {"kind": "checkpoint", "from": "org/Old%{x}<b>", "to": "org/New"}
    opening = Opening(sweep(2, segment=2, breaks=(swap,)))
    former = frame({X: 40.0}), [Curve(sweep(1, checkpoint="org/Old"))]
    drawn: Any = frontier_figure(
        frame({}),
        [Curve(sweep(3, segment=2))],
        Axes(X, Y),
        former,
        openings={"a": opening},
    )
    Figure(drawn)
    ghost, line = drawn["data"]
    assert (ghost["x"], line["x"]) == ([40], [50])
    assert ghost["name"].endswith("before the swap)")
    assert ghost["meta"]["label"] == "Old, before the swap"
    assert ghost["showlegend"]
    assert "since run 2" in line["hovertemplate"]
    assert "since run" not in ghost["hovertemplate"]
    assert "%{x}<b>" not in line["hovertemplate"] + ghost["hovertemplate"]
    assert line["meta"]["segment_began_at"] == opening.at.isoformat()
    assert "segment_began_at" not in ghost["meta"]


def test_logarithmic_axes_show_what_is_above_zero_and_keep_the_zoom():
    drawn = figure({}, {Y: 0.0}, log_y=True, zoom=(10, 100, 1, 1000))
    assert drawn["data"][0]["y"] == [1000]
    assert drawn["layout"]["yaxis"]["range"] == [0, 3]
    assert drawn["layout"]["xaxis"]["range"] == [10, 100]
    assert "logarithmic" in figure({Y: 0.0}, log_y=True)
    Figure(drawn)


def test_doubtful_points_wear_a_ring():
    drawn = figure({X: 10.0}, {X: 20.0, "flags": [["nan_token", f"{Y} is nan"]]})
    assert drawn["data"][0]["marker"]["line"]["width"] == [0, 2]
    assert "line" not in figure({})["data"][0]["marker"]
    Figure(drawn)


def test_a_doubt_about_neither_axis_is_in_the_hover_and_wears_no_ring():
    for flag in (["power_invalid", "power"], ["nan_token", f"{X}_std is nan"]):
        (trace,) = figure({"flags": [flag]})["data"]
        assert "line" not in trace["marker"]
        assert flag[1] in trace["customdata"][0][6]


@pytest.mark.parametrize(
    ("code", "metric", "is_ringed"),
    [
        ("power_invalid", "joules_per_output_token", True),
        ("power_invalid", "median_ttft", False),
        ("gpu_count_unknown", "output_tput_per_gpu", True),
        ("gpu_count_unknown", "median_ttft", False),
        ("littles_law", "median_ttft", True),
        ("outside_changelog", "median_ttft", False),
    ],
)
def test_a_flag_rings_only_what_it_is_about(code, metric, is_ringed):
    assert is_about(code, "", (metric,)) is is_ringed


def test_an_incomplete_sweep_says_so_on_its_line():
    curve = Curve(sweep(1, received=13, planned=19))
    drawn: Any = frontier_figure(frame({}), [curve], Axes(X, Y))
    assert drawn["data"][0]["meta"]["label"].endswith(", 13 of 19")


def test_away_from_its_page_a_chart_says_what_it_is_and_where_from():
    words = Words("A <b> against c", ["Runs 1, 2", "Source: http://x/?a=1&b=2"])
    alone = titled(figure({}), export_layout(words, 1, 50.0))
    drawn = Figure(alone)
    assert drawn.layout.title.text == "A &lt;b&gt; against c"
    assert "Runs 1, 2<br>Source" in drawn.layout.annotations[0].text
    assert drawn.layout.shapes[0].x0 == 50
    assert drawn.data[0].name == "a (2026-08-01, run 1)"


def test_the_html_file_needs_no_other_file():
    words = Words("A </title>", ["Source: x"])
    page = html_document(titled(figure({}), export_layout(words, 1, None)), words.title)
    assert "<title>A &lt;/title&gt;</title>" in page
    assert "<script src=" not in page
    assert "plotly.js v" in page
