"""Pictures of one point: statistics of latencies and tokens, shares of its caches."""

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any, NamedTuple

from dashboard.charts import theme
from dashboard.charts.frontier import Figure
from dashboard.vocabulary.statistics import STATISTICS

# Quantities of one point stand beside each other: these are colours of no hardware.
COLOURS = (
    theme.Colour("#1b65c9", "#7db1ff"),
    theme.Colour("#a34a00", "#ffab5e"),
    theme.Colour("#3f6b1f", "#9bd06a"),
)
SYMBOLS = ("circle", "square", "diamond")
DASHES = ("solid", "6px,3px", "2px,3px")
_HOVER = "%{customdata[1]}<extra></extra>"
# A deviation is no place on the way from the middle to the tail.
_SHOWN = tuple(name for name in STATISTICS if name != "std")
BAR_PX = 34
AROUND_BARS_PX = 84
DECADE = 10


class Series(NamedTuple):
    """A quantity and its statistics by name, in the unit of the axis."""

    label: str
    values: Mapping[str, float | None]


class AxisWords(NamedTuple):
    """What an axis says; ``is_log`` asks for a logarithmic scale."""

    title: str
    is_log: bool = False


def statistics_figure(series: Sequence[Series], axis: AxisWords) -> Figure | str:
    """Return lines from the mean over the median to the tail, or why there are none.

    A statistic that was not measured leaves no mark; one without any value no line.
    A logarithmic scale is said at its axis.
    """
    measured = [s for s in series if any(s.values.get(n) is not None for n in _SHOWN)]
    shown = [
        name for name in _SHOWN if any(s.values.get(name) is not None for s in measured)
    ]
    if not measured:
        return "None of these was measured."
    traces = [_line(s, shown, place) for place, s in enumerate(measured)]
    layout = plain_layout(AxisWords(""), axis)
    layout["xaxis"] |= {
        "type": "category",
        "categoryorder": "array",
        "categoryarray": [STATISTICS[name] for name in shown],
    }
    if axis.is_log:
        layout["yaxis"]["title"]["text"] += ", log scale"
        if _is_within_a_decade(traces):
            del layout["yaxis"]["dtick"]
    return {"data": traces, "layout": layout}


def _is_within_a_decade(traces: Sequence[Figure]) -> bool:
    """Tell whether ticks at 1, 2 and 5 of each decade could be fewer than two."""
    values = [value for trace in traces for value in trace["y"] if value > 0]
    return not values or max(values) < DECADE * min(values)


def _line(series: Series, shown: Sequence[str], place: int) -> Figure:
    names = [name for name in shown if series.values.get(name) is not None]
    values = [series.values[name] for name in names]
    look = place % len(COLOURS)
    colour = COLOURS[look]
    words = [
        f"{series.label}, {STATISTICS[name]}: {series.values[name]:.7g}"
        for name in names
    ]
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "name": escape(series.label),
        "showlegend": True,
        "x": [STATISTICS[name] for name in names],
        "y": values,
        "customdata": [
            [name, escape(text)] for name, text in zip(names, words, strict=True)
        ],
        "hovertemplate": _HOVER,
        "line": {"color": colour.light, "width": theme.LINE_PX, "dash": DASHES[look]},
        "marker": {
            "color": colour.light,
            "size": theme.MARKER_PX,
            "symbol": SYMBOLS[look],
        },
        "meta": meta(series.label, colour, "series"),
    }


def shares_figure(shares: Sequence[tuple[str, float | None]]) -> Figure | str:
    """Return a bar per share that was measured, from 0 to 1, or why there is none."""
    known = [(label, share) for label, share in shares if share is not None]
    if not known:
        return "None of these was measured."
    colour = COLOURS[0]
    layout = plain_layout(AxisWords("Share (fraction)"), AxisWords(""))
    layout["xaxis"] |= {"range": [0, max(1.0, *(share for _, share in known))]}
    layout["yaxis"] |= {"autorange": "reversed", "type": "category"}
    layout["height"] = AROUND_BARS_PX + BAR_PX * len(known)
    layout["bargap"] = 0.35
    trace = {
        "type": "bar",
        "orientation": "h",
        "name": "share",
        "x": [share for _, share in known],
        "y": [escape(label) for label, _ in known],
        "text": [f"{share:.4g}" for _, share in known],
        "textposition": "auto",
        "customdata": [
            [label, escape(f"{label}: {share:.7g}")] for label, share in known
        ],
        "hovertemplate": _HOVER,
        "marker": {"color": colour.light},
        "meta": meta("share", colour, "share"),
    }
    return {"data": [trace], "layout": layout}


def meta(key: str, colour: theme.Colour, role: str) -> dict[str, Any]:
    """Return what the page's script has to know of a trace."""
    return {
        "key": key,
        "label": escape(key),
        "role": role,
        "light": colour.light,
        "dark": colour.dark,
    }


def plain_layout(x: AxisWords, y: AxisWords) -> Figure:
    """Return the layout of a picture with two axes."""
    return {
        "xaxis": _axis(x),
        "yaxis": _axis(y),
        **theme.frame(margin={"l": 64, "r": 16, "t": 12, "b": 48}),
    }


def _axis(words: AxisWords) -> Figure:
    axis: Figure = {
        "title": {"text": escape(words.title), "standoff": 10},
        "type": "log" if words.is_log else "linear",
        "rangemode": "normal" if words.is_log else "tozero",
        "gridcolor": theme.GRID,
        "zerolinecolor": theme.GRID,
        "tickformat": ",~r",
        "automargin": True,
    }
    return {**axis, "dtick": "D2"} if words.is_log else axis
