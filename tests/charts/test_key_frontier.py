"""The frontier of one key with its ghosts: each under its own name and look."""

from typing import Any

from plotly.graph_objects import Figure

from dashboard.analysis.history import Ghost
from dashboard.charts.frontier import Axes
from dashboard.charts.key_frontier import GhostPoints, ghost_look, key_frontier
from tests.analysis.history_frames import swapped
from tests.charts.test_frontier import X, Y, frame


def drawn(**current: Any) -> Any:
    history = swapped()
    assert history.current is not None
    ghosts = [
        GhostPoints(ghost, frame({X: 40.0}, {X: 60.0, Y: 900.0}))
        for ghost in history.ghosts
    ]
    return key_frontier(frame(current), history.current, Axes(X, Y), ghosts)


def test_ghosts_lie_below_dotted_and_named():
    figure = drawn()
    assert Figure(figure)
    *ghosts, current = figure["data"]
    assert current["meta"]["role"] == "frontier"
    assert [g["meta"]["label"] for g in ghosts] == [
        "former sweep, 2026-08-04",
        "before the swap, 2026-08-03",
    ]
    assert all("px," in ghost["line"]["dash"] for ghost in ghosts)
    assert len({g["meta"]["key"] for g in figure["data"]}) == 3
    # As drawn in a picture, where no script paints them.
    assert all(g["line"]["color"] == g["meta"]["light"] for g in ghosts)


def test_what_lies_before_a_break_has_no_colour_of_a_key():
    history = swapped()
    assert history.current is not None
    looks = [ghost_look(ghost, history.current) for ghost in history.ghosts]
    assert looks[0].colour != looks[1].colour
    assert looks[0].marker != looks[1].marker


def test_names_cannot_become_markup():
    history = swapped()
    assert history.current is not None
    ghost = Ghost(history.ghosts[0].curve, "<img src=x>, %{x}")
    behind = [GhostPoints(ghost, frame({}))]
    figure = key_frontier(frame({}), history.current, Axes(X, Y), behind)
    assert not isinstance(figure, str)
    assert "<img" not in str(figure)
    assert not figure["data"][0]["hovertemplate"].startswith("%{x}")


def test_without_a_point_today_there_is_a_reason():
    assert drawn(**{X: None, "standing": "unplaced"}).startswith("None of the 1 points")
