"""The chart on its own: with title, source and legend, as figure or as one file."""

from collections.abc import Sequence
from html import escape
from typing import Any, NamedTuple

from dashboard.charts import theme
from dashboard.charts.frontier import Figure

LEGEND_ROW_PX = 19
LEAST_HEIGHT_PX = 640
AROUND_PX = 190
NOTE_PX = 15
WIDTH_PX = 1280
WATERMARK_PX = 40
WATERMARK_OPACITY = 0.22


class Words(NamedTuple):
    """What a chart says of itself away from its page.

    ``lines`` stand under it: of when it is, which runs it shows, where it is from.
    ``watermark`` lies behind the lines, empty where nothing has to be warned of.
    """

    title: str
    lines: Sequence[str]
    watermark: str = ""


def export_layout(words: Words, keys: int, at: float | None) -> Figure:
    """Return the layout that a chart of so many keys needs away from its page."""
    height = max(LEAST_HEIGHT_PX, AROUND_PX + LEGEND_ROW_PX * keys)
    below = 64 + NOTE_PX * len(words.lines)
    layout: Figure = {
        "title": {"text": escape(words.title), "x": 0, "xref": "paper"},
        "showlegend": True,
        "legend": {"font": {"size": 11}},
        "annotations": [*_watermark(words.watermark), _source(words.lines)],
        "margin": {"l": 72, "r": 16, "t": 56, "b": below},
        "paper_bgcolor": theme.PAPER,
        "plot_bgcolor": theme.PAPER,
        "width": WIDTH_PX,
        "height": height,
    }
    if at is not None:
        layout["shapes"] = [cursor(at)]
    return layout


def cursor(at: float) -> Figure:
    """Return the line at which keys are ranked."""
    line = {"color": theme.INK, "width": 1, "dash": "dash"}
    span = {"yref": "paper", "y0": 0, "y1": 1}
    return {"type": "line", "x0": at, "x1": at, **span, "line": line}


def titled(figure: Figure, layout: Figure) -> Figure:
    """Return ``figure`` as it stands away from its page."""
    return {**figure, "layout": {**figure["layout"], **layout}}


def html_document(figure: Figure, title: str) -> str:
    """Return one HTML file that draws the figure without any other file or host."""
    # Loading plotly takes most of a second that no other page has to wait for.
    from plotly.io import to_html  # noqa: PLC0415

    config: dict[str, Any] = {"displaylogo": False, "responsive": False}
    page = to_html(figure, config=config, include_plotlyjs=True, full_html=True)
    head = f'<head><meta name="robots" content="noindex"><title>{escape(title)}</title>'
    return str(page).replace("<head>", head, 1)


def _watermark(text: str) -> list[Figure]:
    if not text:
        return []
    middle = {"xref": "paper", "yref": "paper", "x": 0.5, "y": 0.5}
    font = {"size": WATERMARK_PX, "color": theme.INK}
    return [
        {
            "text": escape(text),
            "showarrow": False,
            "textangle": -24,
            "opacity": WATERMARK_OPACITY,
            "font": font,
            **middle,
        }
    ]


def _source(lines: Sequence[str]) -> Figure:
    return {
        "text": "<br>".join(escape(line) for line in lines),
        "xref": "paper",
        "yref": "paper",
        "x": 0,
        "y": 0,
        "yshift": -52,
        "xanchor": "left",
        "yanchor": "top",
        "align": "left",
        "showarrow": False,
        "font": {"size": 11, "color": theme.INK},
    }
