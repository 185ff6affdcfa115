"""Rules of the history chart: where the history broke, and what scores must reach."""

from collections.abc import Iterable, Iterator
from datetime import datetime
from html import escape

from dashboard.analysis.changes import sentence
from dashboard.analysis.history import History, HistorySweep, Series
from dashboard.analysis.segments import CHECKPOINT, NOTICE, Change
from dashboard.charts import theme
from dashboard.charts.frontier import Figure
from dashboard.vocabulary.checkpoints import base_name
from dashboard.vocabulary.texts import one_line

MOST_LEVELS = 4
RULE_LABEL_PX = 34
LONGEST_NAME = 44
# Beside a rule of a narrow plot: more would lie over the title of the axis.
LONGEST_NARROW_NAME = 14


def rules(history: History, series: Iterable[Series]) -> list[Figure]:
    """Return a line at each break, and at each floor of the series."""
    return [*_rules(history.breaking), *_floors(series)]


def rule_labels(
    history: History, series: Iterable[Series], longest: int = LONGEST_NAME
) -> list[Figure]:
    """Return the words of each break above the plot, and of each floor at its line.

    Of a name that is longer, so many letters of its end are told.
    """
    return [*_rule_labels(history, longest), *_floor_labels(series)]


def moment(at: datetime) -> str:
    """Write a moment as a date axis reads it."""
    return f"{at:%Y-%m-%d %H:%M:%S}"


def room_above(history: History) -> int:
    """Return the px that the words of the breaks need above the plot."""
    return RULE_LABEL_PX * _levels(history)


def _break_words(change: Change, longest: int) -> str:
    """Return what a rule says of a break: two short lines."""
    if change["kind"] == NOTICE:
        return f"break: {escape(one_line(change['text'], longest))}"
    before, after = str(change["from"]), str(change["to"])
    if change["kind"] != CHECKPOINT:
        kind = str(change["kind"]).replace("_", " ")
        return f"{kind}: {_end(before, longest)}<br>\u2192 {_end(after, longest)}"
    names = base_name(before), base_name(after)
    # Another publisher's weights of the same name are told apart by the publisher.
    if names[0].casefold() == names[1].casefold():
        told = [escape(one_line(name, longest)) for name in (before, after)]
    else:
        told = [_end(name, longest) for name in names]
    return f"swap: {told[0]}<br>\u2192 {told[1]}"


def _end(name: str, longest: int) -> str:
    """Return the end of a name: two names of one model differ there."""
    shown = one_line(name, len(name) + 1)
    return escape(shown if len(shown) <= longest else f"\u2026{shown[1 - longest :]}")


def _rules(breaking: Iterable[HistorySweep]) -> Iterator[Figure]:
    for sweep in breaking:
        at = moment(sweep.at)
        yield {
            "type": "line",
            "x0": at,
            "x1": at,
            "yref": "paper",
            "y0": 0,
            "y1": 1,
            "layer": "below",
            "line": {"color": theme.INK, "width": 1.5, "dash": "dash"},
        }


def _levels(history: History) -> int:
    return min(len(history.breaking), MOST_LEVELS)


def _rule_labels(history: History, longest: int) -> Iterator[Figure]:
    """Yield the words of each rule above the plot, a level lower than the one before.

    On the side of the rule where there is room.
    """
    breaking = history.breaking
    moments = [sweep.at for sweep in history.sweeps]
    for place, sweep in enumerate(breaking):
        first, last = moments[0], moments[-1]
        is_late = sweep.at - first > last - sweep.at
        level = place % MOST_LEVELS
        yield {
            "text": "<br>".join(_break_words(c, longest) for c in sweep.breaks),
            "hovertext": escape(one_line("; ".join(map(sentence, sweep.breaks)))),
            "x": moment(sweep.at),
            "y": 1,
            "yref": "paper",
            "xanchor": "right" if is_late else "left",
            "yanchor": "bottom",
            "yshift": 2 + RULE_LABEL_PX * (_levels(history) - 1 - level),
            "align": "right" if is_late else "left",
            "showarrow": False,
            "font": {"size": 11},
        }


def _floors(series: Iterable[Series]) -> Iterator[Figure]:
    for floor in _floor_values(series):
        yield {
            "type": "line",
            "xref": "paper",
            "x0": 0,
            "x1": 1,
            "y0": floor,
            "y1": floor,
            "layer": "below",
            "line": {"color": theme.WARN, "width": 1.5, "dash": "dot"},
        }


def _floor_labels(series: Iterable[Series]) -> Iterator[Figure]:
    for floor in _floor_values(series):
        yield {
            "text": f"floor {floor:g}",
            "xref": "paper",
            "x": 0,
            "y": floor,
            "xanchor": "left",
            "yanchor": "top",
            "showarrow": False,
            "font": {"size": 11},
        }


def _floor_values(series: Iterable[Series]) -> list[float]:
    return sorted({one.floor for one in series if one.floor is not None})
