"""Which regressions are over, and by which sweep: decided from the tables alone."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple

from django.db.models import Q
from django.db.models.functions import Now

from dashboard.analysis.detection import PERFORMANCE
from dashboard.analysis.verdicts import Verdict
from dashboard.models import Regression, Sweep
from dashboard.queries.sides import sides
from dashboard.queries.verdicts import judge_groups

SweepKey = tuple[int, str]

# What a later sweep must be, held against a regression's baseline, to end it.
RECOVERED = (Verdict.WITHIN_NOISE, Verdict.IMPROVEMENT)


def of_keys(keys: set[SweepKey], prefix: str = "") -> Q:
    """Return the condition that a row is of one of these keys and scenarios."""
    return Q(
        **{
            f"{prefix}config_key_id__in": {key_id for key_id, _ in keys},
            f"{prefix}scenario__in": {scenario for _, scenario in keys},
        }
    )


class Later(NamedTuple):
    """An official sweep that may have ended a regression of its key and segment."""

    sweep_id: int
    run_id: int
    at: datetime


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

    The first one of the same segment that, held against the regression's own
    baseline, is no worse. What was found of a sweep stands until its run, or one of
    those that are compared, is among the ``judged``. Returns how many rows changed.
    """
    found = Regression.objects.filter(
        of_keys(keys), kind=PERFORMANCE, is_active=True
    ).select_related("sweep", "baseline")
    rows = list(found.defer("numbers").order_by("pk"))
    later = _later_sweeps(rows)
    watched = [_watched(row, later, set(judged)) for row in rows]
    while asking := [one for one in watched if one.asks is not None]:
        _look(asking)
    return sum(_store_recovery(one) for one in watched)


def _later_sweeps(
    rows: Iterable[Regression],
) -> Mapping[tuple[int, str, int | None], list[Later]]:
    """Return the official sweeps of the regressions' keys, oldest first."""
    stored = Sweep.objects.filter(
        config_key_id__in={row.config_key_id for row in rows},
        extends__isnull=True,
        official_at__isnull=False,
    ).order_by("official_at", "run__github_run_id")
    found: dict[tuple[int, str, int | None], list[Later]] = {}
    for key_id, scenario, segment, *values in stored.values_list(
        *("config_key_id", "scenario", "segment"), *("pk", "run_id", "official_at")
    ):
        found.setdefault((key_id, scenario, segment), []).append(Later(*values))
    return found


def _watched(
    row: Regression,
    later: Mapping[tuple[int, str, int | None], list[Later]],
    judged: set[int],
) -> Watched:
    """Return what is still to be looked at, after what is known of earlier looks."""
    sweep, baseline = row.sweep, row.baseline
    if sweep is None or baseline is None or sweep.official_at is None:
        return Watched(row, [])
    place = (row.config_key_id, row.scenario, sweep.segment)
    since = sweep.official_at
    one = Watched(row, [s for s in later.get(place, ()) if s.at > since])
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
        if verdict.verdict in RECOVERED:
            one.over = seen
        else:
            one.checks.append(seen.sweep_id)


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
