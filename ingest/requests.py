"""The request for work behind a task: its state and progress, written as it goes."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from celery.exceptions import SoftTimeLimitExceeded
from django.db import connection
from django.utils import timezone

from dashboard.models import IngestRequest

_STAGES = 100
# The commit does not wait for the disk: a crash may cost one step of progress, and
# waiting took a third of a small run's time. Only this statement is meant.
_PROGRESS = """
    UPDATE dashboard_ingestrequest
    SET step = %s, progress_done = %s, progress_total = %s
    FROM (SELECT set_config('synchronous_commit', 'off', true)) AS now
    WHERE id = %s
"""

Passing = tuple[type[Exception], ...]


@dataclass(slots=True)
class RequestProgress:
    """Writes progress to a request's row, so that a page can show it.

    A step is written at its beginning and then a hundred times at most: a row per
    artifact would take longer than the artifact.
    """

    request_id: int
    _written: tuple[str, int] | None = None

    def __call__(self, step: str, done: int = 0, total: int = 0) -> None:
        """Take note of a step."""
        stage = (step, done * _STAGES // max(total, _STAGES))
        if stage == self._written:
            return
        self._written = stage
        with connection.cursor() as cursor:
            cursor.execute(_PROGRESS, [step[:40], done, total, self.request_id])


@contextmanager
def tracked(
    request_id: int, *, passing: Passing, is_last_try: bool
) -> Iterator[RequestProgress]:
    """Mark a request as running; on an error as failed, with the error's line.

    After a ``passing`` error it waits to be tried again, unless this was the last try.
    """
    IngestRequest.objects.filter(pk=request_id).update(
        state=IngestRequest.State.RUNNING, started_at=timezone.now(), error=""
    )
    try:
        yield RequestProgress(request_id)
    except passing as error:
        if is_last_try:
            finish(request_id, IngestRequest.State.FAILED, error=_line(error))
        else:
            _put_back(request_id, _line(error))
        raise
    except Exception as error:
        finish(request_id, IngestRequest.State.FAILED, error=_line(error))
        raise


def has_ended(request_id: int) -> bool:
    """Tell whether a request was answered: its task may be delivered twice."""
    ended = (
        IngestRequest.State.DONE,
        IngestRequest.State.PARTLY,
        IngestRequest.State.FAILED,
    )
    return IngestRequest.objects.filter(pk=request_id, state__in=ended).exists()


def _line(error: Exception) -> str:
    """Return one line for a person."""
    if isinstance(error, SoftTimeLimitExceeded):
        return "stopped: it took longer than a job may"
    return str(error).strip().partition("\n")[0] or type(error).__name__


def _put_back(request_id: int, error: str) -> None:
    IngestRequest.objects.filter(pk=request_id).update(
        state=IngestRequest.State.QUEUED, error=_storable(error)
    )


def _storable(text: str) -> str:
    return text.replace("\0", "")[:2000]


def finish(
    request_id: int,
    state: str,
    *,
    error: str = "",
    counts: dict[str, object] | None = None,
) -> None:
    """Write how a request ended."""
    IngestRequest.objects.filter(pk=request_id).update(
        state=state,
        error=_storable(error),
        counts=counts or {},
        finished_at=timezone.now(),
    )
