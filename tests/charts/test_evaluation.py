"""The chart of eval scores: a row per dot, the floor, a domain that stays."""

from typing import Any

import plotly.graph_objects as go
import pytest

from dashboard.charts.eval_marks import eval_symbol, outline
from dashboard.charts.evaluation import (
    MOST_ROWS,
    EvalDot,
    domain,
    evaluation_export,
    evaluation_figure,
)
from dashboard.charts.exports import Words, titled
from dashboard.charts.frontier import Figure
from dashboard.charts.theme import MARKERS, look

LOOK = look(
    hardware="mi355x", framework="sglang", precision="fp4", is_speculative=False
)


def dot(number: int, share: float | None = 0.97, **given: Any) -> EvalDot:
    usual: dict[str, Any] = {
        "row_id": f"eval-{number}",
        "key": "qwen3.5-fp4-mi355x-sglang",
        "label": f"MI355X SGLang fp4\nTP2 c{number}",
        "share": share,
        "low": None if share is None else share - 0.01,
        "high": None if share is None else share + 0.01,
        "floor": 0.94,
        "outcome": "pass",
        "look": LOOK,
        "lines": ("gsm8k",),
    }
    return EvalDot(**{**usual, **given})


def drawn(dots: list[EvalDot]) -> Figure:
    figure = evaluation_figure(dots)
    assert not isinstance(figure, str)
    go.Figure({name: figure[name] for name in ("data", "layout")})
    return figure


def test_each_row_is_a_dot_with_its_interval_the_first_on_top() -> None:
    figure = drawn([dot(1, 0.97), dot(2, 0.95)])
    (trace,) = figure["data"]
    assert [row[0] for row in trace["customdata"]] == ["eval-1", "eval-2"]
    assert trace["y"] == [1, 0]
    assert trace["error_x"]["array"] == pytest.approx([0.01, 0.01])
    assert figure["layout"]["yaxis"]["ticktext"][1] == "MI355X SGLang fp4<br>TP2 c2"
    assert figure["layout"]["meta"]["short"] == [
        "MI355X SGLang fp4<br>TP2 c1",
        "MI355X SGLang fp4<br>TP2 c2",
    ]


def test_one_floor_is_a_line_and_several_are_strokes() -> None:
    one = drawn([dot(1), dot(2)])["layout"]
    assert [shape["x0"] for shape in one["shapes"]] == [0.94]
    assert one["annotations"][0]["text"] == "floor 0.94"
    several = drawn([dot(1), dot(2, floor=0.91)])
    assert several["data"][0]["x"] == [0.94, 0.91]
    assert "shapes" not in several["layout"]


@pytest.mark.parametrize(
    ("dots", "ends"),
    [
        ([dot(1, 0.97)], (0.93, 1.0)),
        ([dot(1, 0.92)], (0.90, 1.0)),
        ([dot(1, 0.0, low=0.0)], (0.0, 1.0)),
        ([dot(1, 0.97, low=None, high=None, floor=0.3)], (0.29, 1.0)),
    ],
)
def test_the_domain_begins_below_the_lowest_bound_or_floor(
    dots: list[EvalDot], ends: tuple[float, float]
) -> None:
    assert domain(dots) == ends
    assert drawn(dots)["layout"]["xaxis"]["range"] == list(ends)


def test_without_a_score_there_is_a_reason() -> None:
    assert evaluation_figure([]) == "None of these rows has a score."
    assert evaluation_figure([dot(1, None)]) == "None of these rows has a score."


def test_of_many_rows_the_first_are_drawn() -> None:
    figure = drawn([dot(n) for n in range(MOST_ROWS + 5)])
    assert len(figure["data"][0]["x"]) == MOST_ROWS


def test_states_differ_without_colour_whatever_the_marker() -> None:
    states = ("pass", "borderline", "fail", "not measured")
    for marker in {*MARKERS.values(), "x", "cross"}:
        symbols = [eval_symbol(marker, state) for state in states]
        looks = [(s, outline(o)[1]) for s, o in zip(symbols, states, strict=True)]
        assert len(set(looks)) == (3 if marker == "bowtie" else 4)
        go.Figure({"data": [{"type": "scatter", "marker": {"symbol": symbols}}]})


def test_hostile_texts_are_escaped() -> None:
    hostile = "<b>%{x}</b>\u202e"
    figure = drawn(
        [dot(1, key=hostile, label=f"{hostile}\n{hostile} c1", lines=(hostile,))]
    )
    (trace,) = figure["data"]
    for text in (
        trace["name"],
        trace["customdata"][0][1],
        *figure["layout"]["yaxis"]["ticktext"],
        *figure["layout"]["meta"]["short"],
    ):
        assert "<b>" not in text
        assert "\u202e" not in text


def test_away_from_its_page_it_keeps_floor_words_and_height() -> None:
    figure = drawn([dot(n) for n in range(40)])
    layout = evaluation_export(figure, Words("Eval scores", ["Runs 1"], "unofficial"))
    alone = titled(figure, layout)
    go.Figure(alone)
    texts = [note["text"] for note in alone["layout"]["annotations"]]
    assert texts[0] == "floor 0.94"
    assert "Runs 1" in texts
    assert alone["layout"]["height"] > 40 * 34
    assert alone["layout"]["title"]["text"] == "Eval scores"
