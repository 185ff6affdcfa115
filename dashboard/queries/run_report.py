"""One run in full: how far it came, what it measured, what was not taken and why.

The number of queries does not depend on how much the run holds.
"""

from collections import defaultdict
from dataclasses import dataclass
from typing import NamedTuple

from dashboard.models import (
    Artifact,
    ChangelogEntry,
    Correction,
    IngestRequest,
    Job,
    Run,
    RunAttempt,
    RunStat,
    Sweep,
)
from dashboard.queries import run_parts
from dashboard.queries.requests import newest_requests
from dashboard.queries.run_accuracy import Accuracy, accuracy
from dashboard.queries.run_changes import SweepChanges, sweep_changes
from dashboard.queries.run_jobs import FailedJob, failed_jobs
from dashboard.queries.run_parts import (
    EXAMPLES,
    JudgedEval,
    RunPoint,
    SkipGroup,
    SweepReport,
)
from dashboard.queries.runs import publication
from dashboard.queries.usable import FAILED_ROW, Expired, nothing_usable
from dashboard.vocabulary.links import commit_link, pull_link, web_link
from dashboard.vocabulary.provenance import ARTIFACTS, PUBLISHED
from dashboard.vocabulary.scenarios import AGENTIC

# A longer table says less than its download.
MOST_POINTS = 200
REQUESTS = 5


class PointFlag(NamedTuple):
    """One doubt about one point."""

    sweep: Sweep
    point: RunPoint
    code: str
    text: str


@dataclass(frozen=True, slots=True)
class FlagGroup:
    """All doubts of one kind, with the first examples."""

    code: str
    count: int
    examples: list[PointFlag]


@dataclass(frozen=True, slots=True)
class RunReport:
    """A run with all that belongs to it, or to one attempt of it."""

    run: Run
    attempt: int | None
    attempts: list[RunAttempt]
    source: Run | None
    sweeps: list[SweepReport]
    points: list[RunPoint]
    evals: list[JudgedEval]
    every_job: list[Job]
    skips: list[SkipGroup]
    artifacts: list[Artifact]
    changelog: list[ChangelogEntry]
    stats: list[RunStat]
    corrections: list[Correction]
    requests: list[IngestRequest]

    @property
    def shown_attempt(self) -> RunAttempt | None:
        """Return the attempt asked for, if it is stored."""
        return next((a for a in self.attempts if a.attempt == self.attempt), None)

    @property
    def has_attempt(self) -> bool:
        """Tell whether anything is known of the attempt asked for."""
        return bool(
            self.shown_attempt or self.attempt_points or self.artifacts or self.jobs
        )

    @property
    def status(self) -> str:
        """Return the status of the attempt asked for, else of the run."""
        return self.shown_attempt.status if self.shown_attempt else self.run.status

    @property
    def conclusion(self) -> str:
        """Return the conclusion of the attempt asked for, else of the run."""
        shown = self.shown_attempt
        return shown.conclusion if shown else self.run.conclusion

    @property
    def publication(self) -> str:
        """Return official, unofficial, held or hidden."""
        held = any(s.sweep.state == Sweep.State.HELD for s in self.sweeps)
        return publication(self.run, has_held_sweep=held)

    @property
    def run_link(self) -> str:
        """Return the address of the run at its forge, empty if there is none."""
        return web_link(self.run.url)

    @property
    def commit_link(self) -> str:
        """Return the address of the measured commit, empty if unknown."""
        return commit_link(self.run.url, self.run.sha)

    @property
    def pull_link(self) -> str:
        """Return the address of the run's pull request, empty if unknown."""
        return pull_link(self.run.url, self.run.pr_number)

    @property
    def received(self) -> int:
        """Return how many points were received."""
        if self.attempt is None:
            return self.run.received_count
        return sum(report.received for report in self.sweeps)

    @property
    def planned(self) -> int | None:
        """Return how many points were planned, None where no plan is known."""
        return self.run.planned_count

    @property
    def missing_count(self) -> int | None:
        """Return how many planned points are not there, None without a plan."""
        if self.planned is None:
            return None
        if any(report.sweep.planned is not None for report in self.sweeps):
            return sum(len(report.missing) for report in self.sweeps)
        return max(self.planned - self.received, 0)

    @property
    def jobs(self) -> list[Job]:
        """Return the jobs of the run, or of the attempt asked for."""
        return [j for j in self.every_job if self.attempt in (None, j.attempt)]

    @property
    def failed_jobs(self) -> list[FailedJob]:
        """Return jobs whose newest attempt failed or was cancelled."""
        return failed_jobs(self.every_job, self.attempt)

    @property
    def failed_count(self) -> int:
        """Return how many jobs did not succeed for another reason than a person."""
        return len(self.failed_jobs) - self.cancelled_count

    @property
    def cancelled_count(self) -> int:
        """Return how many jobs were cancelled."""
        return sum(failed.is_cancelled for failed in self.failed_jobs)

    @property
    def recovered_count(self) -> int:
        """Return how many jobs did not succeed here and did in another attempt."""
        return sum(failed.succeeded_in is not None for failed in self.failed_jobs)

    @property
    def rejected(self) -> list[Artifact]:
        """Return artifacts that could not be read."""
        return [a for a in self.artifacts if a.state == Artifact.State.REJECTED]

    @property
    def provenance(self) -> str:
        """Say where its points come from: artifacts, what was published, or both."""
        kinds = {a.kind == PUBLISHED for a in self.artifacts}
        return " and ".join(
            word
            for word, is_published in ((ARTIFACTS, False), (PUBLISHED, True))
            if is_published in kinds
        )

    @property
    def expired(self) -> list[Artifact]:
        """Return artifacts that are no longer there to fetch."""
        gone = Artifact.State.EXPIRED
        return [a for a in self.artifacts if a.expired or a.state == gone]

    @property
    def expiry(self) -> Expired:
        """Return how many artifacts are gone, and how many were never fetched."""
        gone = self.expired
        lost = [a for a in gone if a.state == Artifact.State.EXPIRED]
        days = [a.expires_at for a in gone if a.expires_at is not None]
        return Expired(len(gone), len(lost), max(days, default=None))

    @property
    def counted_stats(self) -> list[RunStat]:
        """Return the job counts of labels under which any job ran."""
        return [stat for stat in self.stats if stat.total]

    @property
    def uncounted_stats(self) -> list[str]:
        """Return the labels under which the run counted no job at all."""
        return [stat.raw_key for stat in self.stats if not stat.total]

    @property
    def skip_count(self) -> int:
        """Return how many records were not taken."""
        return sum(group.count for group in self.skips)

    @property
    def accuracy(self) -> Accuracy:
        """Return whether accuracy is intact: every score at its floor, none missing.

        Nobody planned which attempt was to bring which of them.
        """
        if self.attempt is not None:
            return accuracy(self.evals, None)
        run = self.run
        return accuracy(self.evals, run.eval_planned_count, run.reuse_source_run_id)

    @property
    def request_errors(self) -> int:
        """Return how many requests of points that count were dropped for an error."""
        counted = [point for point in self.points if point.counts(self.attempt)]
        return sum(point.errors.dropped or 0 for point in counted)

    @property
    def has_accounting(self) -> bool:
        """Tell whether any of these points says which of its requests failed."""
        return any(point.errors.dropped is not None for point in self.attempt_points)

    @property
    def odd_links(self) -> list[str]:
        """Return what is wrong with links of the changelog, each fault once."""
        states = [e.link_state for e in self.changelog if e.link_state != "good"]
        return list(dict.fromkeys(states))

    @property
    def attempt_points(self) -> list[RunPoint]:
        """Return every point of the run, or of the attempt asked for."""
        if self.attempt is None:
            return self.points
        return [point for point in self.points if point.attempt == self.attempt]

    @property
    def point_rows(self) -> list[tuple[Sweep, RunPoint]]:
        """Return the first points with their sweeps, as a table shows them."""
        sweeps = {report.sweep.pk: report.sweep for report in self.sweeps}
        shown = self.attempt_points[:MOST_POINTS]
        return [(sweeps[point.sweep_id], point) for point in shown]

    @property
    def current_count(self) -> int:
        """Return how many of these points count today."""
        return sum(point.is_current for point in self.attempt_points)

    @property
    def superseded_count(self) -> int:
        """Return how many of these points a later upload or attempt replaced."""
        return sum(p.standing == "superseded" for p in self.attempt_points)

    @property
    def changes(self) -> list[SweepChanges]:
        """Return what changed with each sweep that has a place in a history."""
        sweeps = [report.sweep for report in self.sweeps]
        return sweep_changes(sweeps, self.changelog)

    @property
    def active_corrections(self) -> list[Correction]:
        """Return the corrections that nobody has undone."""
        return [c for c in self.corrections if c.undone_at is None]

    @property
    def point_flags(self) -> list[PointFlag]:
        """Return every doubt about every point that counts."""
        sweeps = {report.sweep.pk: report.sweep for report in self.sweeps}
        return [
            PointFlag(sweeps[point.sweep_id], point, code, text)
            for point in self.points
            if point.counts(self.attempt)
            for code, text in point.flags
        ]

    @property
    def flag_groups(self) -> list[FlagGroup]:
        """Return the doubts by their code, with the first examples of each."""
        grouped: dict[str, list[PointFlag]] = defaultdict(list)
        for flag in self.point_flags:
            grouped[flag.code].append(flag)
        return [
            FlagGroup(code, len(flags), flags[:EXAMPLES])
            for code, flags in sorted(grouped.items())
        ]

    @property
    def is_agentic_only(self) -> bool:
        """Tell whether the run measured trace replays and nothing else."""
        return {report.sweep.scenario for report in self.sweeps} == {AGENTIC}

    @property
    def nothing_usable(self) -> str:
        """Return why there is no point to show, or an empty text if there is one."""
        is_source = self.run.reuse_source_run_id is None and self.attempt is None
        if self.received or not is_source:
            return ""
        failed = sum(g.count for g in self.skips if g.reason == FAILED_ROW)
        names = [job.name for job in self.jobs]
        return nothing_usable(self.run, failed, names, self.expiry)


def run_report(github_run_id: int, attempt: int | None = None) -> RunReport | None:
    """Collect a run, or what one attempt of it left; None if the run is not stored."""
    runs = Run.objects.select_related("repository", "published_by")
    run = runs.filter(github_run_id=github_run_id).first()
    if run is None:
        return None
    points = run_parts.points(run)
    return RunReport(
        run=run,
        attempt=attempt,
        attempts=list(run.attempts.all()),
        source=run_parts.source_run(run),
        sweeps=[
            run_parts.sweep_report(sweep, points, attempt)
            for sweep in run_parts.sweeps(run)
        ],
        points=points,
        evals=run_parts.evals(run, attempt),
        every_job=run_parts.jobs(run),
        skips=run_parts.skip_groups(run, attempt),
        artifacts=run_parts.artifacts(run, attempt),
        changelog=list(run.changelog.order_by("base_ref", "head_ref", "index")),
        stats=list(run.stats.order_by("raw_key")),
        corrections=run_parts.corrections(run),
        requests=newest_requests(REQUESTS, run.github_run_id),
    )
