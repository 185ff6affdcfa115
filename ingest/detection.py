"""Judges official sweeps and keeps the list of regressions true.

Everything is decided again from the tables, so the order of arrival does not matter.
Triage, which people wrote, is never touched.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import Any, NamedTuple

from celery import current_app
from django.conf import settings
from django.db import transaction
from django.db.models import Q
from django.db.models.functions import Now

from dashboard.analysis.change_points import SWEEPS_NEEDED
from dashboard.analysis.detection import (
    PERFORMANCE,
    Finding,
    Requests,
    regressions,
    requests_of,
)
from dashboard.analysis.sides import Side, SweepVerdict
from dashboard.analysis.verdict_json import verdict_json
from dashboard.models import ConfigKey, Judgement, Point, Regression, Run, Sweep
from dashboard.queries.segment_levels import first_bad_run
from dashboard.queries.sides import sides
from dashboard.queries.verdicts import baselines, judge_sides
from dashboard.vocabulary.scenarios import AGENTIC
from ingest.recoveries import SweepKey, derive_recoveries, of_keys

ALERT_TASK = "ingest.tasks.announce_regressions"


class StoredJudgement(NamedTuple):
    """An official sweep, and what its stored judgement was held against."""

    sweep_id: int
    run_id: int
    github_run_id: int
    config_key_id: int
    scenario: str
    repository_id: int
    sha: str
    at: datetime
    segment: int | None
    judgement_id: int | None
    baseline_id: int | None

    @property
    def place(self) -> SweepKey:
        """Return the history that it belongs to, placed there or held."""
        return self.config_key_id, self.scenario

    @property
    def moment(self) -> tuple[datetime, int]:
        """Return what orders a history."""
        return self.at, self.github_run_id

    @property
    def commit(self) -> tuple[int, str] | None:
        """Return what repeats share, None where the commit is unknown."""
        return (self.repository_id, self.sha) if self.sha else None


@dataclass(slots=True)
class Outcome:
    """What was found of one sweep of a run."""

    verdict: SweepVerdict
    findings: list[Finding] = field(default_factory=list)


def detect(keys: Iterable[SweepKey], changed: Iterable[Run] = ()) -> int:
    """Judge the official sweeps of these keys anew where something changed.

    1. Forget judgements of sweeps that are not official any more. 2. Find the runs to
    judge: those in ``changed``, those held against a sweep of theirs, those held
    against another sweep than they would be today. 3. Judge each run as a whole, since
    its keys share one rate of false discoveries; store judgements and regressions.
    4. Say which regressions a later sweep returned from. Returns how many rows changed.
    """
    keys = set(keys)
    if not keys:
        return 0
    written = _forget(keys)
    changed_ids = {run.pk for run in changed}
    runs = _runs_to_judge(keys, changed_ids)
    for run in Run.objects.filter(pk__in=runs).order_by("created_at", "pk"):
        written += judge_official(run)
    written += _derive_first_bad(keys, runs) + derive_recoveries(keys, runs)
    if written and settings.FRONTIERBOARD_ALERT_URL:
        # Whatever becomes of the message: what was detected is stored.
        tell = partial(current_app.send_task, ALERT_TASK)
        transaction.on_commit(tell, robust=True)
    return written


def _forget(keys: set[SweepKey]) -> int:
    stale = Judgement.objects.filter(of_keys(keys, "sweep__"))
    removed, _ = stale.filter(
        Q(sweep__state__isnull=True) | Q(sweep__extends__isnull=False)
    ).delete()
    gone = Regression.objects.filter(of_keys(keys), is_active=True).exclude(
        sweep__state__isnull=False, sweep__extends__isnull=True
    )
    return removed + gone.update(is_active=False, updated_at=Now())


def _runs_to_judge(keys: set[SweepKey], changed: set[int]) -> set[int]:
    """Return ids of runs with a sweep whose judgement may be another one today."""
    official = Sweep.objects.filter(
        of_keys(keys), state__isnull=False, extends__isnull=True
    )
    rows = official.values_list(
        *("pk", "run_id", "run__github_run_id", "config_key_id", "scenario"),
        *("run__repository_id", "run__sha", "official_at", "segment"),
        *("judgement__pk", "judgement__baseline_id"),
    )
    sweeps = sorted(map(StoredJudgement._make, rows), key=lambda s: s.moment)
    # A repeat is told once, by the earliest run, and is part of a baseline.
    # Of a hidden run, too, which has no sweep in the record any more.
    runs = Run.objects.filter(pk__in=changed).exclude(sha="")
    commits = set(runs.values_list("repository_id", "sha"))
    places = {s.place for s in sweeps if s.run_id in changed}
    touched = {s.sweep_id for s in sweeps if s.commit in commits}
    touched |= _with_extended(changed)
    expected = _expected(sweeps)
    return {
        sweep.run_id
        for sweep in sweeps
        if sweep.run_id in changed
        or sweep.commit in commits
        or sweep.judgement_id is None
        or sweep.baseline_id in touched
        or sweep.baseline_id != expected[sweep.sweep_id]
        # What a held sweep is compared by may stand anywhere before it.
        or (sweep.segment is None and sweep.place in places)
    }


def _with_extended(changed: set[int]) -> set[int]:
    """Return the sweeps of some runs, and those that they extend."""
    own = Sweep.objects.filter(run_id__in=changed)
    extended = own.filter(extends__isnull=False)
    return {
        *own.values_list("pk", flat=True),
        *extended.values_list("extends_id", flat=True),
    }


def _expected(sweeps: Sequence[StoredJudgement]) -> dict[int, int | None]:
    """Return what each sweep is held against, given oldest first, held ones too.

    The newest placed before it, of another commit.
    """
    placed: dict[SweepKey, list[StoredJudgement]] = {}
    expected = {}
    for sweep in sweeps:
        before = placed.setdefault(sweep.place, [])
        expected[sweep.sweep_id] = next(
            (
                earlier.sweep_id
                for earlier in reversed(before)
                if sweep.commit is None or earlier.commit != sweep.commit
            ),
            None,
        )
        if sweep.segment is not None:
            before.append(sweep)
    return expected


def judge_official(run: Run) -> int:
    """Judge a run's official sweeps and store what came of it; return rows changed."""
    official = run.sweeps.filter(state__isnull=False, extends__isnull=True)
    heads = sides(official)
    found = baselines(heads)
    pairs = [(head, found.get((head.config_key, head.scenario))) for head in heads]
    outcomes = [Outcome(verdict) for verdict in judge_sides(pairs)]
    requests = _requests(outcomes)
    told = _told_by_repeats(run)
    for outcome in outcomes:
        base, head = outcome.verdict.base, outcome.verdict.head
        found_worse = regressions(
            outcome.verdict,
            requests.get(base.sweep_id) if base else None,
            requests.get(head.sweep_id),
        )
        place = (head.config_key, head.scenario)
        outcome.findings = [f for f in found_worse if (*place, f.kind) not in told]
    return _store_judgements(outcomes) + _store_regressions(run, outcomes)


def _told_by_repeats(run: Run) -> set[tuple[str, str, str]]:
    """Return what an earlier run on the same commit is listed for already."""
    if not run.sha:
        return set()
    earlier = Regression.objects.filter(
        run__repository=run.repository_id,
        run__sha=run.sha,
        run__created_at__lt=run.created_at,
        is_active=True,
    ).exclude(run=run)
    return set(earlier.values_list("config_key__key", "scenario", "kind"))


def _requests(outcomes: Iterable[Outcome]) -> dict[int, Requests]:
    """Return the requests of agentic sweeps, all points together, by sweep id."""
    ids = {
        side.sweep_id
        for outcome in outcomes
        for side in (outcome.verdict.head, outcome.verdict.base)
        if side is not None and side.scenario == AGENTIC
    }
    if not ids:
        return {}
    points = Point.objects.filter(sweep_id__in=ids, is_current=True)
    totals: dict[int, Requests] = {}
    for sweep_id, accounting in points.values_list(
        "sweep_id", "facts__request_accounting"
    ):
        told = requests_of(accounting)
        if told is not None:
            known = totals.get(sweep_id, Requests(0, 0))
            totals[sweep_id] = Requests(
                known.errors + told.errors, known.measured + told.measured
            )
    return totals


def _store_judgements(outcomes: Sequence[Outcome]) -> int:
    stored = Judgement.objects.in_bulk(
        [outcome.verdict.head.sweep_id for outcome in outcomes], field_name="sweep_id"
    )
    written = 0
    new = []
    for outcome in outcomes:
        verdict = outcome.verdict
        like = verdict.judged.comparison and verdict.judged.comparison.like_for_like
        wanted = {
            "baseline_id": verdict.base.sweep_id if verdict.base else None,
            "verdict": str(verdict.verdict),
            "reason": verdict.judged.reason,
            "sentence": verdict.sentence,
            "change": like.change if like else None,
            "numbers": verdict_json(verdict),
        }
        sweep_id = verdict.head.sweep_id
        if (row := stored.get(sweep_id)) is None:
            new.append(Judgement(sweep_id=sweep_id, **wanted))
        else:
            written += _updated(row, wanted)
    return written + len(Judgement.objects.bulk_create(new))


def _store_regressions(run: Run, outcomes: Iterable[Outcome]) -> int:
    """Store what got worse with a run; what did not any more is marked, not deleted."""
    known = {(r.config_key_id, r.scenario, r.kind): r for r in run.regressions.all()}
    outcomes = list(outcomes)
    key_ids = _key_ids(outcomes)
    written = 0
    found = set()
    for outcome in outcomes:
        verdict = outcome.verdict
        key_id = key_ids[verdict.config_key]
        for finding in outcome.findings:
            place = (key_id, verdict.scenario, finding.kind)
            found.add(place)
            wanted = _columns(verdict, finding)
            if (row := known.get(place)) is not None:
                written += _updated(row, wanted)
            else:
                names = ("config_key_id", "scenario", "kind")
                named = dict(zip(names, place, strict=True))
                Regression.objects.create(run=run, **named, **wanted)
                written += 1
    over = [r.pk for place, r in known.items() if place not in found and r.is_active]
    return written + Regression.objects.filter(pk__in=over).update(
        is_active=False, updated_at=Now()
    )


def _derive_first_bad(keys: set[SweepKey], judged: set[int]) -> int:
    """Say where the worse level began, of open regressions and of runs just judged.

    An earlier sweep may arrive later and make a segment long enough to tell.
    """
    rows = Regression.objects.filter(
        Q(run__in=judged) | of_keys(keys) & Q(recovered_by__isnull=True),
        kind=PERFORMANCE,
        is_active=True,
        sweep__isnull=False,
    )
    stored = list(rows.order_by("pk").values_list("pk", "sweep_id", "first_bad_id"))
    heads = sides(Sweep.objects.filter(pk__in=[sweep_id for _, sweep_id, _ in stored]))
    by_id = {head.sweep_id: head for head in heads}
    written = 0
    for pk, sweep_id, known in stored:
        found = first_bad_run(by_id[sweep_id], needed=SWEEPS_NEEDED)
        if found != known:
            written += Regression.objects.filter(pk=pk).update(
                first_bad_id=found, updated_at=Now()
            )
    return written


def _key_ids(outcomes: Iterable[Outcome]) -> Mapping[str, int]:
    names = {outcome.verdict.config_key for outcome in outcomes}
    keys = ConfigKey.objects.filter(key__in=names)
    return dict(keys.values_list("key", "pk"))


def _columns(verdict: SweepVerdict, finding: Finding) -> dict[str, Any]:
    base: Side | None = verdict.base
    return {
        "sweep_id": verdict.head.sweep_id,
        "baseline_id": base.sweep_id if base else None,
        "is_active": True,
        "is_strong": finding.is_strong,
        "change": finding.change,
        "summary": finding.summary,
        "numbers": {"places": finding.places, "verdict": verdict_json(verdict)},
    }


def _updated(row: Judgement | Regression, wanted: Mapping[str, Any]) -> int:
    """Store values where they differ from what is stored; tell whether they did."""
    if all(getattr(row, name) == value for name, value in wanted.items()):
        return 0
    return type(row).objects.filter(pk=row.pk).update(updated_at=Now(), **dict(wanted))
