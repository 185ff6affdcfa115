"""The request for work behind a task: its state and progress, written as it goes."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field

import structlog
from celery.exceptions import SoftTimeLimitExceeded
from django.db import connection
from django.db.models import F
from django.utils import timezone

from dashboard.ingest_requests import ACTIVE, send_again
from dashboard.models import IngestRequest
from dashboard.telemetry import REQUEST, STEP, note_duration
from ingest.claims import claimed_requests, request_claimed

# A task that takes its worker along (out of memory, say) is not begun more often.
MAX_TRIES = 5
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
    _step: str = ""
    _since_s: float = 0.0

    def __call__(self, step: str, done: int = 0, total: int = 0) -> None:
        """Take note of a step."""
        if step != self._step:
            self.end_step(step)
        stage = (step, done * _STAGES // max(total, _STAGES))
        if stage == self._written:
            return
        self._written = stage
        with connection.cursor() as cursor:
            cursor.execute(_PROGRESS, [step[:40], done, total, self.request_id])

    def end_step(self, following: str = "") -> None:
        """Tell how long the step took that ends here."""
        now_s = time.monotonic()
        if self._step:
            note_duration(STEP, self._step, now_s - self._since_s)
        self._step, self._since_s = following, now_s


@dataclass(frozen=True, slots=True)
class Ending:
    """How work ended; ``counts`` are JSON-able."""

    state: str = IngestRequest.State.DONE
    error: str = ""
    counts: dict[str, object] = field(default_factory=dict)


Work = Callable[[RequestProgress], Ending | None]


def carry_out(
    request_id: int, work: Work, *, passing: Passing, is_last_try: bool
) -> None:
    """Do the work of a request and write how it ended; None means done.

    1. Claim the request: its task may be delivered twice. 2. Leave it alone if it was
    answered, and end it if its workers died too often; else count a try and mark it
    as running. 3. Work, and write the end while the claim is held: a request that is
    running without a claim has lost its worker.

    An error ends it as failed, with the error's line. After a ``passing`` one it
    waits to be tried again, unless this was the last try. Raises AlreadyRunningError.
    """
    bound = structlog.contextvars.bound_contextvars(ingest_request=request_id)
    with request_claimed(request_id), bound:
        if not _begun(request_id):
            return
        progress = RequestProgress(request_id)
        try:
            ending = work(progress) or Ending()
        except passing as error:
            if is_last_try:
                _finish(request_id, _failed(error))
            else:
                _put_back(request_id, _line(error))
            raise
        except Exception as error:
            _finish(request_id, _failed(error))
            raise
        finally:
            progress.end_step()
        _finish(request_id, ending)


def has_ended(request_id: int) -> bool:
    """Tell whether a request was answered."""
    found = IngestRequest.objects.filter(pk=request_id)
    return found.exclude(state__in=ACTIVE).exists()


def resend_dead() -> int:
    """Send requests again whose worker died at them; return how many.

    The broker gives a dead worker's task to another one only after the longest time
    that a task may take. Rows are read before claims, so that whoever begins or ends
    meanwhile is not taken for dead: `send_again` looks at the row once more.
    """
    running = list(IngestRequest.objects.filter(state=IngestRequest.State.RUNNING))
    at_work = claimed_requests(request.pk for request in running)
    return sum(send_again(request) for request in running if request.pk not in at_work)


def _begun(request_id: int) -> bool:
    """Count a try before its work starts; tell whether there is work to do."""
    active = IngestRequest.objects.filter(pk=request_id, state__in=ACTIVE)
    begun = active.filter(tries__lt=MAX_TRIES).update(
        state=IngestRequest.State.RUNNING,
        tries=F("tries") + 1,
        started_at=timezone.now(),
        error="",
    )
    if not begun and (request := active.first()) is not None:
        _finish(request_id, Ending(IngestRequest.State.FAILED, _obituary(request)))
    return bool(begun)


def _obituary(request: IngestRequest) -> str:
    doing = request.step or request.get_kind_display()
    if request.progress_total:
        doing += f", {request.progress_done} of {request.progress_total}"
    return (
        f"the worker died {request.tries} times while doing this: {doing};"
        " ask again to retry"
    )


def _failed(error: Exception) -> Ending:
    return Ending(IngestRequest.State.FAILED, _line(error))


def _line(error: Exception) -> str:
    """Return one line for a person."""
    if isinstance(error, SoftTimeLimitExceeded):
        return "stopped: it took longer than a job may"
    return str(error).strip().partition("\n")[0] or type(error).__name__


def _put_back(request_id: int, error: str) -> None:
    """Let a request wait again: this try ended, if without success."""
    IngestRequest.objects.filter(pk=request_id).update(
        state=IngestRequest.State.QUEUED, error=_storable(error), tries=F("tries") - 1
    )


def _storable(text: str) -> str:
    return text.replace("\0", "")[:2000]


def _finish(request_id: int, ending: Ending) -> None:
    found = IngestRequest.objects.filter(pk=request_id)
    now = timezone.now()
    found.update(
        state=ending.state,
        error=_storable(ending.error),
        counts=ending.counts,
        finished_at=now,
    )
    for kind, started_at in found.values_list("kind", "started_at"):
        seconds = (now - started_at).total_seconds() if started_at else 0.0
        note_duration(REQUEST, f"{kind}:{ending.state}", max(seconds, 0.0))
