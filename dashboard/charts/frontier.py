"""The frontier chart: a plain plotly figure of curves over two metrics, or why not."""

import math
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any, NamedTuple

import pandas as pd

from dashboard.analysis.curves import Curve, SweepFacts
from dashboard.analysis.lineage import Opening
from dashboard.charts import theme
from dashboard.charts.axis_titles import axis_title
from dashboard.charts.eval_marks import eval_symbol, outlines
from dashboard.charts.hover import HOVER, customdata, literal
from dashboard.vocabulary.flags import is_about
from dashboard.vocabulary.frameworks import framework_label
from dashboard.vocabulary.hardware import hardware_label
from dashboard.vocabulary.metrics import METRICS
from dashboard.vocabulary.texts import one_line

Figure = dict[str, Any]
Range = tuple[float, float]

# SVG stays fluent up to about this many points.
MOST_POINTS = 5000
# A margin that plotly finds too narrow for five digits and the title makes it draw
# everything twice; it still widens what is too narrow.
TITLE_LINE_PX = 19

ROLES = ("dominated", "out", "frontier")
GHOST = "ghost"
# The roles of unofficial points, by those of official ones.
OVERLAY_ROLES = {
    "dominated": "overlay-dominated",
    "out": "overlay-out",
    "frontier": "overlay",
}
LINE_ROLES = frozenset({"frontier", GHOST, "overlay"})
FAINT_ROLES = frozenset({"dominated", "overlay-dominated"})
_OUT = frozenset({"out", "overlay-out"})


class Axes(NamedTuple):
    """The two metrics, which of them stand on a logarithmic scale, and the zoom.

    ``zoom`` is (x from, x to, y from, y to) in the metrics' units, ``notes`` what is
    said at x and at y.
    """

    x: str
    y: str
    log_x: bool = False
    log_y: bool = False
    zoom: tuple[float, float, float, float] | None = None
    notes: tuple[str, str] = ("", "")


class Overlay(NamedTuple):
    """An unofficial run over the official lines; its points are a frame of their own.

    ``words`` says which run and how far it came, ``look`` is that of all its lines.
    """

    run_id: int
    words: str
    points: pd.DataFrame
    curves: Sequence[Curve]
    look: theme.Look


def frontier_figure(
    points: pd.DataFrame,
    curves: Sequence[Curve],
    axes: Axes,
    former: tuple[pd.DataFrame, Sequence[Curve]] | None = None,
    overlays: Sequence[Overlay] = (),
    openings: Mapping[str, Opening] | None = None,
) -> Figure | str:
    """Return the figure of ``curves``, or the sentence that says why there is none.

    ``points`` has the columns of the points frame and ``standing``. ``former`` holds
    the points and curves of former sweeps, whose frontiers are dotted, ``overlays``
    unofficial runs, dashed and marked with an x. ``openings`` says by key at which
    break the history of a line began; a former sweep of such a key is from before it.
    Every trace's ``meta`` names its key, a short label, its role and its colour on
    light and on dark ground; the first item of ``customdata`` is the point's id.
    """
    placed = _placed(points, axes)
    above = [trace for overlay in overlays for trace in _overlay(overlay, axes)]
    if placed.empty and not above:
        overlaid = sum(len(overlay.points) for overlay in overlays)
        return _nothing(len(points) + overlaid, axes)
    if len(placed) > MOST_POINTS:
        placed = placed[placed["standing"].ne("dominated")]
    begun = openings or {}
    official = [_Line(c, opening=begun.get(c.config_key)) for c in curves]
    traces = _traces(placed, official, axes, ROLES)
    # Frontiers last, so that they lie on top.
    traces.sort(key=lambda trace: trace["meta"]["role"] == "frontier")
    if former:
        ghosts = _placed(former[0].replace({"standing": {"frontier": GHOST}}), axes)
        lines = [_Line(c, opening=begun.get(c.config_key)) for c in former[1]]
        traces = [*_traces(ghosts, lines, axes, (GHOST,)), *traces]
    return {"data": [*traces, *above], "layout": axes_layout(axes)}


class _Line(NamedTuple):
    """Whose points a trace shows: a curve, of an unofficial run where there is one.

    ``opening`` is the break before which it was former, or with which it began.
    """

    curve: Curve
    overlay: Overlay | None = None
    opening: Opening | None = None

    @property
    def look(self) -> theme.Look:
        return self.overlay.look if self.overlay else curve_look(self.curve)

    @property
    def key(self) -> str:
        key = self.curve.config_key
        return overlay_key(key, self.overlay.run_id) if self.overlay else key

    @property
    def name(self) -> str:
        if self.overlay:
            return f"{self.curve.config_key} ({self.overlay.words})"
        return curve_name(self.curve)

    @property
    def label(self) -> str:
        return _label(self.curve, self.overlay)

    @property
    def ghost_name(self) -> str:
        """Return what a former sweep of the key is called."""
        what = self.opening.former_name if self.opening else "former"
        return f"{self.curve.config_key} ({one_line(what)})"

    @property
    def ghost_label(self) -> str:
        """Return a short name of what was before a break, empty where none was."""
        if self.opening is None:
            return ""
        of = self.curve.sweep.checkpoint_short if self.opening.swapped_from else ""
        short = f"{of}, before the swap" if of else self.opening.former_name
        return escape(one_line(short))


def overlay_key(config_key: str, run_id: int) -> str:
    """Return the name under which the page knows a line of an unofficial run."""
    return f"{config_key} of run {run_id}"


def _overlay(overlay: Overlay, axes: Axes) -> list[Figure]:
    points = overlay.points.replace({"standing": OVERLAY_ROLES})
    lines = [_Line(curve, overlay) for curve in overlay.curves]
    return _traces(_placed(points, axes), lines, axes, tuple(OVERLAY_ROLES.values()))


def curve_look(curve: Curve) -> theme.Look:
    """Return how a curve is drawn, for the legend beside the chart."""
    sweep = curve.sweep
    return theme.look(
        hardware=sweep.hardware,
        framework=sweep.framework,
        precision=sweep.precision,
        is_speculative=sweep.is_speculative,
    )


def _placed(points: pd.DataFrame, axes: Axes) -> pd.DataFrame:
    """Return the rows that can be drawn, from left to right."""
    has_place = points["standing"].ne("unplaced")
    for name, is_log in ((axes.x, axes.log_x), (axes.y, axes.log_y)):
        has_place &= points[name].gt(0) if is_log else points[name].notna()
    return points[has_place].sort_values([axes.x, axes.y], kind="stable")


def _nothing(points: int, axes: Axes) -> str:
    above = " above 0, as a logarithmic scale needs" if axes.log_x or axes.log_y else ""
    return (
        f"None of the {points} points of these sweeps has both "
        f"{METRICS[axes.x].phrase} and {METRICS[axes.y].phrase}{above}."
    )


def _traces(
    points: pd.DataFrame, lines: Sequence[_Line], axes: Axes, roles: Sequence[str]
) -> list[Figure]:
    shown = (axes.x, axes.y)
    flagged = [
        any(is_about(code, text, shown) for code, text in flags)
        for flags in points["flags"]
    ]
    drawn = _Drawn(
        points[axes.x].tolist(),
        points[axes.y].tolist(),
        customdata(points),
        flagged,
        points["eval"].tolist(),
    )
    positions = points.groupby(["config_key", "standing"], sort=False).indices
    return [
        _trace(drawn.at(positions[key, role]), line, role, axes)
        for line in lines
        for key, role in ((line.curve.config_key, role) for role in roles)
        if (key, role) in positions
    ]


class _Drawn(NamedTuple):
    """What a trace shows of its points."""

    x: list[float]
    y: list[float]
    customdata: list[list[Any]]
    flagged: list[bool]
    evals: list[str]

    def at(self, positions: Iterable[int]) -> "_Drawn":
        chosen = list(positions)
        return _Drawn(
            [self.x[i] for i in chosen],
            [self.y[i] for i in chosen],
            [self.customdata[i] for i in chosen],
            [self.flagged[i] for i in chosen],
            [self.evals[i] for i in chosen],
        )


def _trace(drawn: _Drawn, line: _Line, role: str, axes: Axes) -> Figure:
    looks = line.look
    is_line = role in LINE_ROLES
    is_ghost = role == GHOST
    label = line.ghost_label if is_ghost else line.label
    trace: Figure = {
        "type": "scatter",
        "mode": "lines+markers" if is_line else "markers",
        "name": escape(line.ghost_name if is_ghost else line.name),
        "legendgroup": escape(line.key),
        # A ghost has its own name where nothing may be compared with it.
        "showlegend": role in {"frontier", "overlay"} or bool(is_ghost and label),
        "x": drawn.x,
        "y": drawn.y,
        "customdata": drawn.customdata,
        "cliponaxis": axes.zoom is not None,
        "hovertemplate": _hover(line, role, axes),
        "marker": _marker(looks, role, drawn),
        "meta": {
            "key": line.key,
            "label": label,
            "role": role,
            "light": looks.colour.light,
            "dark": looks.colour.dark,
            **_segment(line.opening, is_ghost=is_ghost),
        },
    }
    if is_line:
        trace["line"] = _line(looks, role)
    return trace


def _segment(opening: Opening | None, *, is_ghost: bool) -> Figure:
    """Return where the line's segment began, for who reads the figure as JSON.

    Of what was before it, a name that still fits where its label does not.
    """
    if opening is None:
        return {}
    if is_ghost:
        return {"short": "before the swap" if opening.swapped_from else "before"}
    return {
        "swapped_from": escape(one_line(opening.swapped_from)) or None,
        "segment_began_at": opening.at.isoformat(),
    }


def _line(looks: theme.Look, role: str) -> Figure:
    line = {"color": looks.colour.light}
    if role == GHOST:
        return {**line, "dash": theme.GHOST_DASH, "width": theme.GHOST_LINE_PX}
    return {**line, "dash": looks.dash, "width": theme.LINE_PX}


def curve_name(curve: Curve) -> str:
    """Return what a line is: its key, and of each sweep the day and the run."""
    sweeps = " + ".join(
        f"{sweep.measured_at:%Y-%m-%d}, run {sweep.run_id}" for sweep in curve.sweeps
    )
    return f"{curve.config_key} ({sweeps})"


def _label(curve: Curve, overlay: Overlay | None) -> str:
    sweep = curve.sweep
    parts = [hardware_label(sweep.hardware), framework_label(sweep.framework)]
    methods = [method for method in sweep.spec_methods if method != "none"]
    words = " ".join(filter(None, [*parts, sweep.precision, *methods]))
    if not sweep.is_complete:
        words = f"{words}, {sweep.received} of {sweep.planned}"
    return escape(f"run {overlay.run_id}: {words}" if overlay else words)


def _marker(looks: theme.Look, role: str, drawn: _Drawn) -> Figure:
    if role == GHOST:
        return {"color": looks.colour.light, "size": theme.GHOST_MARKER_PX}
    marker = {
        "color": looks.colour.light,
        "symbol": theme.OUT_MARKER if role in _OUT else _symbol(looks, drawn),
        "size": theme.MARKER_PX,
        "opacity": theme.FAINT if role in FAINT_ROLES else 1,
    }
    if role in _OUT:
        return marker
    return {**marker, **outlines(drawn.evals, drawn.flagged)}


def _symbol(looks: theme.Look, drawn: _Drawn) -> str | list[str]:
    """Return the marker of each point; one for all where no eval says anything."""
    symbols = [eval_symbol(looks.marker, outcome) for outcome in drawn.evals]
    return symbols if len(set(symbols)) > 1 else next(iter(symbols), looks.marker)


def _hover(line: _Line, role: str, axes: Axes) -> str:
    key, opening = line.curve.config_key, ""
    if line.overlay:
        key = line.name
    elif role == GHOST:
        key = line.ghost_name
    elif line.opening:
        opening = f"<br>{literal(one_line(line.opening.sentence))}"
    return HOVER.format(
        key=literal(key),
        checkpoint=literal(one_line(line.curve.sweep.checkpoint))
        + _acceptance(line.curve.sweep),
        opening=opening,
        x=METRICS[axes.x].title,
        y=METRICS[axes.y].title,
    )


def _acceptance(sweep: SweepFacts) -> str:
    """Say where the acceptance length comes from, where some point has one."""
    if not sweep.acceptance_label:
        return ""
    where = " where speculative" if "none" in sweep.spec_methods else ""
    return f"<br>acceptance{where}: {sweep.acceptance_label}"


def axes_layout(axes: Axes) -> Figure:
    """Return the layout of a chart over two metrics."""
    zoom = axes.zoom
    x, y = (axis_title(axes.x, axes.notes[0]), axis_title(axes.y, axes.notes[1]))
    left, bottom = (title.count("<br>") * TITLE_LINE_PX for title in (y, x))
    return {
        "xaxis": _axis(x, zoom[:2] if zoom else None, is_log=axes.log_x),
        "yaxis": _axis(y, zoom[2:] if zoom else None, is_log=axes.log_y),
        **theme.frame(margin={"l": 80 + left, "r": 16, "t": 12, "b": 56 + bottom}),
    }


def _axis(title: str, shown: Range | None, *, is_log: bool) -> Figure:
    axis: Figure = {
        "title": {"text": title, "standoff": 12},
        "type": "log" if is_log else "linear",
        "rangemode": "normal" if is_log else "tozero",
        "gridcolor": theme.GRID,
        "zerolinecolor": theme.GRID,
        "tickformat": ",~r",
        "automargin": True,
    }
    if is_log:
        axis["dtick"] = "D2"
    if shown and not (is_log and shown[0] <= 0):
        axis["range"] = [math.log10(end) for end in shown] if is_log else list(shown)
        axis["autorange"] = False
    return axis
