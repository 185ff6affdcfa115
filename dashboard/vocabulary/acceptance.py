"""Acceptance lengths of speculative decoding: golden ones, claims, and their words.

A length is in tokens per step. Golden lengths are those that the benchmark's policy
makes agentic throughput run with, per family, method and count of draft tokens.
"""

import re
from typing import NamedTuple

REAL, DECLARED, POLICY = "real", "synthetic_declared", "synthetic_by_policy"
UNKNOWN, NONE = "unknown", ""
SYNTHETIC = frozenset({DECLARED, POLICY})
_HALF_DIGIT = 0.005  # golden lengths have two decimals


class GoldenCurve(NamedTuple):
    """Lengths of one family and method at 1, 2, ... 8 draft tokens."""

    model: str
    method: str
    lengths: tuple[float, ...]


GOLDEN_CURVES = (
    GoldenCurve("qwen3.5", "mtp", (1.93, 2.73, 3.39, 3.97, 4.41, 4.80, 5.04, 5.21)),
    GoldenCurve(
        "qwen3.5",
        "mtp, thinking off",
        (1.92, 2.70, 3.33, 3.83, 4.20, 4.48, 4.73, 4.71),
    ),
    GoldenCurve("dsv4", "mtp", (1.79, 2.27, 2.49, 2.54, 2.55, 2.55, 2.54, 2.58)),
    GoldenCurve(
        "dsv4", "mtp, thinking off", (1.92, 2.61, 2.97, 3.00, 3.10, 3.16, 3.00, 3.11)
    ),
    GoldenCurve(
        "dsv4", "dspark of 0813", (1.84, 2.51, 3.01, 3.36, 3.61, 3.77, 3.73, 3.47)
    ),
    GoldenCurve("glm5.2", "mtp", (1.84, 2.50, 2.99, 3.33, 3.61, 3.78, 3.91, 4.06)),
    GoldenCurve("kimik2.5", "eagle3", (1.83, 2.43, 2.88, 3.24, 3.46, 3.62, 3.71, 3.77)),
    GoldenCurve("kimik3", "dspark", (1.84, 2.45, 2.87, 3.22, 3.44, 3.54, 3.78, 3.88)),
    GoldenCurve(
        "kimik3",
        "dspark, probabilistic",
        (1.85, 2.51, 3.00, 3.36, 3.62, 3.75, 3.84, 4.00),
    ),
    GoldenCurve(
        "minimaxm3", "eagle3", (1.78, 2.38, 2.83, 3.11, 3.35, 3.45, 3.53, 3.74)
    ),
    GoldenCurve(
        "minimaxm3", "eagle3 gqa", (1.79, 2.39, 2.78, 3.02, 3.21, 3.30, 3.52, 3.51)
    ),
)

_NUMBER = r"(\d\.\d{1,3})(?![\d.])"
# "MTP acceptance 3.39 -> 3.39", "SIMULATE_ACC_LEN=2.99", "acceptance length of 2.49".
_CLAIM = re.compile(
    r"(?:acceptance(?:[ _-]len(?:gth)?)?|\bAL|ACC_LEN)"
    r"(?:\s|[=:|`*]|\bof\b|\bis\b|\bwas\b|\bat\b){1,6}"
    rf"{_NUMBER}(?:\s*(?:->|\u2192|to)\s*{_NUMBER})?",
    re.IGNORECASE,
)
_CLAIM_AFTER = re.compile(
    rf"\b{_NUMBER}\s+(?:golden|synthetic)\s+acceptance", re.IGNORECASE
)


def golden_lengths(model: str, draft_tokens: int | None = None) -> frozenset[float]:
    """Return the golden lengths of a family, of one count of draft tokens or of all."""
    curves = [curve.lengths for curve in GOLDEN_CURVES if curve.model == model]
    if draft_tokens is None:
        return frozenset(length for lengths in curves for length in lengths)
    place = draft_tokens - 1
    return frozenset(lengths[place] for lengths in curves if 0 <= place < len(lengths))


def is_golden(model: str, length: float) -> bool:
    """Tell whether a length is a golden one of the family, to two decimals."""
    return any(abs(length - golden) < _HALF_DIGIT for golden in golden_lengths(model))


def claimed_lengths(text: str) -> set[float]:
    """Return the acceptance lengths that a text names; of ``a -> b`` only b."""
    claims = {float(m[2] or m[1]) for m in _CLAIM.finditer(text)}
    return claims | {float(m[1]) for m in _CLAIM_AFTER.finditer(text)}


def is_configured(source: str, length: float | None, model: str) -> bool:
    """Tell whether an acceptance length was set rather than measured.

    A length equal to a golden one was, whatever its source claims.
    """
    return source in SYNTHETIC or (length is not None and is_golden(model, length))


def acceptance_label(source: str, length: float | None, model: str) -> str:
    """Say in a few words where an acceptance length comes from: ``synthetic 3.39``.

    Empty without speculative decoding.
    """
    if source == NONE:
        return ""
    if source == UNKNOWN and length is None:
        return "unknown"
    if length is None:
        words = {DECLARED: "synthetic", POLICY: "synthetic by policy", REAL: "measured"}
        return words[source]
    golden = " (golden)" if is_golden(model, length) else ""
    if source in SYNTHETIC:
        return f"synthetic {length:.4g}{golden}"
    if golden:
        return f"configured {length:.4g}{golden}"
    return f"{'measured' if source == REAL else 'unknown,'} {length:.4g}"
