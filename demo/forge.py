"""Objects as the forge's REST API serves them, and the files that name runs."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from demo.repository import (
    MANUAL_WORKFLOW,
    REPOSITORY,
    SWEEP_WORKFLOW,
    pull_url,
    run_url,
)
from demo.runs import Entry, Event, Run
from demo.uploads import Upload, as_json
from demo.workflow import Job

RETENTION = timedelta(days=90)


@dataclass(frozen=True, slots=True)
class Identity:
    """Id and commits of a run."""

    run: int
    base: str
    head: str


def changelog(run: Run, base: str, head: str) -> str:
    """Return the changelog metadata of a run; runs started by hand have none."""
    if run.event is Event.DISPATCH:
        return ""
    document = {
        "base_ref": "origin/main" if run.event is Event.PULL_REQUEST else base,
        "head_ref": head,
        "entries": [_entry(run, entry) for entry in run.entries],
    }
    return as_json(document)


def _entry(run: Run, entry: Entry) -> dict[str, Any]:
    link = entry.link
    if link is None and run.pull_request is not None:
        link = pull_url(run.pull_request)
    return {
        "config-keys": list(entry.keys),
        "description": list(entry.description),
        "pr-link": link,
        "evals-only": entry.evals_only,
        "all-evals": False,
        "append-only": entry.append_only,
    }


def run_objects(
    run: Run, identity: Identity, spans: list[tuple[datetime, datetime]]
) -> list[dict[str, Any]]:
    """Return the run as it was after each of its attempts."""
    created = spans[0][0]
    objects = []
    for number, (start, end) in enumerate(spans, start=1):
        item = _run_object(run, identity)
        item |= {
            "run_attempt": number,
            "conclusion": run.attempts[number - 1].conclusion,
            "created_at": _stamp(created),
            "run_started_at": _stamp(start),
            "updated_at": _stamp(end),
        }
        objects.append(item)
    return objects


def _run_object(run: Run, identity: Identity) -> dict[str, Any]:
    manual = run.event is Event.DISPATCH
    title = f"{'Manual Sweep' if manual else 'Run Sweep'} - {run.title}"
    return {
        "id": identity.run,
        "name": title,
        "display_title": title,
        "run_number": identity.run % 10_000,
        "path": MANUAL_WORKFLOW if manual else SWEEP_WORKFLOW,
        "workflow_id": 7102 if manual else 7101,
        "event": run.event.value,
        "status": "completed",
        "head_branch": run.branch,
        "head_sha": identity.head,
        "html_url": run_url(identity.run),
        "actor": {"login": "demo-author"},
        "triggering_actor": {"login": "demo-author"},
        "pull_requests": _pull_requests(run, identity),
        "repository": {"full_name": REPOSITORY},
        "head_repository": {"full_name": REPOSITORY},
    }


def _pull_requests(run: Run, identity: Identity) -> list[dict[str, Any]]:
    if run.event is not Event.PULL_REQUEST:
        return []
    head = {"ref": run.branch, "sha": identity.head}
    base = {"ref": "main", "sha": identity.base}
    return [{"number": run.pull_request, "head": head, "base": base}]


def job_objects(identity: Identity, jobs: list[Job]) -> list[dict[str, Any]]:
    """Return the jobs of all attempts."""
    return [
        {
            "id": identity.run * 1000 + number,
            "run_id": identity.run,
            "run_attempt": job.attempt,
            "name": job.name,
            "status": "completed",
            "conclusion": job.conclusion,
            "head_sha": identity.head,
            "started_at": _stamp(job.start),
            "completed_at": _stamp(job.end),
            "html_url": f"{run_url(identity.run)}/job/{identity.run * 1000 + number}",
            "labels": _labels(job.label),
            "runner_name": job.runner,
        }
        for number, job in enumerate(jobs)
    ]


def _labels(label: str) -> list[str]:
    return [label] if label == "ubuntu-latest" else ["self-hosted", label]


def artifact_object(
    run: Run, identity: Identity, number: int, upload: Upload
) -> dict[str, Any]:
    """Return the list item of an artifact; its size is that of its files."""
    created = _stamp(upload.created)
    size = sum(len(text.encode()) for text in upload.files.values())
    return {
        "id": identity.run + number * 7,
        "name": upload.name,
        "size_in_bytes": size,
        "expired": False,
        "created_at": created,
        "updated_at": created,
        "expires_at": _stamp(upload.created + RETENTION),
        "workflow_run": {
            "id": identity.run,
            "head_branch": run.branch,
            "head_sha": identity.head,
        },
    }


def reuse_document(
    source: Identity, run: int, pull_request: int | None
) -> dict[str, Any]:
    """Return the file by which a merge run names the run whose results it publishes."""
    return {
        "source_run_id": str(source.run),
        "source_run_attempt": 1,
        "source_run_url": run_url(source.run),
        "source_pr_number": pull_request,
        "source_head_sha": source.head,
        "ingest_run_id": str(run),
        "ingest_run_attempt": 1,
        "ingest_run_url": run_url(run),
    }


def _stamp(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")
