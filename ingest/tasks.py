"""Celery doors to the pipeline: ids in, one function called, what is retried said."""

from contextlib import AbstractContextManager
from pathlib import Path

from celery import Task, shared_task
from django.conf import settings
from django.db import InterfaceError, OperationalError

from dashboard.ingest_requests import resend_lost
from dashboard.models import Checkpoint, IngestRequest, Repository, Run
from ingest import pipeline, polling
from ingest.artifacts.bundles import BundleError, open_bundle
from ingest.claims import AlreadyRunningError
from ingest.github import GitHubError
from ingest.progress import silent
from ingest.remote_runs import ingest_remote
from ingest.requests import RequestProgress, finish, has_ended, tracked
from ingest.run_facts import IngestError

# What can heal by itself: another worker at work, a database that restarts.
PASSING = (AlreadyRunningError, OperationalError, InterfaceError)
MAX_RETRIES = 20


@shared_task(
    name="ingest.tasks.ingest_path",
    bind=True,
    acks_late=True,
    autoretry_for=PASSING,
    max_retries=MAX_RETRIES,
    retry_backoff=2,
    retry_backoff_max=30,
)
def ingest_path(
    task: "Task[..., None]", path: str, request_id: int | None = None
) -> None:
    """Ingest a bundle on disk; a bundle that cannot be taken ends the request."""
    if request_id is None:
        pipeline.ingest_bundle(open_bundle(Path(path), pipeline.limits()), silent)
        return
    with _tracked(task, request_id) as progress:
        _ingest_requested(Path(path), request_id, progress)


def _ingest_requested(path: Path, request_id: int, progress: RequestProgress) -> None:
    try:
        bundle = open_bundle(path, pipeline.limits())
        report = pipeline.ingest_bundle(bundle, progress)
    except (BundleError, IngestError) as error:
        finish(request_id, IngestRequest.State.FAILED, error=str(error))
        return
    partly = IngestRequest.State.PARTLY if report.is_partly else None
    finish(request_id, partly or IngestRequest.State.DONE, counts=report.counts())


@shared_task(
    name="ingest.tasks.ingest_run",
    bind=True,
    acks_late=True,
    autoretry_for=PASSING,
    max_retries=MAX_RETRIES,
    retry_backoff=2,
    retry_backoff_max=30,
)
def ingest_run(
    task: "Task[..., None]",
    repository: str,
    run_id: int,
    request_id: int | None = None,
    force: bool = False,  # noqa: FBT001,FBT002  # arguments of tasks have positions
) -> None:
    """Fetch a run from GitHub and ingest it; what GitHub refuses ends the request."""
    if request_id is None:
        ingest_remote(repository, run_id, silent, force=force)
    elif not has_ended(request_id):  # delivered twice: the work is done
        with _tracked(task, request_id) as progress:
            _fetch_requested(repository, run_id, request_id, progress, force=force)


def _fetch_requested(
    repository: str,
    run_id: int,
    request_id: int,
    progress: RequestProgress,
    *,
    force: bool,
) -> None:
    try:
        arrival = ingest_remote(repository, run_id, progress, force=force)
    except (GitHubError, IngestError) as error:
        finish(request_id, IngestRequest.State.FAILED, error=str(error))
        return
    partly = IngestRequest.State.PARTLY if arrival.is_partly else None
    finish(
        request_id,
        partly or IngestRequest.State.DONE,
        error=next(iter(arrival.gaps), ""),
        counts=arrival.counts(),
    )


@shared_task(
    name="ingest.tasks.ingest_upload",
    bind=True,
    acks_late=True,
    autoretry_for=PASSING,
    max_retries=MAX_RETRIES,
    retry_backoff=2,
    retry_backoff_max=30,
)
def ingest_upload(task: "Task[..., None]", file_name: str, request_id: int) -> None:
    """Ingest an uploaded bundle and delete the file, which its rows replace.

    A failed one's file goes too; one that is to be tried again keeps it.
    """
    path = Path(settings.FRONTIERBOARD_UPLOADS) / Path(file_name).name
    try:
        if not has_ended(request_id):  # else delivered twice
            with _tracked(task, request_id) as progress:
                _ingest_requested(path, request_id, progress)
    finally:
        if has_ended(request_id):
            path.unlink(missing_ok=True)


@shared_task(name="ingest.tasks.poll_official_runs", acks_late=True)
def poll_official_runs() -> None:
    """Ask for official runs that are new on GitHub."""
    polling.poll_repositories()


@shared_task(name="ingest.tasks.resend_requests", acks_late=True)
def resend_requests() -> None:
    """Send the tasks again that a broker lost."""
    resend_lost()


@shared_task(
    name="ingest.tasks.derive_run",
    bind=True,
    acks_late=True,
    autoretry_for=PASSING,
    max_retries=MAX_RETRIES,
    retry_backoff=2,
    retry_backoff_max=30,
    soft_time_limit=5 * 60,
)
def derive_run(task: "Task[..., None]", github_run_id: int, request_id: int) -> None:
    """Decide again what follows from a run, after a correction."""
    with _tracked(task, request_id):
        pipeline.derive_run(Run.objects.get(github_run_id=github_run_id))
    finish(request_id, IngestRequest.State.DONE)


@shared_task(
    name="ingest.tasks.derive_repository",
    bind=True,
    acks_late=True,
    autoretry_for=PASSING,
    max_retries=MAX_RETRIES,
    retry_backoff=2,
    retry_backoff_max=30,
)
def derive_repository(task: "Task[..., None]", full_name: str, request_id: int) -> None:
    """Judge a repository's runs again, after staff changed what is said of it."""
    with _tracked(task, request_id):
        pipeline.derive_repository(Repository.objects.get(full_name=full_name))
    finish(request_id, IngestRequest.State.DONE)


@shared_task(
    name="ingest.tasks.replay_checkpoint",
    bind=True,
    acks_late=True,
    autoretry_for=PASSING,
    max_retries=MAX_RETRIES,
    retry_backoff=2,
    retry_backoff_max=30,
)
def replay_checkpoint(task: "Task[..., None]", name: str, request_id: int) -> None:
    """Replay the runs of a checkpoint, after staff changed its spellings."""
    with _tracked(task, request_id) as progress:
        pipeline.replay_checkpoint(Checkpoint.objects.get(name=name), progress)
    finish(request_id, IngestRequest.State.DONE)


@shared_task(
    name="ingest.tasks.replay_run",
    bind=True,
    acks_late=True,
    autoretry_for=PASSING,
    max_retries=MAX_RETRIES,
    retry_backoff=2,
    retry_backoff_max=30,
)
def replay_run(task: "Task[..., None]", github_run_id: int, request_id: int) -> None:
    """Replay a run, after staff paired it with the run that it publishes."""
    with _tracked(task, request_id):
        pipeline.replay_run(Run.objects.get(github_run_id=github_run_id))
    finish(request_id, IngestRequest.State.DONE)


def _tracked(
    task: "Task[..., None]", request_id: int
) -> AbstractContextManager[RequestProgress]:
    is_last_try = task.request.retries >= MAX_RETRIES
    return tracked(request_id, passing=PASSING, is_last_try=is_last_try)
