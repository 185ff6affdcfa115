"""One run as JSON."""

from datetime import datetime
from typing import Annotated, Any, Literal

from django.http import HttpRequest
from ninja import Query, Router, Schema

from dashboard.api.errors import ErrorBody, not_found
from dashboard.api.reading import NOT_CHANGED, of_data
from dashboard.queries.run_parts import SkipGroup, SweepReport
from dashboard.queries.run_report import PointFlag, RunReport, run_report

# Of the same path the list and uploads are in modules of their own: one router.
router = Router(tags=["runs"])


class AttemptBody(Schema):
    """One execution of a run."""

    attempt: int
    status: str
    conclusion: str
    started_at: datetime | None
    finished_at: datetime | None


class PointCount(Schema):
    """``planned`` is null where no plan is known."""

    received: int
    planned: int | None


class EvalCount(Schema):
    """A thin margin has passed; borderline and unmeasured are neither."""

    received: int
    passed: int
    failed: int


class SweepMapping(Schema):
    """How the config key was found; several candidates mean it was ambiguous."""

    method: str
    candidates: list[str]


class RunSweep(Schema):
    """``points`` counts what was received, ``missing`` names what was only planned.

    ``acceptance`` is null without speculative decoding, else ``real`` (measured),
    ``synthetic_declared``, ``synthetic_by_policy`` (both configured) or ``unknown``;
    ``acceptance_label`` is what pages call it, ``acceptance_evidence`` how it is known.
    ``breaks`` says why nothing before is comparable, ``markers`` what else changed
    against ``previous_run_id``; ``segment`` is null without a place in a history.
    """

    config_key: str
    scenario: str
    checkpoint: str | None
    image: str
    points: int
    planned: int | None
    missing: list[str]
    excluded: list[str]
    state: Literal["current", "former", "held"] | None
    state_reason: str
    extends: int | None
    mapping: SweepMapping
    acceptance: str | None
    acceptance_length: float | None
    acceptance_label: str
    acceptance_evidence: str
    measured_at: datetime
    official_at: datetime | None
    segment: int | None
    breaks: list[dict[str, Any]]
    markers: list[dict[str, Any]]
    previous_run_id: int | None


class SkipExample(Schema):
    """One thing that was not taken."""

    artifact: str | None
    member: str
    index: int
    detail: str


class RunSkips(Schema):
    """What was not taken for one reason; the first few as examples."""

    reason: str
    count: int
    examples: list[SkipExample]


class RunFlag(Schema):
    """One doubt about one point."""

    config_key: str
    scenario: str
    deployment: str
    concurrency: int
    code: str
    text: str


class JobBody(Schema):
    """A job whose newest attempt did not succeed."""

    name: str
    conclusion: str
    attempt: int


class ChangelogBody(Schema):
    """An entry as written, and the keys that it means."""

    config_keys: list[str]
    expanded: list[str]
    description: list[str]
    pr_link: str
    link_state: Literal["good", "placeholder", "missing", "invalid"]


class RunBody(Schema):
    """One run, or one attempt of it.

    Points and evals are those that it measured itself: none where ``measured_in``
    names the run whose measurements it publishes. ``provenance`` says where they come
    from: the run's artifacts, what the official dashboard published, or both.
    """

    run_id: int
    repository: str
    attempt: int
    attempts: list[AttemptBody]
    title: str
    event: str
    branch: str
    sha: str
    pr: int | None
    status: str
    conclusion: str
    created_at: datetime
    publication: Literal["official", "unofficial", "held", "hidden"]
    published_by: int | None
    measured_in: int | None
    provenance: Literal["", "artifacts", "published", "artifacts and published"]
    url: str
    points: PointCount
    evals: EvalCount
    sweeps: list[RunSweep]
    skips: list[RunSkips]
    flags: list[RunFlag]
    failed_jobs: list[JobBody]
    changelog: list[ChangelogBody]


@router.get(
    "/{int:run_id}",
    response={200: RunBody, **NOT_CHANGED, 400: ErrorBody, 404: ErrorBody},
)
@of_data
def run(
    request: HttpRequest,  # noqa: ARG001  # ninja's signature
    run_id: int,
    attempt: Annotated[int | None, Query(ge=1)] = None,
) -> dict[str, Any]:
    """Return a run, or what one of its attempts left."""
    report = run_report(run_id, attempt)
    if report is None:
        raise not_found("run_id", f"Run {run_id} is not stored here.")
    if attempt is not None and report.shown_attempt is None:
        raise not_found("attempt", f"Run {run_id} has no attempt {attempt}.")
    return _run(report)


def _run(report: RunReport) -> dict[str, Any]:
    run = report.run
    return {
        "run_id": run.github_run_id,
        "repository": run.repository.full_name,
        "attempt": run.attempt if report.attempt is None else report.attempt,
        "title": run.title,
        "event": run.event,
        "branch": run.branch,
        "sha": run.sha,
        "pr": run.pr_number,
        "status": report.status,
        "conclusion": report.conclusion,
        "created_at": run.created_at,
        "publication": report.publication,
        "published_by": run.published_by.github_run_id if run.published_by else None,
        "measured_in": run.reuse_source_run_id,
        "provenance": report.provenance,
        "url": run.url,
        **_contents(report),
    }


def _contents(report: RunReport) -> dict[str, Any]:
    accuracy = report.accuracy
    return {
        "attempts": [AttemptBody.from_orm(a) for a in report.attempts],
        "points": {"received": report.received, "planned": report.planned},
        "evals": {
            "received": len(report.evals),
            "passed": accuracy.passed,
            "failed": accuracy.failed,
        },
        "sweeps": [_sweep(item) for item in report.sweeps],
        "skips": [_skips(group) for group in report.skips],
        "flags": [_flag(flag) for flag in report.point_flags],
        "failed_jobs": [JobBody.from_orm(failed.job) for failed in report.failed_jobs],
        "changelog": [
            {
                "config_keys": entry.raw_keys,
                "expanded": entry.expanded_keys,
                "description": entry.description,
                "pr_link": entry.pr_link,
                "link_state": entry.link_state,
            }
            for entry in report.changelog
        ],
    }


def _sweep(item: SweepReport) -> dict[str, Any]:
    sweep = item.sweep
    extended = sweep.extends.run.github_run_id if sweep.extends else None
    previous = sweep.previous.run.github_run_id if sweep.previous else None
    return {
        "config_key": sweep.config_key.key,
        "scenario": sweep.scenario,
        "checkpoint": sweep.checkpoint.name if sweep.checkpoint else None,
        "image": sweep.image,
        "points": item.received,
        "planned": item.planned,
        "missing": [str(place) for place in item.missing],
        "excluded": [str(place) for place in item.excluded],
        "state": sweep.state,
        "state_reason": sweep.state_reason,
        "extends": extended,
        "mapping": {
            "method": sweep.mapping_method,
            "candidates": sweep.mapping_candidates,
        },
        "acceptance": sweep.acceptance_source or None,
        "acceptance_length": sweep.acceptance_length,
        "acceptance_label": sweep.acceptance_label,
        "acceptance_evidence": sweep.acceptance_evidence,
        "measured_at": sweep.measured_at,
        "official_at": sweep.official_at,
        "segment": sweep.segment,
        "breaks": sweep.breaks,
        "markers": sweep.markers,
        "previous_run_id": previous,
    }


def _skips(group: SkipGroup) -> dict[str, Any]:
    return {
        "reason": group.reason,
        "count": group.count,
        "examples": [
            {
                "artifact": skip.artifact.name if skip.artifact else None,
                "member": skip.member,
                "index": skip.index,
                "detail": skip.detail,
            }
            for skip in group.examples
        ],
    }


def _flag(flag: PointFlag) -> dict[str, Any]:
    return {
        "config_key": flag.sweep.config_key.key,
        "scenario": flag.sweep.scenario,
        "deployment": flag.point.deployment,
        "concurrency": flag.point.concurrency,
        "code": flag.code,
        "text": flag.text,
    }
