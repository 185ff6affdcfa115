"""A figure as a still picture: what is seen until the script draws it, or without one.

It has the figure's axes, lines and points, where the plot has them within a few px,
but no hover. Points are dots, which are quick to draw; who has no script sees the
markers of the figure instead.
"""

import math
from collections.abc import Collection, Iterable, Iterator, Sequence
from html import escape
from typing import Any, NamedTuple

from dashboard.charts.frontier import FAINT_ROLES, LINE_ROLES, Figure
from dashboard.charts.markers import dash_pattern, marker
from dashboard.charts.theme import MARKER_PX

BOX = 2000  # units of width and of height; the box is stretched to its place
# What plotly leaves free beyond the outermost points, as a share of an axis.
_FREE = 0.06
_INTERVALS = 10
_NICE = (1, 2, 5, 10)
_MOST_DECADES = 4  # more have no room for the 2 and the 5 of each
# Beyond these lengths and decades of an axis, floats end before its ticks do.
_SHORTEST, _LONGEST, _FURTHEST_DECADE = 1e-290, 1e290, 300


class _Scale(NamedTuple):
    """Where an axis has its values; on a log one its ends are logarithms."""

    low: float
    high: float
    is_log: bool

    @property
    def is_drawable(self) -> bool:
        """Tell whether floats can place ticks on it."""
        if self.is_log and max(abs(self.low), abs(self.high)) > _FURTHEST_DECADE:
            return False
        return _SHORTEST < self.high - self.low < _LONGEST

    def share(self, value: float) -> float:
        """Return how far along the axis a value is, 0 to 1 within it."""
        placed = math.log10(value) if self.is_log else value
        return (placed - self.low) / (self.high - self.low)

    def ticks(self) -> list[float]:
        """Return round values from low to high."""
        if self.is_log:
            return [value for value in self._log_ticks() if 0 <= self.share(value) <= 1]
        rough = (self.high - self.low) / _INTERVALS
        base = 10.0 ** math.floor(math.log10(rough))
        step = base * next(nice for nice in _NICE if base * nice >= rough * 0.999)
        first, last = math.ceil(self.low / step), math.floor(self.high / step)
        return [number * step for number in range(first, last + 1)]

    def _log_ticks(self) -> Iterator[float]:
        decades = range(math.floor(self.low), math.ceil(self.high) + 1)
        digits = (1, 2, 5) if self.high - self.low <= _MOST_DECADES else (1,)
        for decade in decades:
            yield from (digit * 10.0**decade for digit in digits)


def still(
    figure: Figure, hidden: Collection[str] = (), *, has_markers: bool = True
) -> str:
    """Return safe HTML of a frontier figure's axes, lines and points.

    ``hidden`` are the keys that are switched off. A colour is that of light or of dark
    ground, as the page has it. Axes with a range (of a zoom) keep it, others hold all
    that is visible. Of axes beyond what can be measured the picture is empty. Markers
    can be left out where a script has asked.
    """
    traces = [t for t in figure["data"] if t["meta"]["key"] not in hidden]
    layout = figure["layout"]
    x = _scale(layout["xaxis"], [value for t in traces for value in t["x"]])
    y = _scale(layout["yaxis"], [value for t in traces for value in t["y"]])
    lines = marks = grid = ""
    if x.is_drawable and y.is_drawable:
        lines = "".join(_drawn(trace, x, y) for trace in traces)
        grid = _grid(x, y)
        if has_markers:
            marks = "".join([*_shapes(traces), *(_marks(t, x, y) for t in traces)])
            marks = f'<noscript><svg class="still-marks">{marks}</svg></noscript>'
    left, below = (_lines_of(layout[axis]) - 1 for axis in ("yaxis", "xaxis"))
    return (
        f'<div class="still still-left-{left} still-below-{below}" data-still=""'
        ' aria-hidden="true">'
        f'<svg class="still-axes">{grid}</svg>'
        f'<svg class="still-lines" viewBox="0 0 {BOX} {BOX}"'
        f' preserveAspectRatio="none">{lines}</svg>{marks}</div>'
    )


def _lines_of(axis: dict[str, Any]) -> int:
    return int(axis["title"]["text"].count("<br>")) + 1


def _scale(axis: dict[str, Any], values: Sequence[float]) -> _Scale:
    """Return an axis as plotly chooses it: from zero, or free at both ends if log."""
    is_log = axis["type"] == "log"
    if "range" in axis:
        low, high = axis["range"]
        return _Scale(low, high if high > low else low + 1, is_log)
    placed = [math.log10(value) for value in values] if is_log else values
    low, high = min(placed, default=0.0), max(placed, default=1.0)
    if is_log:
        free = (high - low) * _FREE / (1 - 2 * _FREE) or 0.5
        return _Scale(low - free, high + free, is_log)
    low, high = min(low, 0.0), max(high, 0.0)
    return _Scale(low, low + ((high - low) or 1.0) / (1 - _FREE), is_log)


def _grid(x: _Scale, y: _Scale) -> str:
    """Return lines and numbers of the axes, at shares of whatever place there is."""
    columns = ((x.share(value) * 100, _number(value)) for value in x.ticks())
    rows = ((100 - y.share(value) * 100, _number(value)) for value in y.ticks())
    return "".join(
        f'<line x1="{at:.2f}%" x2="{at:.2f}%" y1="0" y2="100%"/>'
        f'<text class="still-x" x="{at:.2f}%" y="100%" dy="16">{text}</text>'
        for at, text in columns
    ) + "".join(
        f'<line x1="0" x2="100%" y1="{at:.2f}%" y2="{at:.2f}%"/>'
        f'<text class="still-y" x="-5" y="{at:.2f}%">{text}</text>'
        for at, text in rows
    )


def _number(value: float) -> str:
    # All digits of a tick, without those that are of binary fractions alone.
    return f"{value:,.0f}" if value == round(value) else f"{value:,.12g}"


def _drawn(trace: Figure, x: _Scale, y: _Scale) -> str:
    """Return a trace's line, if it has one, and its points as dots."""
    role = trace["meta"]["role"]
    if role not in LINE_ROLES | FAINT_ROLES:
        return ""  # what a flag keeps off has a shape of its own, no dot
    places = [
        f"{x.share(at) * BOX:.0f} {(1 - y.share(up)) * BOX:.0f}"
        for at, up in zip(trace["x"], trace["y"], strict=True)
    ]
    dots = "".join(f"M{place}h0" for place in places)
    drawn = (
        f'<path class="still-dots" d="{dots}" stroke="{_colour(trace)}"'
        f' stroke-width="{trace["marker"]["size"]}" stroke-linecap="round"'
        f"{_opacity(trace)}/>"
    )
    if role in FAINT_ROLES:
        return drawn
    pattern = dash_pattern(trace["line"]["dash"])
    dashed = f' stroke-dasharray="{pattern}"' if pattern else ""
    return (
        f'<path d="M{"L".join(places)}" stroke="{_colour(trace)}" data-role="{role}"'
        f' stroke-width="{trace["line"]["width"]}"{dashed}/>{drawn}'
    )


def _opacity(trace: Figure) -> str:
    faint = trace["marker"].get("opacity", 1)
    return f' opacity="{faint}"' if faint != 1 else ""


def _colour(trace: Figure) -> str:
    light, dark = trace["meta"]["light"], trace["meta"]["dark"]
    return f"light-dark({escape(light)}, {escape(dark)})"


def _symbols(trace: Figure) -> list[str]:
    """Return the marker of each point of a trace."""
    symbol = trace["marker"].get("symbol", "circle")
    return symbol if isinstance(symbol, list) else [symbol] * len(trace["x"])


def _shapes(traces: Iterable[Figure]) -> Iterator[str]:
    """Yield each marker that the traces have, once, to be placed by its name."""
    wanted = {
        (symbol, trace["marker"]["size"])
        for trace in traces
        for symbol in _symbols(trace)
    }
    if not wanted:
        return
    yield "<defs>"
    for symbol, size in sorted(wanted):
        drawn = marker(symbol)
        kind = "hollow" if drawn.is_hollow else "ringed" if drawn.has_dot else "full"
        scale = f' transform="scale({size / MARKER_PX:g})"' if size != MARKER_PX else ""
        dot = '<circle r="1"/>' if drawn.has_dot else ""
        yield (
            f'<g id="{_name(symbol, size)}" class="still-{kind}"{scale}>'
            f'<path d="{drawn.path}"/>{dot}</g>'
        )
    yield "</defs>"


def _name(symbol: str, size: float) -> str:
    return f"mark-{escape(symbol)}-{size:g}"


def _marks(trace: Figure, x: _Scale, y: _Scale) -> str:
    """Return a trace's markers, each of its own shape, in the trace's colour."""
    size, colour = trace["marker"]["size"], _colour(trace)
    marks = "".join(
        f'<use href="#{_name(symbol, size)}" x="{x.share(at) * 100:.1f}%"'
        f' y="{100 - y.share(up) * 100:.1f}%"/>'
        for symbol, at, up in zip(_symbols(trace), trace["x"], trace["y"], strict=True)
    )
    return f'<g fill="{colour}" stroke="{colour}"{_opacity(trace)}>{marks}</g>'
