"""Plays a run's attempts on the clusters: the jobs and uploads that come of it."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from demo import names, uploads
from demo.closed_loop import Load
from demo.cluster import Clusters, Slot
from demo.fixed_rows import PROMPTS, measured
from demo.masters import Masters
from demo.plans import eval_plan, throughput_plan
from demo.recipes import Recipe
from demo.repository import CLUSTERS
from demo.runs import Attempt, Event, Outcome, Run
from demo.uploads import Upload, as_json

SERVER_START_S = 420
AGENTIC_S = 4500
EVAL_S = 1080
SETUP = timedelta(minutes=3)
UPLOADED_BEFORE_END = timedelta(seconds=20)


@dataclass(frozen=True, slots=True)
class Job:
    """A job of an attempt, as the forge lists it."""

    attempt: int
    name: str
    conclusion: str
    label: str
    runner: str
    start: datetime
    end: datetime


@dataclass(slots=True)
class Record:
    """What a run has left so far. ``spans`` holds the (start, end) of its attempts."""

    jobs: list[Job] = field(default_factory=list)
    uploads: list[Upload] = field(default_factory=list)
    rows: list[dict[str, Any]] = field(default_factory=list)
    eval_rows: list[dict[str, Any]] = field(default_factory=list)
    spans: list[tuple[datetime, datetime]] = field(default_factory=list)


def play(run: Run, masters: Masters, created: datetime, changelog: str) -> Record:
    """Play all attempts of a run; ``changelog`` is its metadata file, may be empty."""
    record = Record()
    for number, attempt in enumerate(run.attempts, start=1):
        start = created + timedelta(hours=attempt.after_h)
        player = _Player(run, masters, record, number, attempt, start)
        record.spans.append((start, player.play(changelog)))
    return record


class _Player:
    """One attempt while it is played."""

    def __init__(
        self,
        run: Run,
        masters: Masters,
        record: Record,
        number: int,
        attempt: Attempt,
        start: datetime,
    ) -> None:
        self.run, self.record, self.number = run, record, number
        self.attempt, self.start = attempt, start
        measures = run.reuses is None
        self.plan = throughput_plan(run, masters) if measures else []
        self.evals = eval_plan(run, masters) if measures else []
        self.clusters = Clusters(start + SETUP)
        self.seed = f"{run.name}#{number}"

    def play(self, changelog: str) -> datetime:
        """Run all jobs; return the end of the attempt."""
        self._service_job("setup", self.start + timedelta(seconds=10))
        for index, recipe in enumerate(self.plan):
            self._throughput_job(recipe, index)
        for recipe, concurrency in self.evals:
            self._eval_job(recipe, concurrency)
        end = self.clusters.finished() + timedelta(seconds=30)
        self._collect(end)
        if changelog:
            self._service_job("upload-changelog-metadata", end)
            self._upload(
                "changelog-metadata", {"changelog_metadata.json": changelog}, end
            )
        return end + timedelta(minutes=2)

    def _throughput_job(self, recipe: Recipe, index: int) -> None:
        outcome = self.attempt.outcome(recipe, min(recipe.concurrencies))
        if outcome is Outcome.ABSENT:
            return
        slot = self.clusters.place(recipe, _seconds(recipe, outcome), self.number)
        canary = index == 0 and self.run.event is Event.PULL_REQUEST
        caller = names.caller(recipe)
        if canary and recipe.lengths and not recipe.multinode:
            caller = "canary"
        name = names.job_name(recipe, caller, _priority(recipe))
        conclusion = Outcome.FAILURE if outcome is Outcome.NO_REQUESTS else outcome
        self._job(recipe, name, conclusion.value, slot)
        self._throughput_uploads(recipe, outcome, slot)

    def _throughput_uploads(self, recipe: Recipe, outcome: Outcome, slot: Slot) -> None:
        created = slot.end - UPLOADED_BEFORE_END
        if outcome is Outcome.SUCCESS:
            rows = uploads.measured_rows(self.run, self.seed, recipe)
        elif outcome is Outcome.NO_REQUESTS:
            rows = uploads.failed_rows(recipe)
        else:
            rows = {}
        if rows:
            upload = uploads.row_upload(recipe, slot.runner, rows, created)
            self.record.uploads.append(upload)
            self.record.rows += rows.values()
        if outcome is Outcome.SUCCESS and self.run.keeps_requests:
            raw = uploads.raw_upload(recipe, self.seed, slot, created)
            self.record.uploads += [raw] if raw else []
        if conclusion_is_failure(outcome):
            log = uploads.log_upload(recipe, slot.runner, created)
            self.record.uploads.append(log)
        invalid = any(row.get("power_valid") == 0 for row in rows.values())
        if invalid and not recipe.multinode:
            audit = uploads.power_upload(recipe, slot.runner, created)
            self.record.uploads.append(audit)

    def _eval_job(self, recipe: Recipe, concurrency: int) -> None:
        outcome = self._eval_outcome(recipe)
        if outcome is Outcome.ABSENT:
            return
        slot = self.clusters.place(recipe, EVAL_S, self.number)
        caller = names.caller(recipe, evaluates=True)
        name = f"{names.job_name(recipe, caller, _priority(recipe))} | eval-only"
        self._job(recipe, name, outcome.value, slot)
        if outcome is not Outcome.SUCCESS:
            return
        upload, rows = uploads.eval_upload(
            self.run, recipe, concurrency, slot.runner, slot.end - UPLOADED_BEFORE_END
        )
        self.record.uploads.append(upload)
        self.record.eval_rows += rows

    def _eval_outcome(self, recipe: Recipe) -> Outcome:
        """Let an eval fail where the throughput job of the same server failed."""
        outcome = self.attempt.outcome(recipe, min(recipe.concurrencies))
        if outcome is Outcome.NO_REQUESTS:
            return Outcome.FAILURE
        if self.attempt.conclusion == Outcome.CANCELLED.value:
            return Outcome.CANCELLED
        return outcome

    def _collect(self, end: datetime) -> None:
        """Upload the aggregates; a sweep of agentic keys alone has no row aggregate."""
        fixed = any(recipe.lengths for recipe in self.plan)
        if fixed:
            self._service_job("collect-results / collect-results", end)
            self._upload(
                "results_bmk", {"agg_bmk.json": as_json(self.record.rows)}, end
            )
        if self.evals:
            self._service_job("collect-evals / collect-evals", end)
            rows = {"agg_eval_all.json": as_json(self.record.eval_rows)}
            self._upload("eval_results_all", rows, end)
        if fixed:
            self._service_job("calc-success-rate", end)
            stats = {"run_stats.json": as_json(_success_rates(self.record.jobs))}
            self._upload("run-stats", stats, end)

    def _upload(self, name: str, files: dict[str, str], end: datetime) -> None:
        created = end + timedelta(seconds=50)
        self.record.uploads.append(Upload(name, files, created))

    def _service_job(self, name: str, start: datetime) -> None:
        end = start + timedelta(seconds=55)
        job = Job(self.number, name, "success", "ubuntu-latest", "hosted", start, end)
        self.record.jobs.append(job)

    def _job(self, recipe: Recipe, name: str, conclusion: str, slot: Slot) -> None:
        self.record.jobs.append(
            Job(
                self.number,
                name,
                conclusion,
                recipe.label,
                slot.runner,
                slot.start,
                slot.end,
            )
        )


def conclusion_is_failure(outcome: Outcome) -> bool:
    """Tell whether the job failed, with or without a row."""
    return outcome in {Outcome.FAILURE, Outcome.NO_REQUESTS}


def _seconds(recipe: Recipe, outcome: Outcome) -> float:
    """Return how long a job takes: the start of a server, then each measurement."""
    if outcome is not Outcome.SUCCESS:
        return SERVER_START_S
    if recipe.lengths is None:
        return AGENTIC_S
    loads: list[tuple[int, Load]] = [
        (concurrency, measured(recipe, concurrency, "duration"))
        for concurrency in recipe.concurrencies
    ]
    return SERVER_START_S + sum(
        PROMPTS * clients / load.requests_per_s for clients, load in loads
    )


def _priority(recipe: Recipe) -> float:
    return 3.0 + 0.75 * (recipe.spec != "none") + 2.5 * recipe.multinode


def _success_rates(jobs: list[Job]) -> dict[str, dict[str, int]]:
    """Count the jobs whose name holds the name of a cluster, as the producer does."""
    rates = {}
    for cluster in CLUSTERS:
        named = [job for job in jobs if cluster in job.name]
        good = [job for job in named if job.conclusion == "success"]
        rates[cluster] = {"n_success": len(good), "total": len(named)}
    return rates
