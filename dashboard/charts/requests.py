"""Pictures of the requests of a replayed trace: when each ran, and how they spread."""

from collections.abc import Sequence
from html import escape
from typing import Any, NamedTuple

from dashboard.analysis.request_distributions import Distribution
from dashboard.charts import theme
from dashboard.charts.frontier import Figure
from dashboard.charts.point import COLOURS, AxisWords, meta, plain_layout
from dashboard.vocabulary.texts import one_line

# More names than these cannot be read beside the lanes.
MOST_NAMED = 30
LANE_PX = 14
LEAST_PX, MOST_PX = 300, 620
AROUND_PX = 84
LONGEST_NAME = 24


class Kind(NamedTuple):
    """How requests of one kind are drawn."""

    colour: theme.Colour
    symbol: str
    size: int


KINDS = {
    "warm-up": Kind(theme.Colour("#77818c", "#8d99a6"), "circle-open", 6),
    "measured": Kind(COLOURS[0], "circle", 5),
    "cancelled": Kind(theme.Colour("#7a5a00", "#e0bd52"), "diamond-open", 8),
    "failed": Kind(theme.Colour("#b3261e", "#ff8a80"), "x", 8),
}


class Bar(NamedTuple):
    """One request of the timeline; times in s since the first start.

    ``lane`` counts conversations from 0 by their first request, ``words`` are what a
    pointer is told.
    """

    number: int
    lane: int
    kind: str
    start_s: float
    end_s: float | None
    words: Sequence[str]


def timeline_figure(bars: Sequence[Bar], lanes: Sequence[str]) -> Figure | str:
    """Return a line per request from start to end, a row per conversation.

    ``lanes`` names the rows from the top down. The mark stands where a request began.
    """
    if not bars:
        return "None of the requests says when it began."
    traces = []
    for kind, look in KINDS.items():
        own = [bar for bar in bars if bar.kind == kind]
        if own:
            traces += [_spans(own, kind, look), _starts(own, kind, look)]
    layout = plain_layout(
        AxisWords("Time since the first request (s)"),
        AxisWords("Conversation, by its first request"),
    )
    layout["yaxis"] |= _lanes(lanes)
    height = AROUND_PX + LANE_PX * len(lanes)
    layout["height"] = min(max(height, LEAST_PX), MOST_PX)
    return {"data": traces, "layout": layout}


def _spans(bars: Sequence[Bar], kind: str, look: Kind) -> Figure:
    xs: list[float | None] = []
    ys: list[int | None] = []
    for bar in bars:
        if bar.end_s is not None:
            xs += [bar.start_s, bar.end_s, None]
            ys += [bar.lane, bar.lane, None]
    return {
        "type": "scatter",
        "mode": "lines",
        "name": f"{kind}, from start to end",
        "showlegend": False,
        "x": xs,
        "y": ys,
        "hoverinfo": "skip",
        "line": {"color": look.colour.light, "width": 2},
        "marker": {"color": look.colour.light},
        "meta": meta(kind, look.colour, "span"),
    }


def _starts(bars: Sequence[Bar], kind: str, look: Kind) -> Figure:
    return {
        "type": "scatter",
        "mode": "markers",
        "name": kind,
        "showlegend": True,
        "x": [bar.start_s for bar in bars],
        "y": [bar.lane for bar in bars],
        "customdata": [
            [bar.number, "<br>".join(escape(one_line(w)) for w in bar.words)]
            for bar in bars
        ],
        "hovertemplate": "%{customdata[1]}<extra></extra>",
        "marker": {
            "color": look.colour.light,
            "symbol": look.symbol,
            "size": look.size,
        },
        "meta": meta(kind, look.colour, "start"),
    }


def _lanes(names: Sequence[str]) -> dict[str, Any]:
    axis: dict[str, Any] = {
        "range": [len(names) - 0.4, -0.6],
        "autorange": False,
        "zeroline": False,
    }
    if len(names) > MOST_NAMED:
        return axis
    return axis | {
        "tickmode": "array",
        "tickvals": list(range(len(names))),
        "ticktext": [escape(one_line(name, LONGEST_NAME)) for name in names],
        "tickfont": {"size": 10},
    }


def histogram_figure(spread: Distribution, label: str, unit: str) -> Figure:
    """Return how many requests each bin holds, as steps over the value's axis."""
    edges, counts = spread["edges"], spread["counts"]
    is_log = edges[0] > 0 and _is_geometric(edges)
    title = f"{label} ({unit})" if unit else label
    layout = plain_layout(AxisWords(title, is_log), AxisWords("Requests per bin"))
    if not is_log:
        layout["xaxis"]["rangemode"] = "normal"
    words = [
        f"{low:.4g} to {high:.4g} {unit}: {count:,} requests"
        for low, high, count in zip(edges, edges[1:], counts, strict=False)
    ]
    colour = COLOURS[0]
    trace = {
        "type": "scatter",
        "mode": "lines",
        "name": escape(label),
        "showlegend": False,
        # The last edge closes the last bin.
        "x": edges,
        "y": [*counts, counts[-1]],
        "customdata": [[n, escape(text)] for n, text in enumerate([*words, words[-1]])],
        "hovertemplate": "%{customdata[1]}<extra></extra>",
        "fill": "tozeroy",
        "line": {"color": colour.light, "width": 1.5, "shape": "hv"},
        "marker": {"color": colour.light},
        "meta": meta(label, colour, "bins"),
    }
    return {"data": [trace], "layout": layout}


def _is_geometric(edges: Sequence[float]) -> bool:
    """Tell whether bins grow with their value."""
    first, last = edges[1] - edges[0], edges[-1] - edges[-2]
    return last > 1.5 * first
