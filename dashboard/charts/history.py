"""The history chart: series over official dates, broken where the history breaks."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from html import escape
from typing import Any, NamedTuple

from dashboard.analysis.changes import sentence
from dashboard.analysis.history import History, HistorySweep, Series, Value
from dashboard.analysis.segments import (
    GRID,
    IMAGE,
    NOTICE,
    RECIPE,
    RUNNER,
)
from dashboard.charts import theme
from dashboard.charts.exports import Words, export_layout
from dashboard.charts.frontier import Figure
from dashboard.charts.history_rules import (
    LONGEST_NARROW_NAME,
    moment,
    room_above,
    rule_labels,
    rules,
)
from dashboard.vocabulary.texts import one_line

# Series differ by their marker; the colour says the GPU, on this page as on all.
SYMBOLS = ("circle", "square", "diamond", "triangle-up", "pentagon", "hexagon")
# What changed inside a segment: a row of the strip below the chart per kind.
STRIP = {
    NOTICE: ("notice", "star"),
    RUNNER: ("runner", "triangle-up"),
    GRID: ("grid", "square"),
    RECIPE: ("recipe", "diamond"),
    IMAGE: ("image", "circle"),
}
STRIP_ROW = 0.055  # of the height of the plot
STRIP_GAP = 0.06
HOLLOW_PX = 9
ROOM_FOR_ONE = timedelta(days=4)

_HOVER = (
    "{series}: %{{y:,.7~r}}%{{customdata[7]}}<br>%{{customdata[2]}}, run "
    "%{{customdata[1]}}%{{customdata[5]}}<br>%{{customdata[3]}}"
    "<br>%{{customdata[4]}}<br>%{{customdata[6]}}<extra></extra>"
)
_STRIP_HOVER = (
    "%{customdata[2]}, run %{customdata[1]}<br>%{customdata[3]}<extra></extra>"
)


class HistoryAxis(NamedTuple):
    """What the values are: the title with its unit, and what is missing without any."""

    title: str
    nothing: str


def history_figure(
    series: Sequence[Series], history: History, look: theme.Look, axis: HistoryAxis
) -> Figure | str:
    """Return the figure of the series, or the sentence that says why there is none.

    A line stays within a segment, and within it breaks where a sweep has no value.
    Held sweeps are hollow and on no line. Where the history broke stands a rule with
    what it broke from and to; other changes stand in a strip below. ``customdata``
    begins with the sweep's id.
    """
    known = {sweep.sweep_id for sweep in history.sweeps}
    if not any(known & one.values.keys() for one in series):
        return axis.nothing
    traces = [
        trace
        for place, one in enumerate(series)
        for trace in _traces(one, history, series_look(look, place))
    ]
    strip = list(_strip(history.counted))
    layout = _layout(axis, [trace["y"][0] for trace in strip])
    drawn = [s for s in history.sweeps if any(s.sweep_id in o.values for o in series)]
    layout["xaxis"] |= _room_for_one({s.at for s in drawn}, history)
    layout["yaxis"] |= _room_for_one_value(series, drawn)
    layout["shapes"] = rules(history, series)
    layout["annotations"] = rule_labels(history, series)
    narrow = rule_labels(history, series, LONGEST_NARROW_NAME)
    layout["meta"] = {"narrow_annotations": narrow}
    layout["margin"]["t"] += room_above(history)
    return {"data": [*traces, *strip], "layout": layout}


def series_look(look: theme.Look, place: int) -> theme.Look:
    """Return how a series is drawn, by its place, for the legend below the chart."""
    return look._replace(marker=SYMBOLS[place % len(SYMBOLS)], dash="solid")


def _traces(series: Series, history: History, look: theme.Look) -> Iterator[Figure]:
    segments: dict[int | None, list[HistorySweep]] = {}
    for sweep in history.counted:
        segments.setdefault(sweep.segment, []).append(sweep)
    drawn = [
        (segment, sweeps)
        for segment, sweeps in segments.items()
        if any(sweep.sweep_id in series.values for sweep in sweeps)
    ]
    for segment, sweeps in drawn:
        is_last = segment == drawn[-1][0]
        trace = _trace(series, sweeps, look, "series" if is_last else "segment")
        trace["marker"] |= {"symbol": look.marker, "size": theme.MARKER_PX}
        trace["mode"] = "lines+markers"
        trace["line"] = {"color": look.colour.light, "width": theme.LINE_PX}
        trace["connectgaps"] = False
        trace["meta"]["segment"] = segment
        yield trace
    held = [s for s in history.sweeps if s.is_held and s.sweep_id in series.values]
    if held:
        trace = _trace(series, held, look, "held")
        trace["name"] = escape(f"{series.name}, held")
        trace["marker"] |= {"symbol": f"{look.marker}-open", "size": HOLLOW_PX}
        trace["mode"] = "markers"
        yield trace


def _trace(
    series: Series, sweeps: Sequence[HistorySweep], look: theme.Look, role: str
) -> Figure:
    values = [series.values.get(sweep.sweep_id) for sweep in sweeps]
    trace: Figure = {
        "type": "scatter",
        "name": escape(series.name),
        "legendgroup": escape(series.name),
        "showlegend": role == "series",
        "x": [moment(sweep.at) for sweep in sweeps],
        "y": [None if value is None else value.value for value in values],
        "customdata": [
            _customdata(sweep, value)
            for sweep, value in zip(sweeps, values, strict=True)
        ],
        "hovertemplate": _HOVER.format(series=_literal(series.name)),
        "cliponaxis": False,
        "marker": {"color": look.colour.light},
        "meta": {
            "key": series.name,
            "label": escape(series.label),
            "role": role,
            "light": look.colour.light,
            "dark": look.colour.dark,
        },
    }
    if any(value is not None and value.low is not None for value in values):
        trace["error_y"] = _bars(values)
    return trace


def _bars(values: Iterable[Value | None]) -> Figure:
    above: list[float] = []
    below: list[float] = []
    for found in values:
        is_bound = found is not None and None not in (found.low, found.high)
        above.append(found.high - found.value if is_bound else 0.0)  # type: ignore[union-attr,operator]
        below.append(found.value - found.low if is_bound else 0.0)  # type: ignore[union-attr,operator]
    return {
        "type": "data",
        "symmetric": False,
        "array": above,
        "arrayminus": below,
        "thickness": 1,
        "width": 3,
    }


def _customdata(sweep: HistorySweep, value: Value | None) -> list[Any]:
    facts = sweep.facts
    notes = [f"{facts.received} of {facts.planned}" if facts.planned else ""]
    notes += ["held" if sweep.is_held else ""]
    interval = ""
    if value is not None and value.low is not None and value.high is not None:
        interval = f" (95 %: {value.low:.4f} to {value.high:.4f})"
    where = f" at {escape(value.where)}" if value is not None and value.where else ""
    return [
        sweep.sweep_id,
        facts.run_id,
        f"{sweep.at:%Y-%m-%d}",
        escape(one_line(facts.checkpoint or "checkpoint unknown")),
        escape(one_line(facts.image or "image unknown")),
        f", PR #{sweep.pull.number}" if sweep.pull else "",
        ", ".join(filter(None, [f"segment {sweep.segment or 'none'}", *notes])),
        f"{interval}{where}",
    ]


def _strip(sweeps: Sequence[HistorySweep]) -> Iterator[Figure]:
    """Yield the changes inside segments, one trace per kind, lowest row first."""
    for kind, (word, symbol) in STRIP.items():
        found = [
            (sweep, change)
            for sweep in sweeps
            for change in sweep.markers
            if change["kind"] == kind
        ]
        if not found:
            continue
        yield {
            "type": "scatter",
            "mode": "markers",
            "name": word,
            "showlegend": False,
            "x": [moment(sweep.at) for sweep, _ in found],
            "y": [word] * len(found),
            "yaxis": "y2",
            "customdata": [
                [
                    sweep.sweep_id,
                    sweep.facts.run_id,
                    f"{sweep.at:%Y-%m-%d}",
                    escape(one_line(sentence(change))),
                ]
                for sweep, change in found
            ],
            "hovertemplate": _STRIP_HOVER,
            "cliponaxis": False,
            "marker": {
                "symbol": symbol,
                "size": theme.MARKER_PX,
                "color": theme.INK,
            },
            "meta": {
                "key": f"changes of {word}",
                "label": word,
                "role": "marker",
                "light": theme.INK,
                "dark": theme.UNKNOWN_HARDWARE.dark,
            },
        }


def _layout(axis: HistoryAxis, rows: Sequence[str]) -> Figure:
    bottom = STRIP_ROW * len(rows) + STRIP_GAP if rows else 0.0
    lines: Mapping[str, Any] = {
        "gridcolor": theme.GRID,
        "zerolinecolor": theme.GRID,
        "automargin": True,
    }
    layout: Figure = {
        "xaxis": {
            **lines,
            "type": "date",
            "title": {"text": "Official date (UTC)", "standoff": 8},
            "anchor": "y2" if rows else "y",
            "hoverformat": "%Y-%m-%d %H:%M",
        },
        "yaxis": {
            **lines,
            "title": {"text": axis.title, "standoff": 12},
            "domain": [bottom, 1],
            "tickformat": ",~r",
            "zeroline": False,
        },
        **theme.frame(margin={"l": 72, "r": 24, "t": 16, "b": 56}),
    }
    if rows:
        layout["yaxis2"] = {
            **lines,
            "type": "category",
            "categoryorder": "array",
            "categoryarray": list(rows),
            "range": [-0.6, len(rows) - 0.4],
            "domain": [0, STRIP_ROW * len(rows)],
            "fixedrange": True,
            "tickfont": {"size": 11},
        }
    return layout


def _room_for_one(drawn: set[datetime], history: History) -> Figure:
    """Return a range of days around a single date, which has none of its own.

    It takes in the sweeps that have no value there, such as a held one.
    """
    if len(drawn) > 1:
        return {}
    moments = [sweep.at for sweep in history.sweeps]
    ends = [moment(min(moments) - ROOM_FOR_ONE), moment(max(moments) + ROOM_FOR_ONE)]
    return {"range": ends, "autorange": False}


def _room_for_one_value(
    series: Iterable[Series], drawn: Iterable[HistorySweep]
) -> Figure:
    """Return a tenth of room around a single value, which has no range of its own."""
    sweeps = list(drawn)
    found = [
        one.values[s.sweep_id]
        for one in series
        for s in sweeps
        if s.sweep_id in one.values
    ]
    if len(found) != 1 or found[0].low is not None or found[0].value == 0:
        return {}
    value = found[0].value
    return {"range": sorted([0.9 * value, 1.1 * value]), "autorange": False}


def _literal(text: str) -> str:
    """Escape text that stands in a hover template itself."""
    return escape(text).replace("%{", "% {")


def history_export(figure: Figure, words: Words, series: int) -> Figure:
    """Return the layout of the chart away from its page, rules and words kept."""
    own = figure["layout"]
    layout = export_layout(words, series, None)
    above = int(own["margin"]["t"])
    # At the very top: below it stand the words of the rules.
    top = {"y": 0.97, "yref": "container", "yanchor": "top"}
    return {
        **layout,
        "title": {**layout["title"], **top},
        "annotations": [*own["annotations"], *layout["annotations"]],
        "shapes": own["shapes"],
        "margin": {**layout["margin"], "t": layout["margin"]["t"] + above},
    }
