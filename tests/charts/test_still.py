"""The still picture of a figure: lines, markers and axes where plotly has them."""

import re
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from dashboard.charts.markers import PATHS
from dashboard.charts.still import BOX, still
from dashboard.charts.theme import (
    MARKERS,
    OUT_MARKER,
    UNKNOWN_MARKER,
    UNOFFICIAL_MARKER,
)
from tests.charts.test_frontier import X, Y, figure

PLACE = re.compile(r"(-?\d+) (-?\d+)")


def picture(drawn: Any, hidden: tuple[str, ...] = ()) -> Any:
    return ET.fromstring(still(drawn, hidden))  # noqa: S314  # of our own making


def lines(found: Any) -> list[Any]:
    return list(found.findall(".//path[@data-role]"))


def places(path: Any) -> list[tuple[int, int]]:
    return [(int(x), int(y)) for x, y in PLACE.findall(path.get("d"))]


def texts(found: Any, what: str) -> list[str]:
    return [text.text for text in found.findall(f".//text[@class='still-{what}']")]


def marks(found: Any) -> list[tuple[str, str, str]]:
    """Return of each marker which it is and where, in the order of drawing."""
    return [
        (use.get("href").removeprefix("#mark-"), use.get("x"), use.get("y"))
        for use in found.iter("use")
    ]


def symbols(found: Any) -> list[str]:
    return [symbol for symbol, _, _ in marks(found)]


def test_line_and_markers_lie_where_their_values_are():
    found = picture(figure({X: 47.0, Y: 470.0}, {X: 94.0, Y: 235.0}))
    (line,) = lines(found)
    # The largest value of an axis from zero lies at 94 % of it.
    assert places(line) == [(940, 120), (1880, 1060)]
    assert line.get("stroke").startswith("light-dark(#")
    (dots,) = (path for path in found.iter("path") if path.get("class"))
    assert places(dots) == places(line)
    assert dots.get("stroke-linecap") == "round"
    assert marks(found) == [
        ("diamond-8", "47.0%", "6.0%"),
        ("diamond-8", "94.0%", "53.0%"),
    ]


def test_markers_are_for_who_has_no_script_and_left_out_where_one_asks():
    found = picture(figure({}))
    assert symbols(found.find("noscript")) == symbols(found) == ["diamond-8"]
    asked = ET.fromstring(still(figure({}), has_markers=False))  # noqa: S314
    assert not marks(asked)
    assert asked.findall(".//path[@class='still-dots']")


def test_dominated_points_are_faint_and_flagged_ones_crossed():
    found = picture(figure({}, {"standing": "dominated"}, {"standing": "out"}))
    groups = [g for g in found.iter("g") if g.get("fill")]
    dots = found.findall(".//path[@class='still-dots']")
    assert sorted(path.get("opacity", "1") for path in dots) == ["0.35", "1"]
    drawn = {(g.get("opacity"), *symbols(g)) for g in groups}
    assert drawn == {
        (None, "diamond-8"),
        ("0.35", "diamond-8"),
        (None, "circle-x-open-8"),
    }


def test_markers_are_those_of_the_figure_each_drawn_once():
    drawn = figure({"eval": "pass"}, {X: 40.0, Y: 2000.0, "eval": "fail"})
    (trace,) = drawn["data"]
    assert trace["marker"]["symbol"] == ["diamond-open", "diamond-dot"]
    trace["marker"]["symbol"] = ["square-dot", "square-open", "square-open"]
    trace["x"], trace["y"] = [*trace["x"], 9.0], [*trace["y"], 9.0]
    found = picture(drawn)
    assert symbols(found) == ["square-dot-8", "square-open-8", "square-open-8"]
    shapes = {g.get("id"): g for g in found.find(".//defs")}
    assert sorted(shapes) == ["mark-square-dot-8", "mark-square-open-8"]
    assert {shape.find("path").get("d") for shape in shapes.values()} == {
        PATHS["square"]
    }
    kinds = {name: shape.get("class") for name, shape in shapes.items()}
    assert kinds["mark-square-dot-8"] == "still-ringed"
    assert kinds["mark-square-open-8"] == "still-hollow"


def test_lines_of_one_colour_differ_by_their_markers():
    drawn = figure({})
    other = {**drawn["data"][0], "marker": {"symbol": "triangle-up", "size": 4}}
    drawn["data"].append(other)
    found = picture(drawn)
    assert symbols(found) == ["diamond-8", "triangle-up-4"]
    small = next(g for g in found.iter("g") if g.get("id") == "mark-triangle-up-4")
    assert small.get("transform") == "scale(0.5)"


def test_every_marker_of_a_framework_has_a_path():
    wanted = {*MARKERS.values(), UNKNOWN_MARKER, UNOFFICIAL_MARKER}
    assert wanted <= PATHS.keys()
    assert OUT_MARKER.removesuffix("-open") in PATHS


def test_hidden_keys_are_left_out_and_the_axes_hold_what_is_seen():
    drawn = figure({X: 94.0}, {X: 9400.0, "standing": "dominated"})
    drawn["data"][0]["meta"]["key"] = "b"
    assert texts(picture(drawn), "x")[-1] == "10,000"
    found = picture(drawn, ("b",))
    assert texts(found, "x")[-1] == "100"
    assert len(marks(found)) == 1
    assert not marks(picture(drawn, ("a", "b")))


def test_axes_have_round_numbers():
    found = picture(figure({X: 94.0, Y: 0.0047}))
    assert texts(found, "x") == [f"{10 * n}" for n in range(11)]
    assert texts(found, "y")[:4] == ["0", "0.0005", "0.001", "0.0015"]


def test_ticks_far_from_zero_differ():
    drawn = figure({X: 10_002.0, Y: 0.3}, zoom=(10_000.0, 10_004.0, 0.0, 1.0))
    found = picture(drawn)
    assert texts(found, "x")[:3] == ["10,000", "10,000.5", "10,001"]
    assert texts(found, "y")[3] == "0.3"


def test_a_log_axis_is_free_at_both_ends_and_a_zoomed_one_ends_where_it_was_told():
    log = picture(figure({X: 10.0}, {X: 1000.0}, log_x=True))
    left, right = (x for x, _ in places(lines(log)[0]))
    assert (left, right) == (120, 1880)
    assert texts(log, "x") == ["10", "20", "50", "100", "200", "500", "1,000"]
    zoomed = picture(figure({X: 50.0, Y: 500.0}, zoom=(0.0, 100.0, 0.0, 1000.0)))
    assert places(lines(zoomed)[0]) == [(BOX // 2, BOX // 2)]


@pytest.mark.parametrize(
    "row", [{X: 0.0, Y: 0.0}, {X: 1e-9, Y: 1e15}, {X: -5.0, Y: 3.0}]
)
def test_a_single_odd_point_has_a_place(row: dict[str, float]):
    (place,) = places(lines(picture(figure(row)))[0])
    assert all(0 <= at <= BOX for at in place)


@pytest.mark.parametrize(
    ("zoom", "log_x"),
    [
        ((0.0, 5e-324, 0.0, 1.0), False),
        ((0.0, 1.0, -1.7e308, 1.7e308), False),
        ((1e-320, 1.0, 0.0, 1.0), True),
        ((1.0, 1.7e308, 0.0, 1.0), True),
        (None, True),
    ],
)
def test_axes_beyond_what_floats_measure_are_no_error(zoom: Any, *, log_x: bool):
    found = picture(figure({X: 1.7e308}, zoom=zoom, log_x=log_x))
    assert not marks(found)
    assert not list(found.iter("path"))


def test_a_broken_line_is_broken():
    drawn = figure({}, {X: 40.0, Y: 2000.0})
    drawn["data"][-1]["line"]["dash"] = "8px,3px,2px,3px"
    (line,) = lines(picture(drawn))
    assert line.get("stroke-dasharray") == "8 3 2 3"


def test_titles_of_two_lines_move_the_picture_as_they_move_the_plot():
    drawn = figure({}, notes=("", "disaggregated points: over all GPUs"))
    assert drawn["layout"]["margin"]["l"] == 99
    assert "still-left-1" in picture(drawn).get("class")
    assert "still-left-0" in picture(figure({})).get("class")
