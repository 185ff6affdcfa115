"""How a marker says what the evals say of its point, without any colour."""

from dashboard.analysis.evals import PASSED

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


def is_hollow(outcome: str) -> bool:
    """Tell whether the marker of an outcome is an outline only."""
    return _ENDINGS.get(outcome, "").startswith(HOLLOW)
