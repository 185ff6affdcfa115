"""The frontier chart: a plain plotly figure of curves over two metrics, or why not."""

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any, NamedTuple

import pandas as pd

from dashboard.analysis.curves import Curve
from dashboard.charts import theme
from dashboard.vocabulary.frameworks import framework_label
from dashboard.vocabulary.hardware import hardware_label
from dashboard.vocabulary.metrics import METRICS, Metric

Figure = dict[str, Any]

# SVG stays fluent up to about this many points.
MOST_POINTS = 5000

ROLES = ("dominated", "out", "frontier")

_HOVERED = (
    "point_id",
    "deployment",
    "concurrency",
    "run_id",
    "measured_at",
    "image",
    "flags",
)

# No bold: plotly makes it with style attributes, which the pages' policy forbids.
_HOVER = (
    "{key}<br>{checkpoint}<br>%{{customdata[1]}}, concurrency %{{customdata[2]}}"
    "<br>{x}: %{{x:,.7~r}}<br>{y}: %{{y:,.7~r}}"
    "<br>run %{{customdata[3]}}, %{{customdata[4]}}<br>%{{customdata[5]}}"
    "%{{customdata[6]}}<extra></extra>"
)


def frontier_figure(
    points: pd.DataFrame, curves: Sequence[Curve], x: str, y: str
) -> Figure | str:
    """Return the figure of ``curves``, or the sentence that says why there is none.

    ``points`` has the columns of the points frame and ``standing``. Every trace's
    ``meta`` names its key, a short label, its role and its colour on light and on dark
    ground; the
    first item of ``customdata`` is the point's id.
    """
    placed = points[points["standing"].ne("unplaced") & _has_both(points, x, y)]
    if placed.empty:
        return (
            f"None of the {len(points)} points of these sweeps has both "
            f"{METRICS[x].phrase} and {METRICS[y].phrase}."
        )
    if len(placed) > MOST_POINTS:
        placed = placed[placed["standing"].ne("dominated")]
    traces = _traces(placed.sort_values([x, y], kind="stable"), curves, x, y)
    # Frontiers last, so that they lie on top.
    traces.sort(key=lambda trace: trace["meta"]["role"] == "frontier")
    return {"data": traces, "layout": _layout(METRICS[x], METRICS[y])}


def curve_look(curve: Curve) -> theme.Look:
    """Return how a curve is drawn, for the legend beside the chart."""
    sweep = curve.sweep
    return theme.look(
        hardware=sweep.hardware,
        framework=sweep.framework,
        precision=sweep.precision,
        is_speculative=sweep.is_speculative,
    )


def _has_both(points: pd.DataFrame, x: str, y: str) -> "pd.Series[bool]":
    return points[x].notna() & points[y].notna()


def _traces(
    points: pd.DataFrame, curves: Sequence[Curve], x: str, y: str
) -> list[Figure]:
    drawn = _Drawn(points[x].tolist(), points[y].tolist(), _customdata(points))
    positions = points.groupby(["config_key", "standing"], sort=False).indices
    return [
        _trace(drawn.at(positions[key, role]), curve, role, (METRICS[x], METRICS[y]))
        for curve in curves
        for key, role in ((curve.config_key, role) for role in ROLES)
        if (key, role) in positions
    ]


class _Drawn(NamedTuple):
    """What a trace shows of its points."""

    x: list[float]
    y: list[float]
    customdata: list[list[Any]]

    def at(self, positions: Iterable[int]) -> "_Drawn":
        chosen = list(positions)
        return _Drawn(
            [self.x[i] for i in chosen],
            [self.y[i] for i in chosen],
            [self.customdata[i] for i in chosen],
        )


def _trace(
    drawn: _Drawn, curve: Curve, role: str, axes: tuple[Metric, Metric]
) -> Figure:
    looks = curve_look(curve)
    trace: Figure = {
        "type": "scatter",
        "mode": "lines+markers" if role == "frontier" else "markers",
        "name": curve.config_key,
        **drawn._asdict(),
        "cliponaxis": False,
        "hovertemplate": _hover(curve, *axes),
        "marker": _marker(looks, role),
        "meta": {
            "key": curve.config_key,
            "label": _label(curve),
            "role": role,
            "light": looks.colour.light,
            "dark": looks.colour.dark,
        },
    }
    if role == "frontier":
        line = {"color": looks.colour.light, "dash": looks.dash}
        trace["line"] = {**line, "width": theme.LINE_PX}
    return trace


def _label(curve: Curve) -> str:
    sweep = curve.sweep
    parts = [hardware_label(sweep.hardware), framework_label(sweep.framework)]
    methods = [method for method in sweep.spec_methods if method != "none"]
    return escape(" ".join(filter(None, [*parts, sweep.precision, *methods])))


def _marker(looks: theme.Look, role: str) -> Figure:
    return {
        "color": looks.colour.light,
        "symbol": theme.OUT_MARKER if role == "out" else looks.marker,
        "size": theme.MARKER_PX,
        "opacity": theme.FAINT if role == "dominated" else 1,
    }


def _hover(curve: Curve, x: Metric, y: Metric) -> str:
    return _HOVER.format(
        key=_literal(curve.config_key),
        checkpoint=_literal(curve.sweep.checkpoint),
        x=x.title,
        y=y.title,
    )


def _customdata(points: pd.DataFrame) -> list[list[Any]]:
    rows = points[list(_HOVERED)].itertuples(index=False, name=None)
    return [
        [
            point_id,
            escape(deployment),
            concurrency,
            run_id,
            f"{measured_at:%Y-%m-%d}",
            escape(image),
            "".join(f"<br>{escape(text)}" for _, text in flags),
        ]
        for point_id, deployment, concurrency, run_id, measured_at, image, flags in rows
    ]


def _literal(text: str) -> str:
    """Escape text that stands in a hover template itself."""
    return escape(text).replace("%{", "% {")


def _layout(x: Metric, y: Metric) -> Figure:
    return {
        "xaxis": _axis(x),
        "yaxis": _axis(y),
        "showlegend": False,
        "hovermode": "closest",
        "hoverlabel": {
            "align": "left",
            "font": {"family": theme.FONT, "size": 12},
            "namelength": -1,
        },
        "font": {"family": theme.FONT, "size": 12, "color": theme.INK},
        "margin": {"l": 72, "r": 16, "t": 12, "b": 56},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "dragmode": "zoom",
    }


def _axis(metric: Metric) -> Figure:
    return {
        "title": {"text": metric.title, "standoff": 12},
        "rangemode": "tozero",
        "gridcolor": theme.GRID,
        "zerolinecolor": theme.GRID,
        "tickformat": ",~r",
        "automargin": True,
    }
