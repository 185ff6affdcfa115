"""Scores of a task in a results file, by the filters that made them."""

import math
from collections.abc import Mapping
from typing import NamedTuple

from ingest.conversion.identity import Warnings
from ingest.conversion.records import RefusedError
from ingest.schemas.evals import TaskConfig

_STRICT = ("strict", "resolved")
_FLEXIBLE = ("flex", "extract")


class Scores(NamedTuple):
    """Fractions in [0, 1] and their standard errors; None where not measured."""

    strict: float | None = None
    strict_se: float | None = None
    flexible: float | None = None
    flexible_se: float | None = None
    accuracy: float | None = None

    @property
    def score(self) -> float | None:
        """The primary score: strict, else accuracy. A flexible one never stands in."""
        return self.strict if self.strict is not None else self.accuracy


def scores_of(
    results: Mapping[str, object], config: TaskConfig | None, warnings: Warnings
) -> Scores:
    """Read a task's scores; keys are ``<metric>,<filter>``, older ones ``<metric>``.

    Filters named strict or resolved give the strict score, those named flex or extract
    the flexible one. Without filters ``acc`` is the accuracy and the metric itself
    strict. Raises `RefusedError`.
    """
    metric = "exact_match"
    if config is not None and config.metric_list:
        metric = config.metric_list[0].metric
    scores = Scores()
    for key, value in results.items():
        name, _, found = key.partition(",")
        if name != metric:
            continue
        error = results.get(f"{name}_stderr,{found}" if found else f"{name}_stderr")
        scores = _with_filter(scores, found, (value, error), warnings)
    if scores.strict is None and scores.flexible is None:
        accuracy = results.get("acc,none", results.get("acc"))
        scores = scores._replace(accuracy=fraction("acc", accuracy, warnings))
    return in_range(scores)


def _with_filter(
    scores: Scores, found: str, pair: tuple[object, object], warnings: Warnings
) -> Scores:
    lower = found.lower()
    value, error = (fraction(found, number, warnings) for number in pair)
    if any(word in lower for word in _FLEXIBLE):
        return scores._replace(flexible=value, flexible_se=error)
    if lower in ("", "none") or any(word in lower for word in _STRICT):
        return scores._replace(strict=value, strict_se=error)
    warnings.append(("unknown_filter", f"the filter {found} is not read"))
    return scores


def fraction(name: str, value: object, warnings: Warnings) -> float | None:
    """Return a number; ``N/A`` and null are missing, NaN is missing and warned of."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        return None
    if math.isfinite(value):
        return float(value)
    warnings.append(("nan_token", f"the score of {name or 'the task'} is {value}"))
    return None


def in_range(scores: Scores) -> Scores:
    """Return the scores; raises `RefusedError` where there is none, or one is odd."""
    named = {
        "strict": scores.strict,
        "flexible": scores.flexible,
        "accuracy": scores.accuracy,
    }
    measured = {name: value for name, value in named.items() if value is not None}
    if not measured:
        raise RefusedError("no_score", "no score was measured")
    odd = [f"{n} is {v:g}" for n, v in measured.items() if not 0 <= v <= 1]
    if odd:
        raise RefusedError(
            "score_out_of_range", f"score out of [0,1]: {', '.join(odd)}"
        )
    return scores
