"""The calculator's charts: a bar per config key, the best one on top."""

from collections.abc import Sequence
from html import escape
from typing import NamedTuple

from dashboard.charts import theme
from dashboard.charts.axis_titles import noted_lines
from dashboard.charts.exports import Words, export_layout
from dashboard.charts.frontier import Figure
from dashboard.vocabulary.metrics import Metric
from dashboard.vocabulary.texts import one_line

# More bars are no picture any more.
MOST_BARS = 40
ROW_PX = 30
AROUND_PX = 86
BAR = 0.62
# What the axis leaves for the number at the end of the longest bar.
ROOM = 1.28
ROOM_NARROW = 1.7
LONGEST_LABEL = 44
# Letters of a note in a line below the bars.
LINE = 36
LINE_PX = 15
_HOVER = "%{customdata[1]}<extra></extra>"


class Bar(NamedTuple):
    """One key's value: its names, how it is drawn, and what a pointer is told."""

    key: str
    short: str
    value: float
    text: str
    look: theme.Look
    lines: Sequence[str]


def bars_figure(bars: Sequence[Bar], metric: Metric, note: str) -> Figure:
    """Return the figure of the first bars, in their order from the top.

    ``note`` is said at the axis. ``customdata`` begins with the key, ``layout.meta``
    has the short names and the x axis for where there is little room.
    """
    shown = bars[:MOST_BARS]
    heights = range(len(shown) - 1, -1, -1)
    traces = [_trace(bar, place) for bar, place in zip(shown, heights, strict=True)]
    return {"data": traces, "layout": _layout(shown, metric, note)}


def _trace(bar: Bar, place: int) -> Figure:
    key = escape(one_line(bar.key))
    lines = "<br>".join(escape(one_line(line)) for line in bar.lines)
    return {
        "type": "bar",
        "orientation": "h",
        "name": key,
        "showlegend": False,
        "x": [bar.value],
        "y": [place],
        "width": BAR,
        "text": [bar.text],
        "textposition": "outside",
        "cliponaxis": False,
        "customdata": [[bar.key, f"{key}<br>{lines}"]],
        "hovertemplate": _HOVER,
        "marker": {"color": bar.look.colour.light},
        "meta": {
            "key": bar.key,
            "label": "",
            "role": "bar",
            "light": bar.look.colour.light,
            "dark": bar.look.colour.dark,
        },
    }


def _layout(bars: Sequence[Bar], metric: Metric, note: str) -> Figure:
    lines = {"gridcolor": theme.GRID, "zerolinecolor": theme.GRID, "automargin": True}
    said = noted_lines(note, LINE)
    longest = max(bar.value for bar in bars)
    unit = {"text": metric.unit, "standoff": 8, "font": {"size": 11}}
    return {
        "xaxis": {
            **lines,
            "title": {**unit, "text": "<br>".join([metric.unit, *said])},
            "range": [0, longest * ROOM],
            "tickformat": ",~r",
            "nticks": 5,
        },
        # No lines along the bars: they would strike through the values at their ends.
        "yaxis": {
            **lines,
            "showgrid": False,
            "zeroline": False,
            "tickmode": "array",
            "tickvals": list(range(len(bars)))[::-1],
            "ticktext": [escape(one_line(bar.key, LONGEST_LABEL)) for bar in bars],
            "tickfont": {"size": 11},
            "range": [-0.7, len(bars) - 0.3],
        },
        "barmode": "overlay",
        "height": AROUND_PX + ROW_PX * len(bars) + LINE_PX * len(said),
        "meta": {
            "short": [escape(one_line(bar.short)) for bar in bars],
            # Numbers and notes would be cut off; the page says the notes below it too.
            "narrow": {"range": [0, longest * ROOM_NARROW], "title": unit},
        },
        **theme.frame(margin={"l": 12, "r": 12, "t": 8, "b": 56}, dragmode=False),
    }


def bars_export(figure: Figure, words: Words) -> Figure:
    """Return the layout of a chart of bars away from its page."""
    layout = export_layout(words, 0, None)
    around = AROUND_PX + layout["margin"]["b"] + layout["margin"]["t"]
    return {
        **layout,
        "showlegend": False,
        "height": figure["layout"]["height"] + around,
        "margin": {**layout["margin"], "b": layout["margin"]["b"] + 24},
    }
