"""The chart of job success over time: a line per group, broken where no job ran."""

from collections.abc import Sequence
from datetime import date, datetime, time, timedelta
from html import escape
from typing import NamedTuple

from dashboard.analysis.reliability import JobCounts
from dashboard.charts import theme
from dashboard.charts.frontier import Figure
from dashboard.charts.history import SYMBOLS
from dashboard.vocabulary.texts import one_line

LONGEST_LABEL = 44
ALL_JOBS = theme.Colour(theme.INK, theme.UNKNOWN_HARDWARE.dark)
# What the axis keeps free below the lowest rate and above 100 %, as fractions; above
# less than a tick, so that none says 101 %.
MARGIN, ABOVE = 0.05, 0.009
_HOVER = "%{customdata[1]}<extra></extra>"


class RateLine(NamedTuple):
    """One line: its group, None for all jobs, and the jobs by the period's first day.

    A period without jobs has no entry.
    """

    group: str | None
    label: str
    hardware: str
    counts: dict[date, JobCounts]


def reliability_figure(
    lines: Sequence[RateLine], begins: Sequence[date]
) -> Figure | str:
    """Return the figure over periods by their first days, or why there is none.

    A line has a gap where no job succeeded or failed. ``customdata`` begins with the
    group's name and the period.
    """
    rates = [c.rate for line in lines for c in line.counts.values()]
    known = [rate for rate in rates if rate is not None]
    if not known:
        return "No job succeeded or failed in this time."
    traces = [_trace(line, place, begins) for place, line in enumerate(lines)]
    return {"data": traces, "layout": _layout(min(known), begins)}


def line_look(line: RateLine, place: int) -> theme.Look:
    """Return how a line is drawn, by its place, for the legend below the chart."""
    if line.group is None:
        return theme.Look(ALL_JOBS, "circle-open", theme.GHOST_DASH)
    colour = theme.HARDWARE.get(line.hardware, theme.UNKNOWN_HARDWARE)
    return theme.Look(colour, SYMBOLS[place % len(SYMBOLS)], "solid")


def _trace(line: RateLine, place: int, begins: Sequence[date]) -> Figure:
    look = line_look(line, place)
    counts = [line.counts.get(begin) for begin in begins]
    label = escape(one_line(line.label, LONGEST_LABEL))
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "name": label,
        "showlegend": True,
        "connectgaps": False,
        "x": [begin.isoformat() for begin in begins],
        "y": [None if found is None else found.rate for found in counts],
        "customdata": [
            [f"{line.label}|{begin}", _told(label, begin, found)]
            for begin, found in zip(begins, counts, strict=True)
        ],
        "hovertemplate": _HOVER,
        "cliponaxis": False,
        "line": {
            "color": look.colour.light,
            "width": theme.LINE_PX,
            "dash": look.dash,
        },
        "marker": {
            "color": look.colour.light,
            "symbol": look.marker,
            "size": theme.MARKER_PX,
        },
        "meta": {
            "key": line.label,
            "label": label,
            "role": "series",
            "light": look.colour.light,
            "dark": look.colour.dark,
        },
    }


def _told(label: str, begin: date, counts: JobCounts | None) -> str:
    """Return what a pointer is told of one period."""
    if counts is None or counts.rate is None or counts.interval is None:
        return ""
    low, high = counts.interval
    others = (
        f"{counts.failed} failed, {counts.cancelled} cancelled, "
        f"{counts.skipped} skipped, {counts.after_retry} after a retry"
    )
    rate = f"{counts.rate:.1%} of {counts.n} jobs (95 %: {low:.1%} to {high:.1%})"
    return "<br>".join((f"{label}, from {begin}", rate, others))


def _layout(lowest: float, begins: Sequence[date]) -> Figure:
    lines = {
        "gridcolor": theme.GRID,
        "zerolinecolor": theme.GRID,
        "automargin": True,
    }
    half = (begins[1] - begins[0] if len(begins) > 1 else timedelta(days=1)) / 2
    first, last = (datetime.combine(day, time.min) for day in (begins[0], begins[-1]))
    return {
        "xaxis": {
            **lines,
            "type": "date",
            "title": {"text": "Runs made in the time from (UTC)", "standoff": 8},
            "range": [(first - half).isoformat(), (last + half).isoformat()],
            "autorange": False,
        },
        "yaxis": {
            **lines,
            "title": {"text": "Jobs that succeeded (%)", "standoff": 12},
            "range": [max(0.0, lowest - MARGIN) - ABOVE, 1 + ABOVE],
            "autorange": False,
            "tickformat": ".0%",
            "zeroline": False,
        },
        **theme.frame(margin={"l": 72, "r": 24, "t": 16, "b": 56}),
    }
