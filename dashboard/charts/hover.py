"""What the frontier chart says of a point under the pointer, escaped."""

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
    rows = points[list(HOVERED)].itertuples(index=False, name=None)
    return [
        [
            point_id,
            escape(deployment),
            concurrency,
            run_id,
            f"{measured_at:%Y-%m-%d}",
            escape(one_line(image)),
            "".join(f"<br>{escape(one_line(text))}" for _, text in flags),
            eval_outcome,
        ]
        for (
            point_id,
            deployment,
            concurrency,
            run_id,
            measured_at,
            image,
            flags,
            eval_outcome,
        ) in rows
    ]


def literal(text: str) -> str:
    """Escape text that stands in a hover template itself."""
    return escape(text).replace("%{", "% {")
