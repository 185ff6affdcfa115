"""Requests for runs: who asks gets a row to follow, and a run is fetched once for all.

The work is the worker's: it is asked by name, once the row is stored.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from functools import partial
from urllib.parse import parse_qsl, urlencode

from celery import current_app
from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from dashboard.models import Checkpoint, Fetch, IngestRequest, Point, Repository, Run
from dashboard.vocabulary.links import OWNER_AND_NAME

RUN_TASK = "ingest.tasks.ingest_run"
REPLAY_RUN_TASK = "ingest.tasks.replay_run"
UPLOAD_TASK = "ingest.tasks.ingest_upload"
PATH_TASK = "ingest.tasks.ingest_path"
DERIVE_TASK = "ingest.tasks.derive_run"
REPLAY_CHECKPOINT_TASK = "ingest.tasks.replay_checkpoint"
DERIVE_REPOSITORY_TASK = "ingest.tasks.derive_repository"
DERIVE_HISTORY_TASK = "ingest.tasks.derive_history"
TRACE_TASK = "ingest.tasks.read_trace"
COMMENT_TASK = "ingest.tasks.comment_verdict"
MAX_ID = 2**63 - 1
# Before the number of the point whose requests are read.
TRACED_POINT = "point "
# Before the scope of a history, as in ``history?model=qwen3.5``: no repository's name.
HISTORY = "history?"
# After this a failure is tried again, and a run that is at work is looked at again.
SHORTLY = timedelta(minutes=1)
# Longer than any task may take, and than the broker waits to give it to another worker.
LOST = timedelta(minutes=15)
ACTIVE = (IngestRequest.State.QUEUED, IngestRequest.State.RUNNING)
_ROUNDS = 5


class RequestRefusedError(ValueError):
    """What was asked for cannot be a run; the message is one line."""


def request_run(
    *,
    run_id: int,
    repository: str,
    requested_by: str = "",
    force: bool = False,
) -> IngestRequest:
    """Ask for a run of a repository and return the request to follow.

    1. A request for the same run that is waiting or at work is returned. 2. So is
    the newest one while it is fresh: a finished run's for the interval of the
    settings, another or a failed one's for a minute; ``force`` asks all the same.
    3. Else one is made; of several that try at once the database lets one win, and the
    others get that one. Raises RequestRefusedError.
    """
    name = known_name(repository)
    if not 0 < run_id <= MAX_ID:
        raise RequestRefusedError(f"{run_id} is no run id")
    for _ in range(_ROUNDS):
        found = _usable(run_id, name, force=force)
        if found is not None:
            return found
        try:
            with transaction.atomic():
                return _made(run_id, name, requested_by, force=force)
        except IntegrityError:
            continue  # somebody was faster: theirs is found now, unless it has ended
    raise RequestRefusedError(f"run {run_id} cannot be asked for right now")


def answering_request(*, run_id: int, repository: str) -> IngestRequest | None:
    """Return the request that asking for a run would return; None: one would be made.

    Raises RequestRefusedError.
    """
    return _usable(run_id, known_name(repository), force=False)


def known_name(repository: str) -> str:
    """Return a repository's name as it is stored; raises RequestRefusedError."""
    if not OWNER_AND_NAME.fullmatch(repository):
        raise RequestRefusedError(f"{repository[:80]!r} is no owner/name")
    names = Repository.objects.filter(full_name__iexact=repository)
    return names.values_list("full_name", flat=True).first() or repository


def resend_lost() -> int:
    """Give tasks to the broker again that it must have lost; return how many."""
    lost = IngestRequest.objects.filter(_sent_long_ago(), state__in=ACTIVE)
    return sum(_sent_again(request) for request in lost)


def _sent_long_ago() -> Q:
    """Ask for what no broker can still hold: its time has passed, or cannot be.

    A clock that was set back leaves times that lie ahead.
    """
    now = timezone.now()
    return Q(sent_at__lt=now - LOST) | Q(sent_at__gt=now + LOST)


def send_again(request: IngestRequest) -> bool:
    """Send a request's task again whose worker died at it; tell whether it was sent.

    Only the try that was seen is meant. A run is fetched without regard to what is
    stored, as it may have been asked for.
    """
    found = IngestRequest.objects.filter(
        pk=request.pk, state=IngestRequest.State.RUNNING, tries=request.tries
    )
    waiting = IngestRequest.State.QUEUED
    if not found.update(state=waiting, sent_at=timezone.now()):
        return False
    name, arguments = _task_of(request)
    current_app.send_task(name, [*arguments, *([True] if name == RUN_TASK else [])])
    return True


def is_stored_as_of(
    run_id: int, updated_at: datetime | None, *, attempt: int | None = None
) -> bool:
    """Tell whether a run was fetched whole after its last change on GitHub."""
    fetches = Fetch.objects.filter(run__github_run_id=run_id, is_complete=True)
    if attempt is not None:
        fetches = fetches.filter(run__attempt__gte=attempt)
    return (
        updated_at is not None
        and fetches.filter(forge_updated_at__gte=updated_at).exists()
    )


def _requests(run_id: int, repository: str) -> QuerySet[IngestRequest]:
    return IngestRequest.objects.filter(
        kind=IngestRequest.Kind.RUN,
        github_run_id=run_id,
        repository__iexact=repository,
    ).order_by("-requested_at", "-pk")


def _usable(run_id: int, repository: str, *, force: bool) -> IngestRequest | None:
    """Return a request that answers this one as well."""
    requests = _requests(run_id, repository)
    active = requests.filter(state__in=ACTIVE).first()
    if active is not None:
        _sent_again(active)
        return active
    newest = None if force else requests.first()
    return newest if newest is not None and _is_fresh(newest) else None


def _is_fresh(request: IngestRequest) -> bool:
    if request.finished_at is None:
        return False
    age = timezone.now() - request.finished_at
    if age < -SHORTLY:
        return False  # by a clock that has been set back since
    is_good = request.state in (IngestRequest.State.DONE, IngestRequest.State.PARTLY)
    if is_good and _is_finished(request.github_run_id or 0):
        return age < timedelta(seconds=settings.FRONTIERBOARD_REFETCH_SECONDS)
    return age < SHORTLY


def _is_finished(run_id: int) -> bool:
    fetches = Fetch.objects.filter(run__github_run_id=run_id)
    return fetches.filter(run__status="completed").exists()


def _made(
    run_id: int, repository: str, requested_by: str, *, force: bool
) -> IngestRequest:
    return _asked(
        IngestRequest(
            kind=IngestRequest.Kind.RUN,
            target=f"{repository} {run_id}",
            repository=repository,
            github_run_id=run_id,
            requested_by=requested_by,
        ),
        *([force] if force else []),
    )


def _sent_again(request: IngestRequest) -> bool:
    """Send a request's task again if nobody can be at it; tell whether it was."""
    found = IngestRequest.objects.filter(
        _sent_long_ago(), pk=request.pk, state__in=ACTIVE
    )
    if not found.update(sent_at=timezone.now()):
        return False
    current_app.send_task(*_task_of(request))
    return True


def _task_of(request: IngestRequest) -> tuple[str, list[object]]:
    """Return the name and the arguments of a request's task."""
    kinds = IngestRequest.Kind
    if request.kind in (kinds.UPLOAD, kinds.PATH):
        task = UPLOAD_TASK if request.kind == kinds.UPLOAD else PATH_TASK
        return task, [request.target, request.pk]
    if request.kind == kinds.REPLAY and request.github_run_id is not None:
        return REPLAY_RUN_TASK, [request.github_run_id, request.pk]
    if request.kind == kinds.REPLAY:
        return REPLAY_CHECKPOINT_TASK, [request.target, request.pk]
    if request.kind == kinds.DERIVE:
        return _derivation_of(request)
    if request.kind == kinds.TRACE:
        return TRACE_TASK, [_traced_point(request), request.pk]
    return RUN_TASK, [request.repository, request.github_run_id, request.pk]


def _derivation_of(request: IngestRequest) -> tuple[str, list[object]]:
    if request.target.startswith(HISTORY):
        return DERIVE_HISTORY_TASK, [request.target, request.pk]
    if request.github_run_id is None:
        return DERIVE_REPOSITORY_TASK, [request.repository, request.pk]
    return DERIVE_TASK, [request.github_run_id, request.pk]


def request_derivation(*, run: Run, requested_by: str) -> IngestRequest:
    """Ask for what follows from a run and from corrections to be decided again."""
    return _asked(
        IngestRequest(
            kind=IngestRequest.Kind.DERIVE,
            target=str(run.github_run_id),
            github_run_id=run.github_run_id,
            requested_by=requested_by,
        )
    )


def request_repository_derivation(
    *, repository: Repository, requested_by: str
) -> IngestRequest:
    """Ask for all runs of a repository to be judged by what is now said of it."""
    return _asked(
        IngestRequest(
            kind=IngestRequest.Kind.DERIVE,
            target=repository.full_name,
            repository=repository.full_name,
            requested_by=requested_by,
        )
    )


def request_history_derivation(
    *, scope: Mapping[str, str], requested_by: str
) -> IngestRequest:
    """Ask for the histories that a notice of this scope is about to be placed anew."""
    return _asked(
        IngestRequest(
            kind=IngestRequest.Kind.DERIVE,
            target=f"{HISTORY}{urlencode(scope)}",
            requested_by=requested_by,
        )
    )


def history_scope(target: str) -> dict[str, str]:
    """Return the scope that the target of such a request names."""
    return dict(parse_qsl(target.removeprefix(HISTORY)))


def request_checkpoint_replay(
    *, checkpoint: Checkpoint, requested_by: str
) -> IngestRequest:
    """Ask for the runs that served a checkpoint, under whatever spelling, again."""
    return _asked(
        IngestRequest(
            kind=IngestRequest.Kind.REPLAY,
            target=checkpoint.name,
            requested_by=requested_by,
        )
    )


def request_replay(*, run: Run, requested_by: str) -> IngestRequest:
    """Ask for everything of a run to be made again from its stored records."""
    return _asked(
        IngestRequest(
            kind=IngestRequest.Kind.REPLAY,
            target=str(run.github_run_id),
            github_run_id=run.github_run_id,
            requested_by=requested_by,
        )
    )


def see_to_derivation(*, run: Run, since: datetime, requested_by: str) -> None:
    """Ask for a run's derivation unless one asked for since then was answered.

    One that is still waiting is sent again if its message must have been lost.
    """
    asked = IngestRequest.objects.filter(
        kind=IngestRequest.Kind.DERIVE,
        github_run_id=run.github_run_id,
        requested_at__gte=since,
    ).order_by("-requested_at", "-pk")
    if asked.filter(state=IngestRequest.State.DONE).exists():
        return
    waiting = asked.filter(state__in=ACTIVE).first()
    if waiting is None:
        request_derivation(run=run, requested_by=requested_by)
    else:
        _sent_again(waiting)


def _asked(request: IngestRequest, *more: object) -> IngestRequest:
    """Store a request and send its task once that is committed."""
    request.save()

    def send() -> None:
        name, arguments = _task_of(request)
        current_app.send_task(name, [*arguments, *more])

    # Robust: with the broker down the request is stored and sent again later.
    transaction.on_commit(send, robust=True)
    return request


def request_upload(
    *, file_name: str, run_id: int, repository: str, requested_by: str
) -> IngestRequest:
    """Ask for an uploaded bundle, by the name of its file among the uploads."""
    return _asked(
        IngestRequest(
            kind=IngestRequest.Kind.UPLOAD,
            target=file_name,
            repository=repository,
            github_run_id=run_id,
            requested_by=requested_by,
        )
    )


def request_trace(*, point: Point, requested_by: str) -> IngestRequest:
    """Ask for the requests of a replayed point to be read; one reader is enough.

    Whoever asks while a request waits or is at work gets that one.
    """
    target = f"{TRACED_POINT}{point.pk}"
    for _ in range(_ROUNDS):
        found = IngestRequest.objects.filter(
            kind=IngestRequest.Kind.TRACE, target=target, state__in=ACTIVE
        ).first()
        if found is not None:
            _sent_again(found)
            return found
        try:
            with transaction.atomic():
                return _asked(
                    IngestRequest(
                        kind=IngestRequest.Kind.TRACE,
                        target=target,
                        requested_by=requested_by,
                    )
                )
        except IntegrityError:
            continue  # somebody was faster: theirs is found now, unless it has ended
    raise RequestRefusedError(f"{target} cannot be asked for right now")


def _traced_point(request: IngestRequest) -> int:
    return int(request.target.removeprefix(TRACED_POINT))


def request_comment(*, run: Run, again: bool = False) -> None:
    """Ask for the verdict on a run to be told on its pull request.

    What comes of it stands in the pull request's row; ``again`` makes the comment anew
    that a person deleted.
    """
    send = partial(current_app.send_task, COMMENT_TASK, [run.github_run_id, again])
    # Robust: without a broker there is no comment, but the run was taken in.
    transaction.on_commit(send, robust=True)
