"""From the numbers of comparisons to a verdict, and to a sentence that can be pasted.

A verdict is never good by default: what cannot be told is "inconclusive".
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from statistics import median

from dashboard.analysis.comparison import (
    Axes,
    Comparison,
    LikeForLike,
    PointChange,
)
from dashboard.analysis.limits import (
    STRONG_LIMIT,
    Findings,
    discoveries,
    findings,
    usable_pairs,
    visible,
)
from dashboard.vocabulary.metrics import METRICS

PAIRS_NEEDED = 3

# What tables say of flagged points; beside these two what decides nothing.
WORSE, BETTER = "worse", "better"
NEEDS_A_LOOK = "above 2x, needs a look"

# Noise that hides changes up to this size lets nothing be called "within noise".
BLIND_LIMIT = 0.10


class Verdict(StrEnum):
    """The outcome of a comparison."""

    REGRESSION = "regression"
    IMPROVEMENT = "improvement"
    MIXED = "mixed"
    WITHIN_NOISE = "within noise"
    INCONCLUSIVE = "inconclusive"
    NOT_COMPARABLE = "not comparable"
    NO_BASELINE = "no baseline"
    FAILED_EVALS = "failed evals"


@dataclass(frozen=True, slots=True)
class Candidate:
    """One key of a run: its comparison, None without a baseline.

    ``breaks`` say what keeps the two sides from being compared, such as "checkpoint".
    """

    key: str
    comparison: Comparison | None
    breaks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Judged:
    """The verdict on one key, the reason in one sentence, and what it rests on."""

    key: str
    verdict: Verdict
    reason: str
    comparison: Comparison | None
    findings: Findings = field(default_factory=Findings)

    @property
    def flagged(self) -> frozenset[PointChange]:
        """Return every flagged point, deciding or not."""
        return self.findings.points

    def flag(self, point: PointChange) -> str:
        """Return what a table says of a point, empty where nothing is flagged."""
        found = self.findings
        if point.needs_look:
            return NEEDS_A_LOOK
        if point in found.losses:
            return WORSE
        if point in found.gains:
            return BETTER
        if point in found.shown:
            is_worse = point.gain is not None and point.gain < 0
            return f"{WORSE if is_worse else BETTER}, not deciding"
        return ""

    @property
    def strong(self) -> bool:
        """Tell whether the frontier moved by 5 % or more, beyond its interval."""
        moved = self.findings.frontier
        return moved is not None and abs(moved) >= STRONG_LIMIT

    @property
    def partial(self) -> str:
        """Return like "8 of 16" how many planned points came; empty where all did."""
        coverage = None if self.comparison is None else self.comparison.coverage
        if coverage is None or coverage.planned is None:
            return ""
        missing = coverage.planned - coverage.received
        return f"{coverage.received} of {coverage.planned}" if missing > 0 else ""


def judge(candidates: Sequence[Candidate]) -> list[Judged]:
    """Judge every key of one run, in the order given.

    The keys are judged together: a run of 200 keys finds more by chance than a run of
    one, and the rate of false discoveries is held over all of them.
    """
    judged = [_unjudged(candidate) for candidate in candidates]
    open_ones = [
        (number, candidate.comparison)
        for number, candidate in enumerate(candidates)
        if judged[number] is None and candidate.comparison is not None
    ]
    discovered = discoveries([comparison for _, comparison in open_ones])
    for (number, comparison), points in zip(open_ones, discovered, strict=True):
        found = findings(comparison, points)
        key = candidates[number].key
        judged[number] = Judged(key, *_word(found, comparison), comparison, found)
    return [found for found in judged if found is not None]


def sentence(
    judged: Judged,
    *,
    baseline: str = "",
    labels: Mapping[int, str] | None = None,
    notes: Sequence[str] = (),
) -> str:
    """Return one sentence in plain text that a person can paste.

    ``baseline`` names the other side, like "run 1 of 2026-09-02", ``labels`` the
    deployments by their id, ``notes`` are further words beside the verdict, like
    "image differs".
    """
    details = [
        *_details(judged, labels or {}),
        *([f"vs {baseline}"] if baseline else []),
    ]
    return f"{headline(judged, notes)}: {', '.join(details)}"


def headline(judged: Judged, notes: Sequence[str] = ()) -> str:
    """Return the verdict and what limits it: "improvement, partial: 8 of 16 points"."""
    partial = [f"partial: {judged.partial} points"] if judged.partial else []
    return ", ".join([judged.verdict, *partial, *notes])


def _unjudged(candidate: Candidate) -> Judged | None:
    """Return the verdict that needs no flags; None where flags decide."""
    found = _obstacle(candidate)
    return found and Judged(candidate.key, *found, candidate.comparison)


def _obstacle(candidate: Candidate) -> tuple[Verdict, str] | None:
    comparison = candidate.comparison
    if comparison is None:
        return Verdict.NO_BASELINE, "there is no earlier official sweep of this key"
    if candidate.breaks:
        verb = "differs" if len(candidate.breaks) == 1 else "differ"
        return Verdict.NOT_COMPARABLE, f"{' and '.join(candidate.breaks)} {verb}"
    unknown = _unknown_noise(comparison)
    if unknown:
        return Verdict.INCONCLUSIVE, f"the noise of {' and '.join(unknown)} is unknown"
    usable = len(usable_pairs(comparison))
    if usable < PAIRS_NEEDED:
        pairs = "1 usable pair" if usable == 1 else f"{usable} usable pairs"
        return Verdict.INCONCLUSIVE, f"{pairs} of points, {PAIRS_NEEDED} are needed"
    return None


def _unknown_noise(comparison: Comparison) -> list[str]:
    without = {point.metric for point in comparison.points if point.noise is None}
    return [METRICS[axis].phrase for axis in comparison.axes if axis in without]


def _word(found: Findings, comparison: Comparison) -> tuple[Verdict, str]:
    if found.is_loss or found.is_gain or found.needs_look:
        return _flagged_word(found), ", ".join(_reasons(found, comparison))
    hidden = _hidden(comparison)
    if hidden >= BLIND_LIMIT:
        noise = f"noise hides changes of up to {100 * hidden:.0f} %"
        return Verdict.INCONCLUSIVE, noise
    points = len(usable_pairs(comparison))
    return Verdict.WITHIN_NOISE, f"no change at {points} points exceeds the noise"


def _flagged_word(found: Findings) -> Verdict:
    if found.is_loss:
        return Verdict.MIXED if found.is_gain else Verdict.REGRESSION
    return Verdict.IMPROVEMENT if found.is_gain else Verdict.INCONCLUSIVE


def _reasons(found: Findings, comparison: Comparison) -> Iterable[str]:
    of = len(usable_pairs(comparison))
    if found.losses:
        yield f"worse beyond the noise at {_share(found.losses, of)}"
    if found.gains:
        yield f"better beyond the noise at {_share(found.gains, of)}"
    if found.frontier is not None:
        yield f"the frontier moved by {100 * found.frontier:+.1f} %"
    if found.needs_look:
        yield f"a gain above 2x at {_share(found.needs_look, of)} needs a look"


def _hidden(comparison: Comparison) -> float:
    """Return the change that half of the pairs hide, of the axis that hides more."""
    hidden = []
    for axis in comparison.axes:
        known = [p.noise for p in comparison.points if p.metric == axis and p.noise]
        hidden.append(visible(median(known)))
    return max(hidden)


def _details(judged: Judged, labels: Mapping[int, str]) -> Iterable[str]:
    comparison, found = judged.comparison, judged.findings
    if not (found.losses or found.gains or found.needs_look):
        yield judged.reason
    if comparison is None:
        return
    of = len(usable_pairs(comparison))
    for points in filter(None, (found.losses, found.gains)):
        yield _worst(points, comparison, of, labels)
    if found.needs_look:
        places = _places(found.needs_look, labels)
        yield f"a gain above 2x at {places} needs a look"
    if comparison.like_for_like is not None:
        is_comparable = judged.verdict != Verdict.NOT_COMPARABLE
        yield _like_for_like(comparison.like_for_like, is_comparable=is_comparable)


def leading(points: Sequence[PointChange], axes: Axes) -> tuple[PointChange, ...]:
    """Return the points of the metric to be told first, the largest change first.

    Throughput, else interactivity, else another metric. There is at least one point.
    """
    x, y = axes
    metric = min((p.metric for p in points), key=lambda m: (m != y, m != x, m))
    alike = [p for p in points if p.metric == metric and p.change is not None]
    return tuple(sorted(alike, key=lambda p: -abs(p.change or 0.0)))


def _worst(
    points: Sequence[PointChange],
    comparison: Comparison,
    of: int,
    labels: Mapping[int, str],
) -> str:
    """Return the largest change, its metric and where; it is one of several places."""
    alike = leading(points, comparison.axes)
    told = list(dict.fromkeys(f"{100 * (p.change or 0.0):+.1f} %" for p in alike))
    change = told[0] if len(told) == 1 else f"up to {told[0]}"
    where = f"{_share(alike, of)} ({_places(alike, labels)})"
    return f"{change} {METRICS[alike[0].metric].phrase} at {where}"


def _share(points: Iterable[PointChange], of: int) -> str:
    return f"{len({point.place for point in points})} of {of} points"


def _places(points: Iterable[PointChange], labels: Mapping[int, str]) -> str:
    grouped: dict[int, list[str]] = {}
    for deployment, concurrency in sorted({point.place for point in points}):
        grouped.setdefault(deployment, []).append(f"c{concurrency}")
    return "; ".join(
        f"{labels.get(deployment, f'deployment {deployment}')} {', '.join(found)}"
        for deployment, found in grouped.items()
    )


def _like_for_like(found: LikeForLike, *, is_comparable: bool) -> str:
    change = f"{100 * found.change:+.1f} %"
    if found.low is not None and found.high is not None:
        change += f" [{100 * found.low:+.1f}, {100 * found.high:+.1f}]"
    if is_comparable:
        return f"area like for like {change}"
    return f"area at matched points {change}, not like for like"
