"""How a marker says what the evals say of its point, without any colour."""

from collections.abc import Sequence
from typing import Any

from dashboard.analysis.evals import PASSED
from dashboard.charts import theme

HOLLOW, HALF, DOTTED = "-open", "-open-dot", "-dot"
# Plotly has no dot for these.
_WITHOUT_DOT = frozenset({"bowtie"})
_ENDINGS: dict[str, str] = {
    "fail": HOLLOW,
    "borderline": HALF,
    **dict.fromkeys(PASSED, DOTTED),
}


def eval_symbol(marker: str, outcome: str) -> str:
    """Return plotly's name of a marker: hollow failed, hollow with a dot borderline.

    Full with a dot passed; plain is without a verdict, which is not a pass.
    """
    ending = _ENDINGS.get(outcome, "")
    if marker in _WITHOUT_DOT:
        ending = ending.replace("-dot", "")
    return f"{marker}{ending}"


def outline(outcome: str, *, is_flagged: bool = False) -> tuple[str, int]:
    """Return the colour and px of a marker's outline; a dot in it has that colour.

    Of a hollow marker the outline is all there is, in the marker's own colour.
    """
    if is_flagged:
        return theme.WARN, theme.RING_PX
    ending = _ENDINGS.get(outcome, "")
    if ending.startswith(HOLLOW):
        return theme.WARN, theme.RING_PX
    return theme.PAPER, 1 if ending else 0


def outlines(outcomes: Sequence[str], flagged: Sequence[bool] = ()) -> dict[str, Any]:
    """Return plotly's outline of some markers, empty where none has one."""
    flags = flagged or [False] * len(outcomes)
    found = [
        outline(outcome, is_flagged=flag)
        for outcome, flag in zip(outcomes, flags, strict=True)
    ]
    if not any(width for _, width in found):
        return {}
    return {"line": {"color": [c for c, _ in found], "width": [w for _, w in found]}}
