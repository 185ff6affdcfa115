"""Colours, markers and dashes of curves: the same thing looks the same on every page.

Hue and lightness name the GPU (cool hues NVIDIA, warm hues AMD, so that they stay
apart for colour-blind readers), the marker names the framework, a lighter shade says
that the precision is not 4 bit, a broken line says speculative decoding. Violets and
the x marker are left to unofficial runs.
"""

from typing import Any, NamedTuple

from dashboard.vocabulary.frameworks import ALIASES

FONT = 'system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif'
LINE_PX = 2
MARKER_PX = 8
FAINT = 0.35
GHOST_DASH = "dot"
GHOST_LINE_PX = 1.5
GHOST_MARKER_PX = 4
RING_PX = 2
WARN = "#b07000"
PAPER = "#ffffff"
GRID = "#d9dee3"
INK = "#4a5561"


class Colour(NamedTuple):
    """One colour as it is drawn on a light and on a dark ground."""

    light: str
    dark: str


class Look(NamedTuple):
    """How a curve is drawn; ``marker`` and ``dash`` are plotly's names."""

    colour: Colour
    marker: str
    dash: str


HARDWARE = {
    "gb300": Colour("#6a7ff0", "#7487f7"),
    "gb200": Colour("#204e92", "#71acf0"),
    "b300": Colour("#2496bb", "#57e3fa"),
    "b200": Colour("#2b7a66", "#9be4ca"),
    "h200": Colour("#104219", "#2acd5d"),
    "h100": Colour("#465b0a", "#4c9d63"),
    "rtx6000pro": Colour("#546580", "#90bdca"),
    "rtx5090": Colour("#7b8c97", "#6f92a8"),
    "mi355x": Colour("#e0573c", "#ea6d2c"),
    "mi325x": Colour("#be7e00", "#f6bd25"),
    "mi300x": Colour("#7d0a46", "#f9509f"),
}
UNKNOWN_HARDWARE = Colour("#5f6a76", "#a9b4bf")

# One per unofficial run of a page: violets, which no official line has.
UNOFFICIAL = (
    Colour("#7c3aed", "#b18cff"),
    Colour("#c026d3", "#f27cff"),
    Colour("#4c1d95", "#8f6bff"),
    Colour("#86198f", "#d9a8ff"),
    Colour("#9466f2", "#d14fe3"),
    Colour("#d13fe0", "#f5bdff"),
    Colour("#5b3fb8", "#b3a6ff"),
    Colour("#a04fc4", "#c77bf0"),
)
UNOFFICIAL_MARKER = "x"
UNOFFICIAL_DASHES = ("7px,4px", "12px,4px", "4px,4px", "12px,4px,4px,4px")

MARKERS = {
    "sglang": "circle",
    "dynamo-sglang": "hexagram",
    "mori-sglang": "hexagon",
    "vllm": "square",
    "dynamo-vllm": "star-square",
    "llmd-vllm": "bowtie",
    "trt": "diamond",
    "dynamo-trt": "star-diamond",
    "atom": "triangle-up",
    "mooncake-atom": "triangle-down",
    "tilert": "pentagon",
}
UNKNOWN_MARKER = "cross"
OUT_MARKER = "circle-x-open"
SPECULATIVE_DASH = "8px,3px,2px,3px"

_FOUR_BIT = frozenset({"fp4", "int4", ""})
_GROUND = Colour("#ffffff", "#151b21")
_LIGHTER = 0.32


def look(
    *, hardware: str, framework: str, precision: str, is_speculative: bool
) -> Look:
    """Return how the curve of a configuration is drawn, on all pages alike."""
    colour = HARDWARE.get(hardware, UNKNOWN_HARDWARE)
    canonical = ALIASES.get(framework, framework)
    return Look(
        colour if precision in _FOUR_BIT else _shade(colour),
        MARKERS.get(canonical, UNKNOWN_MARKER),
        SPECULATIVE_DASH if is_speculative else "solid",
    )


def unofficial_look(place: int) -> Look:
    """Return how the curves of a page's unofficial run are drawn, by its place."""
    return Look(
        UNOFFICIAL[place % len(UNOFFICIAL)],
        UNOFFICIAL_MARKER,
        UNOFFICIAL_DASHES[place % len(UNOFFICIAL_DASHES)],
    )


def _shade(colour: Colour) -> Colour:
    return Colour(
        _mix(colour.light, _GROUND.light, _LIGHTER),
        _mix(colour.dark, _GROUND.dark, _LIGHTER),
    )


def _mix(colour: str, ground: str, share: float) -> str:
    pairs = zip(_channels(colour), _channels(ground), strict=True)
    return "#" + "".join(f"{round(a + (b - a) * share):02x}" for a, b in pairs)


def _channels(colour: str) -> tuple[int, int, int]:
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)


def frame(margin: dict[str, int], *, dragmode: str | bool = "zoom") -> dict[str, Any]:
    """Return the part of a layout that all pictures share: what is around the axes.

    ``margin`` has plotly's sides (l, r, t, b) in pixels.
    """
    return {
        "showlegend": False,
        "hovermode": "closest",
        "hoverlabel": {
            "align": "left",
            "font": {"family": FONT, "size": 12},
            "namelength": -1,
        },
        "font": {"family": FONT, "size": 12, "color": INK},
        "margin": margin,
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "dragmode": dragmode,
    }
