"""The tables of a run's page as files, of the whole run or of one attempt."""

from collections.abc import Callable, Sequence

from dashboard.analysis.evals import wilson
from dashboard.models import ChangelogEntry
from dashboard.queries import run_points as point_queries
from dashboard.queries.run_report import RunReport
from dashboard.views.run_evals import RunEval, run_evals
from dashboard.views.tables import Table

SOURCE = ("run_id", "repository", "publication", "run_created_at")
POINTS_BRIEF = (
    *("config_key", "scenario", "deployment", "concurrency", "standing"),
    *("tput_per_gpu_tok_s_gpu", "median_intvty_tok_s_user", "median_ttft_s", "flags"),
)


def run_table(report: RunReport, table: str) -> Table:
    """Return one of the ``FILES`` of a run's page."""
    run = report.run
    attempt = "" if report.attempt is None else f"-attempt-{report.attempt}"
    columns, rows, brief = FILES[table](report)
    about = {
        "run_id": run.github_run_id,
        "repository": run.repository.full_name,
        "attempt": report.attempt,
        "publication": report.publication,
        "table": table,
    }
    name = f"run-{run.github_run_id}{attempt}-{table}"
    return Table(name, columns, rows, about, brief=brief)


Made = tuple[Sequence[str], list[tuple[object, ...]], Sequence[str]]


def _points(report: RunReport) -> Made:
    """Return every stored point, those that were replaced too."""
    points = point_queries.run_points(report.run)
    if report.attempt is not None:
        points = [point for point in points if point.attempt == report.attempt]
    metrics = point_queries.measured_metrics(points)
    columns = (
        *point_queries.PLACE,
        *(metric.column for metric in metrics),
        *(*point_queries.REPLAYED, *point_queries.SOURCE),
    )
    rows = [tuple(row) for row in point_queries.point_rows(report.run, points, metrics)]
    return columns, rows, POINTS_BRIEF


def _evals(report: RunReport) -> Made:
    columns = (
        *("config_key", "scenario", "deployment", "concurrency", "task", "outcome"),
        *("strict", "flexible", "score", "n", "low", "high", "floor", "notes"),
        *("baseline_run_id", "baseline", "difference", "attempt", "samples"),
        *("lm_eval_version", *SOURCE),
    )
    rows = [(*_eval(found), *_source(report)) for found in run_evals(report.evals)]
    return columns, rows, (*columns[:13], "baseline_run_id", "difference")


def _eval(found: RunEval) -> tuple[object, ...]:
    result, judged = found.judged.result, found.judged
    change, base = found.standing.change, found.standing.former.moment
    share, n = found.standing.verdict.head.share, result.n
    low, high = wilson(share, n) if share is not None and n else (None, None)
    return (
        *(result.config_key.key, result.scenario, result.deployment.label),
        *(result.concurrency, result.task, judged.outcome, result.strict),
        *(result.flexible, result.score, result.n, low, high, judged.floor),
        list(judged.notes),
        base.run if base else None,
        *((change.before, change.difference) if change else (None, None)),
        *(result.attempt, found.samples, result.lm_eval_version or None),
    )


def _jobs(report: RunReport) -> Made:
    """Return the failed and cancelled jobs, as the page lists them."""
    columns = (
        *("job", "conclusion", "status", "attempt", "succeeded_in_attempt"),
        *("machine", "started_at", "finished_at", "job_id", *SOURCE),
    )
    rows = [
        (
            *(job.name, job.conclusion or None, job.status, job.attempt),
            *(failed.succeeded_in, job.runner_name or None, job.started_at),
            *(job.finished_at, job.github_job_id, *_source(report)),
        )
        for failed in report.failed_jobs
        for job in (failed.job,)
    ]
    return columns, rows, columns[:5]


def _sweeps(report: RunReport) -> Made:
    columns = (
        *("config_key", "scenario", "state", "received", "planned", "checkpoint"),
        *("image", "acceptance", "acceptance_length", "mapping", "candidates"),
        *("measured_at", "official_at", *SOURCE),
    )
    rows = [
        (
            *(sweep.config_key.key, sweep.scenario, sweep.state, found.received),
            *(sweep.planned_count, sweep.checkpoint and sweep.checkpoint.name),
            *(sweep.image or None, sweep.acceptance_source or None),
            *(sweep.acceptance_length, sweep.mapping_method, sweep.mapping_candidates),
            *(sweep.measured_at, sweep.official_at, *_source(report)),
        )
        for found in report.sweeps
        for sweep in (found.sweep,)
    ]
    return columns, rows, columns[:7]


def _flags(report: RunReport) -> Made:
    columns = (
        *("flag", "text", "config_key", "scenario", "deployment", "concurrency"),
        *("attempt", *SOURCE),
    )
    points = point_queries.run_points(report.run)
    rows = [
        (
            *(code, text, point.sweep.config_key.key, point.sweep.scenario),
            *(point.deployment.label, point.concurrency, point.attempt),
            *_source(report),
        )
        for point in points
        if report.attempt in (None, point.attempt)
        for code, text in point.flags
    ]
    return columns, rows, columns[:7]


def _artifacts(report: RunReport) -> Made:
    columns = (
        *("name", "kind", "attempt", "state", "reason", "size_bytes", "uploaded_at"),
        *("expired", "expires_at", "sha256", "artifact_id", *SOURCE),
    )
    rows = [
        (
            *(found.name, found.kind, found.attempt, found.state),
            *(found.reason or None, found.size_bytes, found.uploaded_at),
            *(found.expired, found.expires_at, found.sha256 or None),
            *(found.github_artifact_id, *_source(report)),
        )
        for found in report.artifacts
    ]
    return columns, rows, columns[:7]


def _changelog(report: RunReport) -> Made:
    columns = (
        *("config_keys", "expanded_keys", "description", "pr", "pr_link"),
        *("link_state", "defects", "base_ref", "head_ref", *SOURCE),
    )
    rows = [(*_entry(entry), *_source(report)) for entry in report.changelog]
    return columns, rows, columns[:6]


def _entry(entry: ChangelogEntry) -> tuple[object, ...]:
    return (
        *(entry.raw_keys, entry.expanded_keys, entry.description, entry.pr_number),
        *(entry.pr_link or None, entry.link_state, entry.defects),
        *(entry.base_ref or None, entry.head_ref or None),
    )


def _source(report: RunReport) -> tuple[object, ...]:
    run = report.run
    return (
        *(run.github_run_id, run.repository.full_name),
        *(report.publication, run.created_at),
    )


FILES: dict[str, Callable[[RunReport], Made]] = {
    "points": _points,
    "sweeps": _sweeps,
    "evals": _evals,
    "jobs": _jobs,
    "flags": _flags,
    "artifacts": _artifacts,
    "changelog": _changelog,
}
