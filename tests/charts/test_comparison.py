"""Two sweeps over each other: a valid figure that is told apart without colour."""

import pandas as pd
import plotly.graph_objects as go
import pytest

from dashboard.analysis.step_curves import Stretch
from dashboard.charts import theme
from dashboard.charts.comparison import (
    DrawnSide,
    base_look,
    comparison_figure,
)
from dashboard.charts.frontier import Axes

X, Y = "median_intvty", "tput_per_gpu"
AXES = Axes(X, Y)
OFFICIAL = theme.look(
    hardware="mi355x", framework="sglang", precision="fp4", is_speculative=False
)
GAP = [
    Stretch(0, 20, 1500, 1100),
    Stretch(20, 90, 600, 600),
    Stretch(90, 150, 300, 310),
]


def side(role, values, look=OFFICIAL, words="run 1 of 2026-09-02"):
    frame = pd.DataFrame(values, columns=[X, Y], dtype=float).assign(
        place_id=[f"1-{n}" for n in range(len(values))],
        deployment="TP2",
        concurrency=range(len(values)),
        standing=["frontier"] * len(values),
        is_paired=[True] * (len(values) - 1) + [False] if values else [],
    )
    return DrawnSide(role, words, frame, sorted(values), look)


def figure(gap=GAP, *, is_judged=True, **given):
    base = given.pop("base", side("base", [(20, 1500), (150, 300)]))
    head = given.pop("head", side("head", [(20, 1100), (150, 310)]))
    return comparison_figure(base, head, gap, AXES, is_judged=is_judged)


def of_role(found, role):
    return [trace for trace in found["data"] if trace["meta"]["role"] == role]


def test_plotly_accepts_the_figure():
    found = go.Figure(figure())
    assert [t.name for t in found.data if t.showlegend] == [
        "head above base",
        "head below base",
        "base: run 1 of 2026-09-02",
        "head: run 1 of 2026-09-02",
    ]


def test_the_step_line_begins_at_zero_and_goes_down_before_it_goes_right():
    line = of_role(figure(), "frontier")[0]
    assert (line["x"], line["y"]) == ([0, 20, 150], [1500, 1500, 300])
    assert line["line"]["shape"] == "vh"


def test_the_gap_is_shaded_where_the_sides_differ_and_nowhere_else():
    better, worse = of_role(figure(), "gap")
    assert better["x"] == [90, 150, 150, 90, 90, None]
    assert better["y"] == [300, 300, 310, 310, 300, None]
    assert worse["x"] == [0, 20, 20, 0, 0, None]
    assert better["fillpattern"]["shape"] != worse["fillpattern"]["shape"]


@pytest.mark.parametrize(
    "gone", [Stretch(150, 300, None, 500), Stretch(150, 300, 500, None)]
)
def test_no_gap_is_shaded_where_a_side_has_no_value(gone):
    assert of_role(figure([gone]), "gap") == []


def test_zero_is_a_value_of_the_gap():
    (worse,) = of_role(figure([Stretch(0, 9, 5, 0)]), "gap")
    assert worse["y"] == [5, 5, 0, 0, 5, None]


def test_what_is_not_judged_is_shaded_without_a_colour():
    judged = {t["fillcolor"] for t in of_role(figure(), "gap")}
    neutral = {t["fillcolor"] for t in of_role(figure(is_judged=False), "gap")}
    assert len(judged) == 2
    assert len(neutral) == 1
    assert judged.isdisjoint(neutral)


def test_two_official_sides_differ_by_dash_and_marker():
    base = base_look(OFFICIAL, OFFICIAL)
    assert base.colour == OFFICIAL.colour
    assert base.dash != OFFICIAL.dash
    assert base.marker == f"{OFFICIAL.marker}-open"
    assert go.Figure(figure(base=side("base", [(20, 1), (30, 1)], base)))


def test_an_official_base_keeps_its_look_beside_an_unofficial_head():
    assert base_look(OFFICIAL, theme.unofficial_look(1)) == OFFICIAL


def test_two_unofficial_sides_differ_by_marker_too():
    base, head = theme.unofficial_look(0), theme.unofficial_look(1)
    assert base_look(base, head).marker != head.marker


def test_one_point_of_one_side_is_drawn():
    found = figure([], base=side("base", []), head=side("head", [(50, 100)]))
    assert go.Figure(found)
    assert of_role(found, "frontier points")[0]["x"] == [50]


def test_without_a_point_there_is_a_reason():
    found = figure([], base=side("base", []), head=side("head", []))
    assert isinstance(found, str)
    assert "no flag keeps off" in found


def test_a_point_that_only_one_side_measured_says_so():
    points = of_role(figure(), "frontier points")[0]
    assert [row[3] for row in points["customdata"]] == [
        "",
        "<br>only this side measured it",
    ]


def test_hostile_words_are_escaped():
    hostile = "<b>%{x}</b>\u202e"
    found = figure(head=side("head", [(1, 2)], words=hostile))
    hover = of_role(found, "frontier points")[1]["hovertemplate"]
    assert "head: &lt;b&gt;% {x}&lt;/b&gt;<br>" in hover
    assert not any(text in str(found["data"]) for text in ("<b>", "\u202e"))
