"""Which regressions are over, and by which sweep: decided from the tables alone."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple

from django.db.models import Q
from django.db.models.functions import Now

from dashboard.analysis.detection import ACCURACY, PERFORMANCE
from dashboard.analysis.sides import SweepVerdict
from dashboard.analysis.verdicts import Verdict
from dashboard.models import Regression, Sweep
from dashboard.queries.sides import sides
from dashboard.queries.verdicts import judge_groups

SweepKey = tuple[int, str]

# What a later sweep must be, held against a regression's baseline, to end it.
RECOVERED = (Verdict.WITHIN_NOISE, Verdict.IMPROVEMENT)

# What a later sweep has to be held against the baseline for.
LOOKED_AT = (PERFORMANCE, ACCURACY)


def of_keys(keys: set[SweepKey], prefix: str = "") -> Q:
    """Return the condition that a row is of one of these keys and scenarios."""
    return Q(
        **{
            f"{prefix}config_key_id__in": {key_id for key_id, _ in keys},
            f"{prefix}scenario__in": {scenario for _, scenario in keys},
        }
    )


class Later(NamedTuple):
    """A placed sweep that may have ended a regression of its key."""

    sweep_id: int
    run_id: int
    at: datetime
    segment: int


@dataclass(slots=True)
class Watched:
    """A regression, the later sweeps not looked at yet, and what was found so far."""

    regression: Regression
    waiting: list[Later]
    over: Later | None = None
    checks: list[int] = field(default_factory=list)

    @property
    def asks(self) -> Later | None:
        """Return the sweep to be held against the baseline next, if any."""
        return self.waiting[0] if self.waiting and self.over is None else None


def derive_recoveries(keys: set[SweepKey], judged: Collection[int] = ()) -> int:
    """Say by which later sweep each regression of these keys was over.

    Of performance and accuracy: the first one of the baseline's segment that, held
    against the regression's own baseline, is no worse. What was found of a sweep stands
    until its run, or one of those that are compared, is among the ``judged``. Of
    another kind: the first one that is not listed for it. Returns how many rows
    changed.
    """
    found = Regression.objects.filter(of_keys(keys), is_active=True)
    found = found.select_related("sweep", "baseline").defer("numbers")
    rows = list(found.order_by("pk"))
    later = _later_sweeps(rows)
    watched = [
        _watched(row, later, set(judged)) for row in rows if row.kind in LOOKED_AT
    ]
    while asking := [one for one in watched if one.asks is not None]:
        _look(asking)
    watched += _listed_no_more(rows, later)
    return sum(_store_recovery(one) for one in watched)


def _listed_no_more(
    rows: Sequence[Regression], later: Mapping[SweepKey, list[Later]]
) -> list[Watched]:
    """Return regressions of other kinds with the first later sweep without them."""
    listed = {(row.sweep_id, row.kind) for row in rows}
    others = [row for row in rows if row.kind not in LOOKED_AT]
    watched = []
    for row in others:
        sweep = row.sweep
        if sweep is None or sweep.official_at is None:
            continue
        since = sweep.official_at
        over = next(
            (
                one
                for one in later.get((row.config_key_id, row.scenario), [])
                if one.at > since and (one.sweep_id, row.kind) not in listed
            ),
            None,
        )
        watched.append(Watched(row, [], over))
    return watched


def _later_sweeps(rows: Iterable[Regression]) -> Mapping[SweepKey, list[Later]]:
    """Return the placed sweeps of the regressions' keys, oldest first; no held ones."""
    stored = Sweep.objects.filter(
        config_key_id__in={row.config_key_id for row in rows},
        extends__isnull=True,
        segment__isnull=False,
    ).order_by("official_at", "run__github_run_id")
    found: dict[SweepKey, list[Later]] = {}
    for key_id, scenario, *values in stored.values_list(
        *("config_key_id", "scenario"), *("pk", "run_id", "official_at", "segment")
    ):
        found.setdefault((key_id, scenario), []).append(Later(*values))
    return found


def _watched(
    row: Regression,
    later: Mapping[SweepKey, list[Later]],
    judged: set[int],
) -> Watched:
    """Return what is still to be looked at, after what is known of earlier looks."""
    sweep, baseline = row.sweep, row.baseline
    if sweep is None or baseline is None or sweep.official_at is None:
        return Watched(row, [])
    since = sweep.official_at
    # A held sweep has no segment of its own; its baseline has.
    waiting = [
        one
        for one in later.get((row.config_key_id, row.scenario), [])
        if one.at > since and one.segment == baseline.segment
    ]
    one = Watched(row, waiting)
    if not judged.isdisjoint({sweep.run_id, baseline.run_id}):
        return one
    while (next_one := one.asks) is not None and next_one.run_id not in judged:
        if next_one.sweep_id in row.checks:
            one.checks.append(next_one.sweep_id)
        elif next_one.run_id == row.recovered_by_id:
            one.over = next_one
        else:
            break
        one.waiting.pop(0)
    return one


def _look(asking: Sequence[Watched]) -> None:
    """Hold the next sweep of each regression against its baseline, each on its own."""
    ids = {one.waiting[0].sweep_id for one in asking}
    ids |= {one.regression.baseline_id or 0 for one in asking}
    by_id = {side.sweep_id: side for side in sides(Sweep.objects.filter(pk__in=ids))}
    pairs = [
        (by_id[one.waiting[0].sweep_id], by_id.get(one.regression.baseline_id or 0))
        for one in asking
    ]
    for one, (verdict,) in zip(
        asking, judge_groups([[pair] for pair in pairs]), strict=True
    ):
        seen = one.waiting.pop(0)
        if _is_over(one.regression, verdict):
            one.over = seen
        else:
            one.checks.append(seen.sweep_id)


def _is_over(row: Regression, verdict: SweepVerdict) -> bool:
    """Tell whether a sweep, held against a regression's own baseline, ends it.

    Of accuracy: it measured the evals that fell, and none of its evals is worse.
    """
    if row.kind == PERFORMANCE:
        return verdict.performance in RECOVERED
    measured = [found for found in verdict.evals if found.base is not None]
    there = {(found.head.deployment, found.head.concurrency) for found in measured}
    fell = {(label, c) for label, places in row.numbers["places"] for c in places}
    is_worse = any(found.is_regression for found in measured)
    return bool(measured) and fell <= there and not is_worse


def _store_recovery(one: Watched) -> int:
    row, over = one.regression, one.over
    stored = Regression.objects.filter(pk=row.pk)
    if row.checks != one.checks:
        stored.update(checks=one.checks)
    wanted = (over.run_id, over.at) if over else (None, None)
    if (row.recovered_by_id, row.recovered_at) == wanted:
        return 0
    return stored.update(
        recovered_by_id=wanted[0], recovered_at=wanted[1], updated_at=Now()
    )
