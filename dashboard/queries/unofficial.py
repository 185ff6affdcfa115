"""What is said of the runs that a link asks for: a few queries for all of them."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.db.models import Count, F, Max, Q
from django.utils import timezone

from dashboard.models import (
    Artifact,
    EvalResult,
    Fetch,
    IngestRequest,
    Job,
    Point,
    Run,
    Skip,
)
from dashboard.queries.run_accuracy import accuracy
from dashboard.queries.run_parts import JudgedEval, judged
from dashboard.queries.usable import FAILED_ROW, Expired, nothing_usable
from dashboard.vocabulary.links import commit_link, pull_link, web_link

EXPIRED_ARTIFACT = "expired_artifact"
# GitHub lets a run be started again for this long.
RERUN_FOR = timedelta(days=30)

# A run by its id, as a whole (None) or one attempt of it.
Wanted = tuple[int, int | None]


@dataclass(frozen=True, slots=True)
class RunSummary:
    """One stored run: how far it came, whether it is accurate, how old the copy is.

    ``unusable`` is the sentence that says why it has no point, empty where it has.
    """

    run: Run
    status: str
    conclusion: str
    received: int
    evals: int
    passed: int
    failed: int
    evals_planned: int | None
    evals_missing: int
    unusable: str
    skipped: Sequence[tuple[str, int]]
    expired: Expired
    fetch: Fetch | None
    source: Run | None

    @property
    def measuring(self) -> Run:
        """Return the run that measured: itself, or the one that it publishes."""
        return self.source or self.run

    @property
    def planned(self) -> int | None:
        """Return how many points were planned, None where no plan is known."""
        return self.measuring.planned_count

    @property
    def missing(self) -> int | None:
        """Return how many planned points did not come, None without a plan."""
        return None if self.planned is None else max(self.planned - self.received, 0)

    @property
    def word(self) -> str:
        """Return how the run ended, or how far it is."""
        return self.conclusion or self.status or "status unknown"

    @property
    def run_link(self) -> str:
        """Return the run's address at its forge, empty if unknown."""
        return web_link(self.run.url)

    @property
    def pull_link(self) -> str:
        """Return the address of its pull request, empty if unknown."""
        return pull_link(self.run.url, self.run.pr_number)

    @property
    def commit_link(self) -> str:
        """Return the address of its commit, empty if unknown."""
        return commit_link(self.run.url, self.run.sha)

    @property
    def stored_at(self) -> datetime:
        """Return when the copy that is shown was made."""
        return self.fetch.fetched_at if self.fetch else self.run.updated_at

    @property
    def may_have_changed(self) -> bool:
        """Tell whether GitHub may know more of the run than the stored copy.

        A finished run only while it can still be started again; never a copy younger
        than the interval of the settings.
        """
        now = timezone.now()
        fresh_for = timedelta(seconds=settings.FRONTIERBOARD_REFETCH_SECONDS)
        if now - self.stored_at < fresh_for:
            return False
        is_whole = self.fetch is not None and self.fetch.is_complete
        return not is_whole or now - self.run.created_at < RERUN_FOR


def summaries(asked: Iterable[Wanted]) -> dict[Wanted, RunSummary]:
    """Return the stored ones of these runs, each as a whole or as one attempt."""
    wanted = list(asked)
    runs = Run.objects.filter(github_run_id__in={run_id for run_id, _ in wanted})
    found = {
        run.github_run_id: run
        for run in runs.select_related("repository", "published_by").prefetch_related(
            "attempts"
        )
    }
    ids = [run.pk for run in found.values()]
    sources = _sources(found.values())
    parts = _Parts(
        evals=_evals([*ids, *(source.pk for source in sources.values())]),
        skips=_skips(ids),
        jobs=_job_names([r.pk for r in found.values() if not r.received_count]),
        expired=_expired(ids),
        fetches={fetch.run_id: fetch for fetch in Fetch.objects.filter(run__in=ids)},
        sources=sources,
        points=_points(ids) if any(attempt for _, attempt in wanted) else {},
    )
    return {
        (run_id, attempt): _summary(found[run_id], attempt, parts)
        for run_id, attempt in wanted
        if run_id in found
    }


def newest_requests_of(run_ids: Iterable[int]) -> dict[int, IngestRequest]:
    """Return the newest request for each of these runs, in one query."""
    found = IngestRequest.objects.filter(
        kind=IngestRequest.Kind.RUN, github_run_id__in=list(run_ids)
    )
    newest = found.order_by("github_run_id", "-requested_at", "-pk")
    return {
        request.github_run_id: request
        for request in newest.distinct("github_run_id")
        if request.github_run_id is not None
    }


@dataclass(frozen=True, slots=True)
class _Parts:
    """What belongs to the runs, by their primary key."""

    evals: Mapping[int, list[JudgedEval]]
    skips: Mapping[int, list[tuple[str, int]]]
    jobs: Mapping[int, list[str]]
    expired: Mapping[int, Expired]
    fetches: Mapping[int, Fetch]
    sources: Mapping[int, Run]
    points: Mapping[tuple[int, int], int]


def _summary(run: Run, attempt: int | None, parts: _Parts) -> RunSummary:
    of = next((a for a in run.attempts.all() if a.attempt == attempt), None)
    source = parts.sources.get(run.reuse_source_run_id or 0)
    evals = _evals_of(run, attempt, source, parts)
    # What is published has no part in attempts; of what was measured, nobody
    # planned which attempt was to bring it.
    part = attempt if source is None else None
    planned = (source or run).eval_planned_count if part is None else None
    found = accuracy(evals, planned)
    skipped = parts.skips.get(run.pk, [])
    expired = parts.expired.get(run.pk, Expired())
    unusable = ""
    if not run.received_count and run.reuse_source_run_id is None:
        failed = sum(count for reason, count in skipped if reason == FAILED_ROW)
        names = parts.jobs.get(run.pk, [])
        unusable = nothing_usable(run, failed, names, expired)
    received = (source or run).received_count
    if part is not None:
        received = parts.points.get((run.pk, part), 0)
    return RunSummary(
        run=run,
        status=of.status if of else run.status,
        conclusion=of.conclusion if of else run.conclusion,
        received=received,
        evals=found.total,
        passed=found.passed,
        failed=found.failed,
        evals_planned=planned,
        evals_missing=found.missing,
        unusable=unusable,
        # What expired has a sentence of its own.
        skipped=[(why, n) for why, n in skipped if why != EXPIRED_ARTIFACT],
        expired=expired,
        fetch=parts.fetches.get(run.pk),
        source=source,
    )


def _evals_of(
    run: Run, attempt: int | None, source: Run | None, parts: _Parts
) -> list[JudgedEval]:
    """Return the scores of a run, with those that it publishes of another one."""
    own = parts.evals.get(run.pk, [])
    if attempt is not None:
        own = [found for found in own if found.result.attempt == attempt]
    else:
        own = [found for found in own if found.result.is_current]
    published = parts.evals.get(source.pk, []) if source else []
    return own + [found for found in published if found.result.is_current]


def _evals(ids: Sequence[int]) -> Mapping[int, list[JudgedEval]]:
    grouped: dict[int, list[JudgedEval]] = defaultdict(list)
    found = EvalResult.objects.filter(run__in=ids)
    for judged_eval in judged(found.select_related("config_key", "run")):
        grouped[judged_eval.result.run_id].append(judged_eval)
    return grouped


def _skips(ids: Sequence[int]) -> Mapping[int, list[tuple[str, int]]]:
    counted = Skip.objects.filter(run__in=ids).values_list("run_id", "reason")
    grouped: dict[int, list[tuple[str, int]]] = defaultdict(list)
    for run, reason, count in counted.annotate(n=Count("pk")).order_by("-n", "reason"):
        grouped[run].append((reason, count))
    return grouped


def _job_names(ids: Sequence[int]) -> Mapping[int, list[str]]:
    grouped: dict[int, list[str]] = defaultdict(list)
    for run, name in Job.objects.filter(run__in=ids).values_list("run_id", "name"):
        grouped[run].append(name)
    return grouped


def _expired(ids: Sequence[int]) -> Mapping[int, Expired]:
    lost = Q(state=Artifact.State.EXPIRED)
    gone = Artifact.objects.filter(Q(expired=True) | lost, run__in=ids)
    counted = gone.values_list("run_id").annotate(
        n=Count("pk"), unfetched=Count("pk", filter=lost), at=Max("expires_at")
    )
    return {run: Expired(*told) for run, *told in counted.order_by(F("n"))}


def _points(ids: Sequence[int]) -> Mapping[tuple[int, int], int]:
    counted = Point.objects.filter(sweep__run__in=ids, is_excluded=False)
    by_attempt = counted.values_list("sweep__run_id", "attempt").annotate(n=Count("pk"))
    return {(run, attempt): n for run, attempt, n in by_attempt.order_by("n")}


def _sources(runs: Iterable[Run]) -> Mapping[int, Run]:
    named = [r.reuse_source_run_id for r in runs if r.reuse_source_run_id]
    found = Run.objects.filter(github_run_id__in=named) if named else []
    return {run.github_run_id: run for run in found}
