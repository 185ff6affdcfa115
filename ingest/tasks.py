"""Celery doors to the pipeline: ids in, one function called, what is retried said."""

from functools import partial
from pathlib import Path
from typing import Any

import structlog
from celery import Task, shared_task
from django.conf import settings
from django.db import InterfaceError, OperationalError
from django.utils import timezone

from dashboard.ingest_requests import (
    COMMENT_TASK,
    TRACE_TASK,
    history_scope,
    resend_lost,
)
from dashboard.models import Checkpoint, IngestRequest, Repository, Run
from dashboard.telemetry import note_schedule
from ingest import alerts, noise, pipeline, polling, retention
from ingest.artifacts.bundles import BundleError, open_bundle
from ingest.claims import AlreadyRunningError
from ingest.comments import NoCommentError, ask_for_comment, comment_run
from ingest.detection import ALERT_TASK
from ingest.github import GitHubError, UnreachableError
from ingest.leftovers import forget_uploads
from ingest.progress import Progress, silent
from ingest.remote_runs import Arrival, ingest_remote
from ingest.requests import (
    Ending,
    RequestProgress,
    Work,
    carry_out,
    has_ended,
    resend_dead,
)
from ingest.run_facts import IngestError
from ingest.traces import TraceError
from ingest.traces import read_trace as read_requests

log = structlog.get_logger(__name__)

# What can heal by itself: another worker at work, a database that restarts.
PASSING = (AlreadyRunningError, OperationalError, InterfaceError)
MAX_RETRIES = 20
COMMENT_RETRIES = 8  # some three minutes; the next run of the pull request tells it all
RETRIED: dict[str, Any] = {
    "bind": True,
    "acks_late": True,
    "autoretry_for": PASSING,
    "max_retries": MAX_RETRIES,
    "retry_backoff": 2,
    "retry_backoff_max": 30,
}


@shared_task(name="ingest.tasks.ingest_path", **RETRIED)
def ingest_path(
    task: "Task[..., None]", path: str, request_id: int | None = None
) -> None:
    """Ingest a bundle on disk; a bundle that cannot be taken ends the request."""
    if request_id is None:
        pipeline.ingest_bundle(open_bundle(Path(path), pipeline.limits()), silent)
    else:
        _carry_out(task, request_id, partial(_ingested, Path(path)))


def _ingested(path: Path, progress: RequestProgress) -> Ending:
    try:
        bundle = open_bundle(path, pipeline.limits())
        report = pipeline.ingest_bundle(bundle, progress)
    except (BundleError, IngestError) as error:
        return Ending(IngestRequest.State.FAILED, str(error))
    return Ending(_state(is_partly=report.is_partly), counts=report.counts())


@shared_task(name="ingest.tasks.ingest_run", **RETRIED)
def ingest_run(
    task: "Task[..., None]",
    repository: str,
    run_id: int,
    request_id: int | None = None,
    force: bool = False,  # noqa: FBT001,FBT002  # arguments of tasks have positions
) -> None:
    """Fetch a run from GitHub and ingest it; what GitHub refuses ends the request."""
    if request_id is None:
        _arrived(repository, run_id, silent, force=force)
    else:
        work = partial(_fetched, repository, run_id, force=force)
        _carry_out(task, request_id, work)


def _fetched(
    repository: str, run_id: int, progress: RequestProgress, *, force: bool
) -> Ending:
    try:
        arrival = _arrived(repository, run_id, progress, force=force)
    except (GitHubError, IngestError) as error:
        return Ending(IngestRequest.State.FAILED, str(error))
    state = _state(is_partly=arrival.is_partly)
    return Ending(state, next(iter(arrival.gaps), ""), arrival.counts())


def _arrived(
    repository: str, run_id: int, progress: Progress, *, force: bool
) -> Arrival:
    """Take a run in. What is said of it on GitHub follows in a task of its own."""
    arrival = ingest_remote(repository, run_id, progress, force=force)
    ask_for_comment(run_id)
    return arrival


@shared_task(
    name=COMMENT_TASK,
    **RETRIED
    | {"autoretry_for": (*PASSING, UnreachableError), "max_retries": COMMENT_RETRIES},
)
def comment_verdict(
    task: "Task[..., None]",  # noqa: ARG001  # it is bound, as all that are retried
    github_run_id: int,
    again: bool = False,  # noqa: FBT001,FBT002  # arguments of tasks have positions
) -> None:
    """Tell the verdict on a run on its pull request; what is refused stays refused."""
    try:
        comment_run(github_run_id, again=again)
    except UnreachableError:
        raise
    except (GitHubError, NoCommentError) as error:
        log.warning("not commented", run_id=github_run_id, why=str(error))


@shared_task(name="ingest.tasks.ingest_upload", **RETRIED)
def ingest_upload(task: "Task[..., None]", file_name: str, request_id: int) -> None:
    """Ingest an uploaded bundle and delete the file, which its rows replace.

    A failed one's file goes too; one that is to be tried again keeps it.
    """
    path = Path(settings.FRONTIERBOARD_UPLOADS) / Path(file_name).name
    try:
        _carry_out(task, request_id, partial(_ingested, path))
    finally:
        if has_ended(request_id):
            path.unlink(missing_ok=True)


@shared_task(name="ingest.tasks.poll_official_runs", acks_late=True)
def poll_official_runs() -> None:
    """Ask for official runs that are new on GitHub."""
    polling.poll_repositories()


@shared_task(name="ingest.tasks.resend_requests", acks_late=True)
def resend_requests() -> None:
    """Send the tasks again whose worker died, or that a broker lost."""
    note_schedule()
    resend_dead()
    resend_lost()


@shared_task(name="ingest.tasks.forget_old_uploads", acks_late=True)
def forget_old_uploads() -> None:
    """Delete uploaded bundles that nobody will ingest."""
    forget_uploads()


@shared_task(name="ingest.tasks.forget_old", acks_late=True)
def forget_old() -> None:
    """Let go of raw bytes and documents that the settings keep no longer."""
    retention.forget_old(
        retention.Ages.of_settings(), timezone.now(), is_rehearsal=False
    )


@shared_task(
    name=ALERT_TASK, **RETRIED | {"autoretry_for": (*PASSING, alerts.AlertError)}
)
def announce_regressions(
    task: "Task[..., None]",  # noqa: ARG001  # it is bound, as all that are retried
) -> None:
    """Tell a chat about regressions that it was not told of yet."""
    alerts.announce(timezone.now())


@shared_task(name="ingest.tasks.measure_noise", acks_late=True)
def measure_noise() -> None:
    """Measure the run-to-run noise anew; beat asks for it every night."""
    noise.measure_noise(timezone.now().date())


@shared_task(name="ingest.tasks.derive_run", soft_time_limit=5 * 60, **RETRIED)
def derive_run(task: "Task[..., None]", github_run_id: int, request_id: int) -> None:
    """Decide again what follows from a run, after a correction."""

    def derive(_: RequestProgress) -> None:
        pipeline.derive_run(Run.objects.get(github_run_id=github_run_id))

    _carry_out(task, request_id, derive)


@shared_task(name="ingest.tasks.derive_repository", **RETRIED)
def derive_repository(task: "Task[..., None]", full_name: str, request_id: int) -> None:
    """Judge a repository's runs again, after staff changed what is said of it."""

    def derive(_: RequestProgress) -> None:
        pipeline.derive_repository(Repository.objects.get(full_name=full_name))

    _carry_out(task, request_id, derive)


@shared_task(name="ingest.tasks.derive_history", **RETRIED)
def derive_history(task: "Task[..., None]", target: str, request_id: int) -> None:
    """Place the sweeps of keys anew, after staff marked or broke their history."""

    def derive(_: RequestProgress) -> Ending:
        changed = pipeline.derive_history(history_scope(target))
        return Ending(counts={"changed": changed})

    _carry_out(task, request_id, derive)


@shared_task(name="ingest.tasks.replay_checkpoint", **RETRIED)
def replay_checkpoint(task: "Task[..., None]", name: str, request_id: int) -> None:
    """Replay the runs of a checkpoint, after staff changed its spellings."""

    def replay(progress: RequestProgress) -> None:
        pipeline.replay_checkpoint(Checkpoint.objects.get(name=name), progress)

    _carry_out(task, request_id, replay)


@shared_task(name="ingest.tasks.replay_run", **RETRIED)
def replay_run(task: "Task[..., None]", github_run_id: int, request_id: int) -> None:
    """Replay a run, after staff paired it with the run that it publishes."""

    def replay(_: RequestProgress) -> None:
        pipeline.replay_run(Run.objects.get(github_run_id=github_run_id))

    _carry_out(task, request_id, replay)


@shared_task(name=TRACE_TASK, **RETRIED)
def read_trace(task: "Task[..., None]", point_id: int, request_id: int) -> None:
    """Read the requests of a replayed point, after a reader asked for them."""

    def read(progress: RequestProgress) -> Ending:
        try:
            trace = read_requests(point_id, progress)
        except TraceError as error:
            return Ending(IngestRequest.State.FAILED, str(error))
        return Ending(counts={"requests": trace.counts["requests"]})

    _carry_out(task, request_id, read)


def _carry_out(task: "Task[..., None]", request_id: int, work: Work) -> None:
    is_last_try = task.request.retries >= MAX_RETRIES
    carry_out(request_id, work, passing=PASSING, is_last_try=is_last_try)


def _state(*, is_partly: bool) -> str:
    return IngestRequest.State.PARTLY if is_partly else IngestRequest.State.DONE
