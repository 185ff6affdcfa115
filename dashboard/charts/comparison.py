"""Two sweeps of one key over each other, the gap between their step curves shaded."""

from collections.abc import Iterable, Iterator, Sequence
from html import escape
from typing import Any, NamedTuple

import pandas as pd

from dashboard.analysis.step_curves import Stretch
from dashboard.charts import theme
from dashboard.charts.frontier import Axes, Figure, axes_layout
from dashboard.charts.hover import literal
from dashboard.vocabulary.metrics import METRICS
from dashboard.vocabulary.texts import one_line

BASE_DASH = "2px,3px"
# Filled where the head lies above, hatched where it lies below: told without colour.
BETTER = theme.Colour("#17653f", "#7fd1a4")
WORSE = theme.Colour("#a3221c", "#ff9d94")
_NEUTRAL = theme.UNKNOWN_HARDWARE
_FILL = {"better": "rgba(40,150,95,0.20)", "worse": "rgba(205,60,50,0.20)"}
_PATTERN = {"better": ".", "worse": "/"}
_NEUTRAL_FILL = "rgba(125,138,150,0.22)"

HOVER = (
    "{side}<br>%{{customdata[1]}}, concurrency %{{customdata[2]}}"
    "<br>{x}: %{{x:,.7~r}}<br>{y}: %{{y:,.7~r}}%{{customdata[3]}}<extra></extra>"
)


class DrawnSide(NamedTuple):
    """One side: ``role`` is base or head, ``words`` say which run and of when.

    ``points`` has ``place_id``, ``deployment``, ``concurrency``, x, y, ``standing``
    and ``is_paired``; ``corners`` are those of its step curve.
    """

    role: str
    words: str
    points: pd.DataFrame
    corners: Sequence[tuple[float, float]]
    look: theme.Look


def base_look(base: theme.Look, head: theme.Look) -> theme.Look:
    """Return how the base is drawn where the head is drawn like this.

    Two official sweeps of a key look alike: the older one is dotted and hollow.
    """
    if base.marker != head.marker:
        return base
    return theme.Look(base.colour, f"{base.marker}-open", BASE_DASH)


def comparison_figure(
    base: DrawnSide,
    head: DrawnSide,
    gap: Sequence[Stretch],
    axes: Axes,
    *,
    is_judged: bool,
) -> Figure | str:
    """Return the figure, or the sentence that says why there is none.

    The gap is shaded where both step curves have a value; without a colour that
    judges where nothing is judged. Traces have ``meta`` as those of
    :func:`dashboard.charts.frontier.frontier_figure`.
    """
    if not base.corners and not head.corners:
        return "Neither side has a point with both metrics that no flag keeps off."
    traces = [
        *_gaps(gap, is_judged=is_judged),
        *(trace for side in (base, head) for trace in _side(side, axes)),
    ]
    return {"data": traces, "layout": axes_layout(axes)}


def _gaps(gap: Iterable[Stretch], *, is_judged: bool) -> Iterator[Figure]:
    known = [
        (stretch, stretch.base, stretch.head)
        for stretch in gap
        if stretch.base is not None and stretch.head is not None
    ]
    for word, colour, is_above in (("better", BETTER, True), ("worse", WORSE, False)):
        boxes = [
            _box(stretch, base, head)
            for stretch, base, head in known
            if base != head and (head > base) == is_above
        ]
        if boxes:
            shown = colour if is_judged else _NEUTRAL
            fill = _FILL[word] if is_judged else _NEUTRAL_FILL
            yield _gap(word, boxes, shown, fill)


def _box(
    stretch: Stretch, base: float, head: float
) -> tuple[list[float | None], list[float | None]]:
    """Return the outline of one stretch of the gap, ended by a hole."""
    low, high = stretch.low, stretch.high
    return [low, high, high, low, low, None], [base, base, head, head, base, None]


def _gap(
    word: str,
    boxes: Sequence[tuple[list[float | None], list[float | None]]],
    colour: theme.Colour,
    fill: str,
) -> Figure:
    return {
        "type": "scatter",
        "mode": "lines",
        "name": f"head {'above' if word == 'better' else 'below'} base",
        "legendgroup": f"gap-{word}",
        "showlegend": True,
        "x": [x for xs, _ in boxes for x in xs],
        "y": [y for _, ys in boxes for y in ys],
        "fill": "toself",
        "fillcolor": fill,
        "fillpattern": {
            "shape": _PATTERN[word],
            "fgcolor": colour.light,
            "bgcolor": fill,
            "size": 7,
            "solidity": 0.18,
        },
        "line": {"color": colour.light, "width": 0},
        "hoverinfo": "skip",
        "meta": _meta(f"gap-{word}", "", "gap", colour),
    }


def _side(side: DrawnSide, axes: Axes) -> Iterator[Figure]:
    if side.corners:
        yield _line(side)
    for standing in ("dominated", "frontier"):
        chosen = side.points[side.points["standing"].eq(standing)]
        if len(chosen):
            yield _points(side, chosen, axes, standing)


def _line(side: DrawnSide) -> Figure:
    """Return the step curve: a looser target than the first corner's is met, too."""
    xs, ys = zip(*side.corners, strict=True)
    return {
        "type": "scatter",
        "mode": "lines",
        "name": escape(_name(side)),
        "legendgroup": side.role,
        "showlegend": True,
        "x": [0.0, *xs],
        "y": [ys[0], *ys],
        "hoverinfo": "skip",
        "line": {
            "color": side.look.colour.light,
            "dash": side.look.dash,
            "width": theme.LINE_PX,
            "shape": "vh",
        },
        "meta": _meta(side.role, side.role, "frontier", side.look.colour),
    }


def _points(side: DrawnSide, points: pd.DataFrame, axes: Axes, standing: str) -> Figure:
    return {
        "type": "scatter",
        "mode": "markers",
        "name": escape(f"{_name(side)}, {standing}"),
        "legendgroup": side.role,
        "showlegend": False,
        "x": points[axes.x].tolist(),
        "y": points[axes.y].tolist(),
        "customdata": _customdata(points),
        "cliponaxis": False,
        "hovertemplate": HOVER.format(
            side=literal(_name(side)),
            x=METRICS[axes.x].title,
            y=METRICS[axes.y].title,
        ),
        "marker": {
            "color": side.look.colour.light,
            "symbol": side.look.marker,
            "size": theme.MARKER_PX,
            "opacity": theme.FAINT if standing == "dominated" else 1,
        },
        "meta": _meta(side.role, "", f"{standing} points", side.look.colour),
    }


def _customdata(points: pd.DataFrame) -> list[list[Any]]:
    columns = ["place_id", "deployment", "concurrency", "is_paired"]
    rows = points[columns].itertuples(index=False, name=None)
    return [
        [
            place_id,
            escape(one_line(deployment)),
            concurrency,
            "" if is_paired else "<br>only this side measured it",
        ]
        for place_id, deployment, concurrency, is_paired in rows
    ]


def _name(side: DrawnSide) -> str:
    return one_line(f"{side.role}: {side.words}")


def _meta(key: str, label: str, role: str, colour: theme.Colour) -> Figure:
    dark, light = colour.dark, colour.light
    return {"key": key, "label": label, "role": role, "light": light, "dark": dark}
