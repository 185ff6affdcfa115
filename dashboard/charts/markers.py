"""Markers of charts as SVG paths around 0,0, and dashes: where plotly does not draw."""

from typing import NamedTuple

PATHS = {
    "circle": "M-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0z",
    "circle-x": "M-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0zM-2.8-2.8L2.8 2.8M-2.8 2.8L2.8-2.8",
    "square": "M-3.5-3.5h7v7h-7z",
    "diamond": "M0-5L5 0L0 5L-5 0z",
    "triangle-up": "M0-5L4.6 3H-4.6z",
    "triangle-down": "M0 5L4.6-3H-4.6z",
    "pentagon": "M0-4.6L4.4-1.4L2.7 3.7H-2.7L-4.4-1.4z",
    "hexagon": "M0-4.6L4-2.3V2.3L0 4.6L-4 2.3V-2.3z",
    "hexagram": "M0-5L1.4-2.4H4.4L2.9 0L4.4 2.4H1.4L0 5L-1.4 2.4H-4.4L-2.9 0"
    "L-4.4-2.4H-1.4z",
    "star-square": "M-4.5-4.5L0-2.6L4.5-4.5L2.6 0L4.5 4.5L0 2.6L-4.5 4.5L-2.6 0z",
    "star-diamond": "M0-5.4L1.9-1.9L5.4 0L1.9 1.9L0 5.4L-1.9 1.9L-5.4 0L-1.9-1.9z",
    "bowtie": "M-4.5-3.5L0 0L4.5-3.5V3.5L0 0L-4.5 3.5z",
    "x": "M-4.2-2.8L-2.8-4.2L0-1.4L2.8-4.2L4.2-2.8L1.4 0L4.2 2.8L2.8 4.2L0 1.4L-2.8 4.2"
    "L-4.2 2.8L-1.4 0z",
    "cross": "M-1.4-4.2H1.4V-1.4H4.2V1.4H1.4V4.2H-1.4V1.4H-4.2V-1.4H-1.4z",
}


DASHES = {"solid": "", "dot": "3 3"}


def dash_pattern(dash: str) -> str:
    """Return plotly's dash as SVG writes it, empty where the line is unbroken."""
    return DASHES.get(dash, dash.replace("px", "").replace(",", " "))


class Marker(NamedTuple):
    """A marker's outline; ``is_hollow`` if that is all of it, ``has_dot`` within it."""

    path: str
    is_hollow: bool
    has_dot: bool


def marker(symbol: str) -> Marker:
    """Return plotly's marker of that name; one that is not known is a circle."""
    name = symbol.removesuffix("-dot")
    shape = name.removesuffix("-open")
    path = PATHS.get(shape, PATHS["circle"])
    return Marker(path, is_hollow=shape != name, has_dot=name != symbol)
