"""What the frontier chart says of a point under the pointer, escaped."""

from collections.abc import Callable, Sequence
from html import escape
from typing import Any

import pandas as pd

from dashboard.vocabulary.texts import one_line

HOVERED = (
    "point_id",
    "deployment",
    "concurrency",
    "run_id",
    "measured_at",
    "image",
    "flags",
    "eval",
)

# No bold: plotly makes it with style attributes, which the pages' policy forbids.
HOVER = (
    "{key}<br>{checkpoint}{opening}"
    "<br>%{{customdata[1]}}, concurrency %{{customdata[2]}}"
    "<br>{x}: %{{x:,.7~r}}<br>{y}: %{{y:,.7~r}}"
    "<br>run %{{customdata[3]}}, %{{customdata[4]}}<br>%{{customdata[5]}}"
    "<br>eval: %{{customdata[7]}}%{{customdata[6]}}<extra></extra>"
)


def customdata(points: pd.DataFrame) -> list[list[Any]]:
    """Return what the hover shows of each point, in the order of ``HOVERED``."""
    columns = {name: points[name].tolist() for name in HOVERED}
    columns["deployment"] = _once(columns["deployment"], escape)
    columns["measured_at"] = _once(columns["measured_at"], "{:%Y-%m-%d}".format)
    columns["image"] = _once(columns["image"], lambda image: escape(one_line(image)))
    columns["flags"] = [_flags(flags) if flags else "" for flags in columns["flags"]]
    return [list(row) for row in zip(*columns.values(), strict=True)]


def _once(column: Sequence[Any], written: Callable[[Any], str]) -> list[str]:
    """Write a column in which a few values stand many times."""
    words = {value: written(value) for value in set(column)}
    return [words[value] for value in column]


def _flags(flags: Sequence[tuple[str, str]]) -> str:
    return "".join(f"<br>{escape(one_line(text))}" for _, text in flags)


def literal(text: str) -> str:
    """Escape text that stands in a hover template itself."""
    return escape(text).replace("%{", "% {")
