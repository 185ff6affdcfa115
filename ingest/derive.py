"""Findings that follow from stored rows: what is official, and which attempts count.

Everything here is computed again from the tables, so the order in which runs arrived
never matters and a killed worker leaves nothing half decided.
"""

from collections.abc import Iterable
from typing import NamedTuple

from django.db.models import Count, Max, Min, Q
from django.db.models.functions import Now

from dashboard.models import (
    Correction,
    EvalResult,
    Point,
    Repository,
    Run,
    Sweep,
)
from dashboard.vocabulary.provenance import PUBLISHED
from ingest.detection import detect
from ingest.measured import note_measured
from ingest.segments import replace_sweeps
from ingest.states import SweepKey, derive_states

_JOINED = {"config_key_id": "sweep__config_key_id", "scenario": "sweep__scenario"}


def derive_publications(runs: Iterable[Run]) -> set[int]:
    """Decide what each run counts as; return ids of runs whose answer changed."""
    changed = set()
    for run in runs:
        publication, merge = _publication(run)
        published_at = merge.created_at if merge else None
        merge_id = merge.pk if merge else None
        found = (run.publication, run.published_by_id, run.published_at)
        if found != (publication, merge_id, published_at):
            run.publication = publication
            run.published_by = merge
            run.published_at = published_at
            Run.objects.filter(pk=run.pk).update(
                publication=publication,
                published_by=merge,
                published_at=published_at,
                updated_at=Now(),
            )
            changed.add(run.pk)
    return changed


def _publication(run: Run) -> tuple[str, Run | None]:
    merge = _publishing_run(run)
    if _is_corrected(run, Correction.Action.HIDE):
        return Run.Publication.HIDDEN, merge
    if merge is not None or is_official_by_itself(run):
        return Run.Publication.OFFICIAL, merge
    return Run.Publication.UNOFFICIAL, None


def is_official_by_itself(run: Run) -> bool:
    """Tell whether an official repository's run is of its default branch, or published.

    What the official dashboard published is official, whatever branch it came from.
    """
    if not run.repository.is_official:
        return False
    return is_of_default_branch(run) or _is_published(run)


def _is_published(run: Run) -> bool:
    return run.artifacts.filter(kind=PUBLISHED).exists()


def is_of_default_branch(run: Run) -> bool:
    """Tell whether a run is a push of the sweep workflow to the default branch."""
    repository: Repository = run.repository
    return (
        run.event == "push"
        and run.workflow_path == repository.sweep_workflow
        and run.branch == repository.default_branch
    )


def _publishing_run(run: Run) -> Run | None:
    """Return the earliest official run that publishes this one's measurements."""
    merges = Run.objects.filter(
        reuse_source_run_id=run.github_run_id, repository=run.repository
    ).exclude(pk=run.pk)
    for merge in merges.select_related("repository").order_by("created_at", "pk"):
        is_hidden = _is_corrected(merge, Correction.Action.HIDE)
        if is_official_by_itself(merge) and not is_hidden:
            return merge
    return None


def _is_corrected(run: Run, action: str) -> bool:
    return Correction.objects.filter(
        run=run, action=action, undone_at__isnull=True
    ).exists()


def settle_run(run: Run, sweep_keys: Iterable[SweepKey]) -> int:
    """Decide everything that follows from a run's rows; return how many rows changed.

    ``sweep_keys`` are the (config key id, scenario) pairs it touches, those of
    sweeps that are gone included.
    """
    return settle_runs([(run, sweep_keys)])


def settle_runs(touched: Iterable[tuple[Run, Iterable[SweepKey]]]) -> int:
    """Decide what follows from the rows of several runs, each with its sweep keys.

    What depends on the whole history of a key is decided once for all of them.
    """
    written, keys, concerned = 0, set[SweepKey](), list[Run]()
    for run, sweep_keys in touched:
        written += derive_current_points(run) + derive_current_evals(run)
        written += note_measured(run)
        related = related_runs(run)
        changed = derive_publications(related)
        written += len(changed)
        if changed or _is_of_record(related):
            # What a merge run says of its changelog decides on its source's sweeps.
            others = Sweep.objects.filter(run__in=[run, *related])
            keys |= {*sweep_keys, *others.values_list("config_key_id", "scenario")}
            concerned += related
        run.refresh_from_db()
    return written + (settle_keys(keys, concerned) if concerned else 0)


def _is_of_record(runs: Iterable[Run]) -> bool:
    """Tell whether some run takes part in the official history, or did until now.

    What stays unofficial changes nothing of it: a link's run is ready sooner.
    """
    runs = list(runs)
    return (
        any(run.publication == Run.Publication.OFFICIAL for run in runs)
        or Sweep.objects.filter(run__in=runs, state__isnull=False).exists()
    )


def settle_keys(keys: Iterable[SweepKey], changed: Iterable[Run] = ()) -> int:
    """Decide on the history of keys: states, segments, verdicts, regressions.

    ``changed`` are the runs whose points may have changed. Returns how many rows did.
    """
    keys = set(keys)
    written = derive_states(keys)
    placed = replace_sweeps(keys)
    runs = [*changed, *Run.objects.filter(pk__in=placed.broken)]
    return written + placed.changed + detect(keys, runs)


def related_runs(run: Run) -> list[Run]:
    """Return the run and those whose publication hangs on it."""
    related = Q(pk=run.pk) | Q(published_by=run)
    if run.reuse_source_run_id is not None:
        related |= Q(github_run_id=run.reuse_source_run_id)
    return list(Run.objects.filter(related).select_related("repository"))


class StoredPoint(NamedTuple):
    """What decides whether a stored point counts; measurements stay in the table."""

    pk: int
    sweep_id: int
    config_key_id: int
    scenario: str
    deployment_id: int
    concurrency: int
    fingerprint: str
    attempt: int
    is_current: bool
    is_excluded: bool

    @property
    def place(self) -> tuple[int, int, int, str]:
        """Where the point stands, whatever the attempt."""
        return (self.sweep_id, self.deployment_id, self.concurrency, self.fingerprint)


def derive_current_points(run: Run) -> int:
    """Mark, per place of a sweep, the newest attempt that nobody excluded.

    Former points are unmarked first: a place has one current point at any time.
    Returns how many marks changed.
    """
    exclusions = _exclusions(run)
    if not exclusions and _is_of_one_attempt(run):
        return 0
    points = _stored_points(run)
    excluded = {p.pk for p in points if any(_covers(c, p) for c in exclusions)}
    newest = {p.place: p.pk for p in points if p.pk not in excluded}
    current = set(newest.values())
    was_current = {p.pk for p in points if p.is_current}
    was_excluded = {p.pk for p in points if p.is_excluded}
    return (
        _mark(Point, was_current - current, is_current=False)
        + _mark(Point, was_excluded - excluded, is_excluded=False)
        + _mark(Point, excluded - was_excluded, is_excluded=True)
        + _mark(Point, current - was_current, is_current=True)
    )


def _is_of_one_attempt(run: Run) -> bool:
    """Tell whether all points are current and of one attempt, as those of most runs.

    A place has one point of an attempt, so there is nothing to choose.
    """
    unmarked = Q(is_current=False) | Q(is_excluded=True)
    found = Point.objects.filter(sweep__run=run).aggregate(
        oldest=Min("attempt"),
        newest=Max("attempt"),
        unmarked=Count("pk", filter=unmarked),
    )
    return found["oldest"] == found["newest"] and not found["unmarked"]


def _stored_points(run: Run) -> list[StoredPoint]:
    """Return a run's points, oldest attempt first."""
    rows = Point.objects.filter(sweep__run=run).order_by("attempt", "pk")
    names = [_JOINED.get(name, name) for name in StoredPoint._fields]
    return [StoredPoint(*row) for row in rows.values_list(*names)]


def _exclusions(run: Run) -> list[Correction]:
    excluding = Correction.objects.filter(run=run, action=Correction.Action.EXCLUDE)
    return list(excluding.filter(undone_at__isnull=True))


def _mark(model: type[Point | EvalResult], ids: set[int], **values: bool) -> int:
    if not ids:
        return 0
    return model.objects.filter(pk__in=ids).update(**values, updated_at=Now())


def _covers(correction: Correction, row: "StoredPoint | StoredEval") -> bool:
    """Tell whether a correction reaches a row: each named part must agree."""
    named = (
        (correction.attempt, row.attempt),
        (correction.config_key_id, row.config_key_id),
        (correction.scenario or None, row.scenario),
        (correction.deployment_id, row.deployment_id),
        (correction.concurrency, row.concurrency),
    )
    return all(asked is None or asked == found for asked, found in named)


class StoredEval(NamedTuple):
    """What decides whether a stored eval result counts."""

    pk: int
    config_key_id: int
    scenario: str
    deployment_id: int
    concurrency: int | None
    task: str
    attempt: int
    is_current: bool

    @property
    def place(self) -> tuple[object, ...]:
        """What was evaluated, whatever the attempt."""
        return self[1:6]


def derive_current_evals(run: Run) -> int:
    """Mark, per eval, the newest attempt that nobody excluded; return changed marks.

    An exclusion that names a deployment or a concurrency is about single points and
    says nothing of what the server answered.
    """
    rows = EvalResult.objects.filter(run=run).order_by("attempt", "pk")
    evals = [StoredEval(*row) for row in rows.values_list(*StoredEval._fields)]
    wide = [
        c for c in _exclusions(run) if c.deployment_id is None and c.concurrency is None
    ]
    counted = [e for e in evals if not any(_covers(c, e) for c in wide)]
    current = set({e.place: e.pk for e in counted}.values())
    was_current = {e.pk for e in evals if e.is_current}
    return _mark(EvalResult, was_current - current, is_current=False) + _mark(
        EvalResult, current - was_current, is_current=True
    )
