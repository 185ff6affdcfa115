"""The frontier of one key with its former curves behind it, each under its name."""

from collections.abc import Sequence
from html import escape
from typing import NamedTuple

import pandas as pd

from dashboard.analysis.curves import Curve
from dashboard.analysis.history import Ghost
from dashboard.charts import theme
from dashboard.charts.frontier import GHOST, Axes, Figure, curve_look, frontier_figure
from dashboard.vocabulary.texts import one_line

# The former sweep keeps its colour; what lies across a break is not to be compared.
ACROSS_LOOK = theme.Look(theme.UNKNOWN_HARDWARE, "diamond", "2px,6px")


class GhostPoints(NamedTuple):
    """A former curve and its points, in a frame of their own."""

    ghost: Ghost
    points: pd.DataFrame


def ghost_look(ghost: Ghost, current: Curve) -> theme.Look:
    """Return how a former curve is drawn, for the legend beside the chart."""
    if ghost.curve.sweep.segment != current.sweep.segment:
        return ACROSS_LOOK
    return curve_look(ghost.curve)._replace(marker="circle", dash="2px,3px")


def key_frontier(
    points: pd.DataFrame, current: Curve, axes: Axes, ghosts: Sequence[GhostPoints]
) -> Figure | str:
    """Return the frontier of ``current`` over its ghosts, or why there is none.

    Points as :func:`dashboard.charts.frontier.frontier_figure` takes them.
    """
    figure = frontier_figure(points, [current], axes)
    if isinstance(figure, str):
        return figure
    behind = [t for one in ghosts for t in _ghost(one, points, current, axes)]
    return {**figure, "data": [*behind, *figure["data"]]}


def _ghost(
    one: GhostPoints, points: pd.DataFrame, current: Curve, axes: Axes
) -> list[Figure]:
    former = (one.points, [one.ghost.curve])
    figure = frontier_figure(points, [current], axes, former)
    assert not isinstance(figure, str)  # noqa: S101  # the current one is drawn
    traces = [t for t in figure["data"] if t["meta"]["role"] == GHOST]
    look = ghost_look(one.ghost, current)
    return [_renamed(trace, one.ghost, look) for trace in traces]


def _renamed(trace: Figure, ghost: Ghost, look: theme.Look) -> Figure:
    words = escape(one_line(ghost.words))
    sweep = ghost.curve.sweep
    short = f"{ghost.words.split(',')[0]}, {sweep.official_at:%Y-%m-%d}"
    return {
        **trace,
        "name": f"{words}, run {sweep.run_id}",
        "legendgroup": words,
        "showlegend": True,
        "hovertemplate": f"{words.replace('%{', '% {')}<br>{trace['hovertemplate']}",
        "marker": {
            **trace["marker"],
            "symbol": look.marker,
            "color": look.colour.light,
        },
        "line": {**trace["line"], "dash": look.dash, "color": look.colour.light},
        "meta": {
            **trace["meta"],
            "key": words,
            "label": escape(short),
            "role": GHOST,
            "light": look.colour.light,
            "dark": look.colour.dark,
        },
    }
