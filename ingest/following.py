"""Corrections that name a config key, when a run's rows move to another one."""

from collections.abc import Iterable

from django.db.models import Q

from dashboard.models import Correction, EvalResult, Point, Run, Sweep

Record = tuple[int, int, str]  # raw record, config key, scenario


class KeyFollower:
    """Leads a run's corrections after its rows; made before they may move."""

    def __init__(self, run: Run) -> None:
        """Note which records stand under the keys that corrections name."""
        self._run = run
        self._named = list(
            Correction.objects.filter(run=run, config_key__isnull=False).order_by("pk")
        )
        key_ids = {c.config_key_id for c in self._named}
        self._before = [r for r in _records(run) if r[1] in key_ids] if key_ids else []

    def follow(self) -> int:
        """Point corrections to where their rows are now; return how many moved.

        A correction follows when nothing of the run is left under its key, and all
        that it covered went to one other key. Else it stays, and covers nothing
        until its key has rows again.
        """
        if not self._named:
            return 0
        now = {record: key_id for record, key_id, _ in _records(self._run)}
        return sum(self._follow(correction, now) for correction in self._named)

    def _follow(self, correction: Correction, now: dict[int, int]) -> int:
        covered = [r for r in self._before if _is_of(correction, r)]
        targets = {now[record] for record, _, _ in covered if record in now}
        if len(targets) != 1 or self._has_rows(correction):
            return 0
        same = {
            name: getattr(correction, name)
            for name in ("action", "attempt", "scenario", "deployment", "concurrency")
        }
        here = Correction.objects.filter(run=self._run, **same)
        target = targets.pop()
        if correction.undone_at is None and (
            here.filter(config_key_id=target, undone_at__isnull=True).exists()
        ):
            return 0  # the same was decided under the other key
        return here.filter(pk=correction.pk).update(config_key_id=target)

    def _has_rows(self, correction: Correction) -> bool:
        where = Q(run=self._run, config_key_id=correction.config_key_id)
        if correction.scenario:
            where &= Q(scenario=correction.scenario)
        return (
            Sweep.objects.filter(where).exists()
            or EvalResult.objects.filter(where).exists()
        )


def _is_of(correction: Correction, record: Record) -> bool:
    _, key_id, scenario = record
    return key_id == correction.config_key_id and correction.scenario in ("", scenario)


def _records(run: Run) -> Iterable[Record]:
    """Yield the raw records of a run's points and evals with where they stand."""
    points = Point.objects.filter(sweep__run=run, raw_record__isnull=False)
    yield from points.values_list(
        "raw_record_id", "sweep__config_key_id", "sweep__scenario"
    )
    evals = EvalResult.objects.filter(run=run, raw_record__isnull=False)
    yield from evals.values_list("raw_record_id", "config_key_id", "scenario")
