"""The chart of eval scores: a dot and its 95 % interval per row, and the floor."""

import math
from collections.abc import Iterator, Sequence
from html import escape
from typing import NamedTuple

from dashboard.charts import theme
from dashboard.charts.eval_marks import eval_symbol, outlines
from dashboard.charts.exports import Words, export_layout
from dashboard.charts.frontier import Figure
from dashboard.vocabulary.texts import one_line

# More rows are no picture any more.
MOST_ROWS = 60
ROW_PX = 34
AROUND_PX = 76
ALONE_AROUND_PX = 260
LONGEST_LABEL = 44
SHORTEST_LABEL = 12
SHORTEST_NAME = 18
# What a domain keeps free beside the lowest end, as a fraction, and its steps.
MARGIN = 0.005
STEP = 0.01

_HOVER = "%{customdata[1]}<extra></extra>"


class EvalDot(NamedTuple):
    """One score: its row, how it is named and drawn, and what a pointer is told.

    ``share``, its interval and ``floor`` are fractions. ``label`` has two lines.
    """

    row_id: str
    key: str
    label: str
    share: float | None
    low: float | None
    high: float | None
    floor: float
    outcome: str
    look: theme.Look
    lines: Sequence[str]


def evaluation_figure(dots: Sequence[EvalDot]) -> Figure | str:
    """Return the figure of the first rows, or the sentence that says why there is none.

    The first row is on top. A hollow dot failed, a hollow one with a dot in it is
    borderline, a full one with a dot passed; ``customdata`` begins with the row's id.
    """
    shown = [dot for dot in dots if dot.share is not None][:MOST_ROWS]
    if not shown:
        return "None of these rows has a score."
    heights = {dot.row_id: len(shown) - 1 - n for n, dot in enumerate(shown)}
    groups: dict[tuple[str, theme.Look], list[EvalDot]] = {}
    for dot in shown:
        groups.setdefault((dot.key, dot.look), []).append(dot)
    traces = [_trace(key, look, g, heights) for (key, look), g in groups.items()]
    floors = {dot.floor for dot in shown}
    layout = _layout(shown, domain(shown))
    if len(floors) == 1:
        (floor,) = floors
        layout["shapes"] = [_floor_line(floor)]
        layout["annotations"] = [_floor_label(floor)]
    else:
        traces.insert(0, _floor_marks(shown, heights))
    return {"data": traces, "layout": layout}


def domain(dots: Sequence[EvalDot]) -> tuple[float, float]:
    """Return the ends of the axis: from below the lowest bound or floor to 1.

    In whole percent, so that it does not move with every score.
    """
    ends = [
        end
        for dot in dots
        for end in (dot.share, dot.low, dot.floor)
        if end is not None
    ]
    lowest = math.floor((min(ends) - MARGIN) / STEP) * STEP
    return max(0.0, round(lowest, 2)), 1.0


def _trace(
    key: str, look: theme.Look, dots: Sequence[EvalDot], heights: dict[str, int]
) -> Figure:
    return {
        "type": "scatter",
        "mode": "markers",
        "name": escape(one_line(key)),
        "showlegend": True,
        "x": [dot.share for dot in dots],
        "y": [heights[dot.row_id] for dot in dots],
        "error_x": {
            "type": "data",
            "symmetric": False,
            "array": [_above(dot) for dot in dots],
            "arrayminus": [_below(dot) for dot in dots],
            "thickness": 1.5,
            "width": 4,
        },
        "customdata": [[dot.row_id, "<br>".join(_escaped(dot))] for dot in dots],
        "hovertemplate": _HOVER,
        "cliponaxis": False,
        "marker": {
            "color": look.colour.light,
            "size": theme.MARKER_PX + 2,
            "symbol": [eval_symbol(look.marker, dot.outcome) for dot in dots],
            **outlines([dot.outcome for dot in dots]),
        },
        "meta": {
            "key": key,
            "label": escape(one_line(key)),
            "role": "eval",
            "light": look.colour.light,
            "dark": look.colour.dark,
        },
    }


def _escaped(dot: EvalDot) -> Iterator[str]:
    return (escape(one_line(line)) for line in dot.lines)


def _above(dot: EvalDot) -> float:
    return 0.0 if dot.high is None or dot.share is None else dot.high - dot.share


def _below(dot: EvalDot) -> float:
    return 0.0 if dot.low is None or dot.share is None else dot.share - dot.low


def _floor_line(floor: float) -> Figure:
    return {
        "type": "line",
        "x0": floor,
        "x1": floor,
        "yref": "paper",
        "y0": 0,
        "y1": 1,
        "layer": "below",
        "line": {"color": theme.WARN, "width": 1.5, "dash": "dot"},
    }


def _floor_label(floor: float) -> Figure:
    return {
        "text": f"floor {floor:g}",
        "x": floor,
        "yref": "paper",
        "y": 1,
        "yanchor": "bottom",
        "showarrow": False,
        "font": {"size": 11},
    }


def _floor_marks(dots: Sequence[EvalDot], heights: dict[str, int]) -> Figure:
    """Return a stroke at the floor of each row, where rows have several floors."""
    return {
        "type": "scatter",
        "mode": "markers",
        "name": "floor",
        "showlegend": True,
        "x": [dot.floor for dot in dots],
        "y": [heights[dot.row_id] for dot in dots],
        "customdata": [[dot.row_id, f"floor {dot.floor:g}"] for dot in dots],
        "hovertemplate": _HOVER,
        "cliponaxis": False,
        "marker": {
            "color": theme.WARN,
            "size": ROW_PX - 8,
            "symbol": "line-ns-open",
        },
        "meta": {
            "key": "floor",
            "label": "floor",
            "role": "floor",
            "light": theme.WARN,
            "dark": theme.WARN,
        },
    }


def _layout(dots: Sequence[EvalDot], ends: tuple[float, float]) -> Figure:
    lines = {
        "gridcolor": theme.GRID,
        "zerolinecolor": theme.GRID,
        "zeroline": False,
        "automargin": True,
    }
    return {
        "xaxis": {
            **lines,
            "title": {"text": "Score (fraction)", "standoff": 8},
            "range": list(ends),
            "autorange": False,
            "tickformat": ".3~f",
        },
        "yaxis": {
            **lines,
            "tickmode": "array",
            "tickvals": list(range(len(dots)))[::-1],
            "ticktext": [_tick(dot) for dot in dots],
            "tickfont": {"size": 11},
            "range": [-0.7, len(dots) - 0.3],
        },
        "height": height(len(dots)),
        # For narrow screens; what is cut off is told by hover.
        "meta": {"short": [_short(dot) for dot in dots]},
        **theme.frame(margin={"l": 12, "r": 24, "t": 24, "b": 48}),
    }


def _tick(dot: EvalDot) -> str:
    parts = dot.label.split("\n")
    return "<br>".join(escape(one_line(part, LONGEST_LABEL)) for part in parts)


def _short(dot: EvalDot) -> str:
    """Return both lines of a row's name cut short, its concurrency kept."""
    of, _, place = dot.label.rpartition("\n")
    where, _, concurrency = place.rpartition(" ")
    end = f"{escape(one_line(where, SHORTEST_LABEL))} {escape(one_line(concurrency))}"
    return f"{escape(one_line(of, SHORTEST_NAME))}<br>{end}"


def height(rows: int) -> int:
    """Return the px that a chart of so many rows needs."""
    return AROUND_PX + ROW_PX * rows


def evaluation_export(figure: Figure, words: Words) -> Figure:
    """Return the layout of the chart away from its page, floor and words kept."""
    own = figure["layout"]
    layout = export_layout(words, len(figure["data"]), None)
    notes = [*own.get("annotations", []), *layout["annotations"]]
    return {
        **layout,
        "annotations": notes,
        "shapes": own.get("shapes", []),
        "height": max(layout["height"], own["height"] + ALONE_AROUND_PX),
        "margin": {**layout["margin"], "t": layout["margin"]["t"] + 16},
    }
