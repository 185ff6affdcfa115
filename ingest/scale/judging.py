"""Made-up verdicts and regressions, in the shape in which real ones are stored."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from dashboard.models import Judgement
from dashboard.vocabulary.metrics import default_axes
from ingest.scale.history import GAIN, LOSS, Day
from ingest.scale.measurements import Values

Verdict = Judgement.Verdict


def verdict(day: Day) -> Verdict:
    """Return what a comparison of a sweep with its baseline would say."""
    if day.baseline is None:
        return Verdict.NO_BASELINE
    if day.placed is not None and day.placed.breaks:
        return Verdict.NOT_COMPARABLE
    if day.begins:
        return Verdict.REGRESSION
    if day.ends or day.gains:
        return Verdict.IMPROVEMENT
    return Verdict.WITHIN_NOISE


def change(day: Day) -> float | None:
    """Return how the frontier moved, a fraction; None where nothing is compared."""
    said = verdict(day)
    if said in (Verdict.NO_BASELINE, Verdict.NOT_COMPARABLE):
        return None
    moved = {Verdict.REGRESSION: -LOSS, Verdict.IMPROVEMENT: LOSS if day.ends else GAIN}
    return moved.get(said, 0.001)


def reason(day: Day) -> str:
    """Return why the verdict is what it is."""
    return {
        Verdict.NO_BASELINE: "there is no earlier official sweep of this key",
        Verdict.NOT_COMPARABLE: "checkpoint differs",
        Verdict.REGRESSION: f"worse beyond the noise at {_losses(day)} points",
        Verdict.IMPROVEMENT: "better beyond the noise",
    }.get(verdict(day), "no change exceeds the noise")


def sentence(day: Day) -> str:
    """Return the verdict in one sentence."""
    return f"{verdict(day).value}: {reason(day)}"


def numbers(
    day: Day, run_ids: Mapping[int, int], before: Values | None, after: Values | None
) -> dict[str, Any]:
    """Return a comparison as it is stored; points only of what got worse.

    ``before`` and ``after`` are the throughput of the places of baseline and sweep,
    ``run_ids`` GitHub's ids by row id.
    """
    x, y = default_axes(agentic=day.key.is_agentic)
    moved = change(day)
    is_compared = moved is not None
    points = [] if before is None or after is None else _points(day, before, after)
    return {
        "config_key": day.key.name,
        "scenario": day.key.scenario,
        "verdict": verdict(day).value,
        "performance": verdict(day).value,
        "reason": reason(day),
        "headline": verdict(day).value,
        "sentence": sentence(day),
        "partial": None,
        "strong": day.begins,
        "axes": {"x": x, "y": y},
        "baseline": _baseline(day, run_ids),
        "like_for_like": {
            "change": moved,
            "low": moved - 0.01,
            "high": moved + 0.01,
            "pairs": len(day.key.places),
        }
        if moved is not None
        else None,
        "raw_hypervolume_change": moved,
        "worst_local": None,
        "coverage": _coverage(day) if is_compared else None,
        "points": points,
        "best_at": [],
        "evals": [],
        "differences": [
            *(day.placed.breaks if day.placed else ()),
            *(day.placed.markers if day.placed else ()),
        ],
    }


def places(day: Day) -> list[list[object]]:
    """Return [deployment label, [concurrencies]] of what a sweep loses."""
    found: dict[str, list[int]] = {}
    for (shape, concurrency), lost in zip(day.key.places, day.lost, strict=True):
        if lost:
            found.setdefault(day.key.shapes[shape].label, []).append(concurrency)
    return [[label, found[label]] for label in sorted(found)]


def _losses(day: Day) -> str:
    return f"{int(np.count_nonzero(day.lost))} of {len(day.key.places)}"


def _baseline(day: Day, run_ids: Mapping[int, int]) -> dict[str, Any] | None:
    base = day.baseline
    if base is None:
        return None
    at = base.moment.at.isoformat()
    return {
        "run_id": run_ids[base.run_id],
        "attempt": None,
        "publication": "official",
        "repeats": 0,
        "measured_at": at,
        "official_at": at,
        "age_days": (day.moment.at - base.moment.at).days,
        "is_old": False,
    }


def _coverage(day: Day) -> dict[str, Any]:
    nothing = ("lost", "unplanned", "gained", "lost_x_range")
    received = len(day.key.places)
    return {
        **{name: [] for name in nothing},
        "received": received,
        "planned": received + day.missing,
        "left_out_base": 0,
        "left_out_head": 0,
    }


def _points(day: Day, before: Values, after: Values) -> list[dict[str, Any]]:
    _, metric = default_axes(agentic=day.key.is_agentic)
    return [
        {
            "deployment": day.key.shapes[shape].label,
            "concurrency": concurrency,
            "metric": metric,
            "base": base,
            "head": head,
            "change": head / base - 1,
            "gain": head / base - 1,
            "z": (head / base - 1) / 0.0075,
            "flagged": bool(lost),
            "flag": "worse" if lost else "",
            "needs_look": False,
        }
        for (shape, concurrency), lost, base, head in zip(
            day.key.places, day.lost, before.tolist(), after.tolist(), strict=True
        )
    ]
