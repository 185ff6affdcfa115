"""What of a verdict is a regression to be triaged: kind, size, and where."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import fisher_exact

from dashboard.analysis.comparison import Coverage
from dashboard.analysis.sides import SweepVerdict
from dashboard.analysis.verdict_json import flagged_places, named_places
from dashboard.analysis.verdict_report import eval_words
from dashboard.analysis.verdicts import Verdict, leading

PERFORMANCE = "performance"
ACCURACY = "accuracy"
COVERAGE = "coverage"
ERRORS = "errors"

# A share of failed requests from which a deployment is not to be relied on, and the
# probability below which a rise is no chance.
ERROR_RATE = 0.01
ERROR_P = 0.01

# From here on nobody needs to ask whether it matters.
STRONG_ERROR_RATE = 0.05
STRONG_GAP = 0.10


@dataclass(frozen=True, slots=True)
class Requests:
    """Requests that a replay measured, and those of them dropped for an error."""

    errors: int
    measured: int

    @property
    def rate(self) -> float | None:
        """Return the share of errors, None where nothing was measured."""
        return self.errors / self.measured if self.measured else None


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that got worse. ``change`` is a fraction, negative is worse.

    ``places`` are [deployment label, [concurrencies]].
    """

    kind: str
    change: float | None
    is_strong: bool
    summary: str
    places: list[list[Any]]


def regressions(
    verdict: SweepVerdict, base: Requests | None = None, head: Requests | None = None
) -> list[Finding]:
    """Return what got worse; ``base`` and ``head`` are the requests of either side."""
    if verdict.base is None:
        return []
    found = [_performance(verdict), _accuracy(verdict), _coverage(verdict)]
    if base is not None and head is not None and not verdict.breaks:
        found.append(_errors(base, head))
    return [finding for finding in found if finding is not None]


def _performance(verdict: SweepVerdict) -> Finding | None:
    if verdict.performance not in (Verdict.REGRESSION, Verdict.MIXED):
        return None
    findings = verdict.judged.findings
    # The figure of the sentence beside it, which names its metric.
    worst = leading(findings.losses, verdict.axes) if findings.losses else ()
    return Finding(
        PERFORMANCE,
        worst[0].gain if worst else findings.frontier,
        verdict.judged.strong,
        verdict.sentence,
        flagged_places(verdict),
    )


def _accuracy(verdict: SweepVerdict) -> Finding | None:
    """Return the evals that fail where the baseline's passed, or that fell for sure."""
    worse = [found for found in verdict.evals if found.is_regression]
    if not worse:
        return None
    grouped: dict[str, list[int]] = {}
    for found in worse:
        of_deployment = grouped.setdefault(found.head.deployment, [])
        of_deployment += (
            [] if found.head.concurrency is None else [found.head.concurrency]
        )
    falls = [found.change.difference for found in worse if found.change]
    return Finding(
        ACCURACY,
        min(falls, default=None),
        any(found.has_failed for found in worse),
        "; ".join(eval_words(found) for found in worse),
        [[label, sorted(set(places))] for label, places in sorted(grouped.items())],
    )


def _coverage(verdict: SweepVerdict) -> Finding | None:
    """Return what is missing against the plan; without one, against the baseline.

    What a known plan does not ask for any more was removed on purpose.
    """
    comparison = verdict.judged.comparison
    if comparison is None:
        return None
    coverage = comparison.coverage
    lost = named_places(coverage.lost, verdict)
    unusable = coverage.left_out_head - coverage.excluded_head - coverage.left_out_base
    if unusable > 0:
        return _unusable(coverage, unusable)
    if coverage.planned is not None:
        return _unplanned_gap(coverage, coverage.planned, lost)
    if verdict.breaks or not lost:
        return None
    count = sum(len(concurrencies) for _, concurrencies in lost)
    kept = comparison.pairs
    summary = f"{count} of {count + kept} points of the baseline are missing"
    change = -count / (count + kept)
    return Finding(COVERAGE, change, change <= -STRONG_GAP, summary, lost)


def _unusable(coverage: Coverage, count: int) -> Finding:
    """Return that points arrived which cannot be true, where the baseline's could."""
    change = -count / coverage.received
    summary = (
        f"{count} of {coverage.received} points cannot be used: "
        "a physical check keeps them off the frontier"
    )
    return Finding(COVERAGE, change, change <= -STRONG_GAP, summary, [])


def _unplanned_gap(
    coverage: Coverage, planned: int, lost: list[list[Any]]
) -> Finding | None:
    if not planned or coverage.received >= planned:
        return None
    change = coverage.received / planned - 1
    summary = f"{coverage.received} of {planned} planned points arrived"
    return Finding(COVERAGE, change, change <= -STRONG_GAP, summary, lost)


def _errors(base: Requests, head: Requests) -> Finding | None:
    """Return a rise of failed requests that is large and no chance (Fisher's test)."""
    before, after = base.rate, head.rate
    if before is None or after is None or after < ERROR_RATE or after <= before:
        return None
    sides = (head, base)
    table = np.array([[side.errors, side.measured - side.errors] for side in sides])
    if fisher_exact(table, alternative="greater").pvalue > ERROR_P:
        return None
    summary = (
        f"{head.errors} of {head.measured} requests failed, "
        f"{base.errors} of {base.measured} before"
    )
    return Finding(ERRORS, before - after, after >= STRONG_ERROR_RATE, summary, [])


def requests_of(accounting: Mapping[str, object] | None) -> Requests | None:
    """Read a point's accounting of request records; None where it does not say."""
    told = accounting or {}
    errors = told.get("records_error_dropped")
    profiled = told.get("records_profiled")
    if not isinstance(errors, int) or not isinstance(profiled, int):
        return None
    return Requests(errors, errors + profiled)
