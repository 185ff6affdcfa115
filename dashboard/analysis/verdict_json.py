"""A verdict as plain values: what the API gives, and what is stored beside a sweep."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from dashboard.analysis.best_at import BestAt
from dashboard.analysis.comparison import Comparison, Coverage, PointChange
from dashboard.analysis.eval_verdicts import EvalVerdict
from dashboard.analysis.pairing import Place
from dashboard.analysis.sides import Side, SweepVerdict


def verdict_json(verdict: SweepVerdict) -> dict[str, Any]:
    """Return one key's verdict.

    Changes are fractions, times ISO 8601 in UTC, None where there is nothing to tell.
    """
    comparison = verdict.judged.comparison
    return {
        "config_key": verdict.config_key,
        "scenario": verdict.scenario,
        "verdict": str(verdict.verdict),
        "performance": str(verdict.performance),
        "reason": verdict.failed_evals or verdict.judged.reason,
        "headline": verdict.headline,
        "sentence": verdict.sentence,
        "partial": verdict.judged.partial or None,
        "strong": verdict.judged.strong,
        "axes": {"x": verdict.axes[0], "y": verdict.axes[1]},
        "baseline": _baseline(verdict),
        **(_numbers(comparison, verdict) if comparison else _NO_NUMBERS),
        "evals": [_eval(found) for found in verdict.evals],
        "differences": [*verdict.breaks, *verdict.markers],
    }


_NO_NUMBERS: dict[str, Any] = {
    "like_for_like": None,
    "raw_hypervolume_change": None,
    "worst_local": None,
    "coverage": None,
    "points": [],
    "best_at": [],
}


def _baseline(verdict: SweepVerdict) -> dict[str, Any] | None:
    base: Side | None = verdict.base
    if base is None:
        return None
    return {
        "run_id": base.run_id,
        "attempt": base.attempt,
        "publication": base.publication,
        "repeats": base.repeats,
        "measured_at": base.measured_at.isoformat(),
        "official_at": base.at.isoformat(),
        "age_days": verdict.age_days,
        "is_old": verdict.is_old,
    }


def _numbers(comparison: Comparison, verdict: SweepVerdict) -> dict[str, Any]:
    like, worst = comparison.like_for_like, comparison.worst_local
    labels = verdict.labels
    flagged = verdict.judged.flagged
    return {
        "like_for_like": like
        and {
            "change": like.change,
            "low": like.low,
            "high": like.high,
            "pairs": like.pairs,
        },
        "raw_hypervolume_change": comparison.raw_hypervolume,
        "worst_local": worst
        and {
            "loss": worst.loss,
            "deployment": labels[worst.deployment],
            "concurrency": worst.concurrency,
            "x": worst.x,
        },
        "coverage": _coverage(comparison.coverage, verdict),
        "points": [
            _point(point, labels[point.deployment], flag, is_flagged=point in flagged)
            for point in _in_order(comparison.points, labels)
            for flag in (verdict.judged.flag(point),)
        ],
        "best_at": [_best(best) for best in comparison.best_at],
    }


def _in_order(
    points: Sequence[PointChange], labels: Mapping[int, str]
) -> list[PointChange]:
    """Return the changes metric by metric, in an order that no id of a row decides."""
    ranks = {name: n for n, name in enumerate(dict.fromkeys(p.metric for p in points))}
    return sorted(
        points, key=lambda p: (ranks[p.metric], labels[p.deployment], p.concurrency)
    )


def _coverage(coverage: Coverage, verdict: SweepVerdict) -> dict[str, Any]:
    return {
        "lost": named_places(coverage.lost, verdict),
        "unplanned": [list(place) for place in verdict.unplanned],
        "gained": named_places(coverage.gained, verdict),
        "lost_x_range": [list(stretch) for stretch in coverage.lost_x_range],
        "received": coverage.received,
        "planned": coverage.planned,
        "left_out_base": coverage.left_out_base,
        "left_out_head": coverage.left_out_head,
    }


def named_places(
    places: Iterable[tuple[int, tuple[int, ...]]], verdict: SweepVerdict
) -> list[list[Any]]:
    """Return [deployment label, [concurrencies]] of places by deployment id."""
    return sorted([verdict.labels[pk], list(found)] for pk, found in places)


def _point(
    point: PointChange, label: str, flag: str, *, is_flagged: bool
) -> dict[str, Any]:
    return {
        "deployment": label,
        "concurrency": point.concurrency,
        "metric": point.metric,
        "base": point.base,
        "head": point.head,
        "change": point.change,
        "gain": point.gain,
        "z": point.z,
        "flagged": is_flagged,
        "flag": flag,
        "needs_look": point.needs_look,
    }


def _best(best: BestAt) -> dict[str, Any]:
    return {"x": best.x, "base": best.base, "head": best.head}


def _eval(found: EvalVerdict) -> dict[str, Any]:
    head, base, change = found.head, found.base, found.change
    return {
        "task": head.task,
        "deployment": head.deployment,
        "concurrency": head.concurrency,
        "strict": head.shares.get("strict"),
        "flexible": head.shares.get("flexible"),
        "score": head.shares.get("score"),
        "n": head.n,
        "floor": head.floor,
        "state": head.outcome,
        "judged_by": head.decisive,
        "baseline": base and base.shares.get(head.decisive),
        "baseline_run_id": base and base.run_id,
        "difference": change and change.difference,
        "low": change and change.low,
        "high": change and change.high,
        "z": change and change.z,
        "p": change and change.p,
        "level": found.level,
        "words": found.words,
    }


def flagged_places(verdict: SweepVerdict) -> list[list[Any]]:
    """Return [deployment label, [concurrencies]] of the points that got worse."""
    places = sorted({point.place for point in verdict.judged.findings.losses})
    grouped: dict[int, list[int]] = {}
    for deployment, concurrency in map(Place._make, places):
        grouped.setdefault(deployment, []).append(concurrency)
    return sorted([verdict.labels[pk], found] for pk, found in grouped.items())
