"""The request for work behind a task: its state and progress, written as it goes."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from django.utils import timezone

from dashboard.models import IngestRequest


@dataclass(slots=True)
class RequestProgress:
    """Writes progress to a request's row, so that a page can show it."""

    request_id: int

    def __call__(self, step: str, done: int = 0, total: int = 0) -> None:
        """Take note of a step."""
        IngestRequest.objects.filter(pk=self.request_id).update(
            step=step[:40], progress_done=done, progress_total=total
        )


@contextmanager
def tracked(request_id: int) -> Iterator[RequestProgress]:
    """Mark a request as running; on an error as failed, with the error's line."""
    IngestRequest.objects.filter(pk=request_id).update(
        state=IngestRequest.State.RUNNING, started_at=timezone.now(), error=""
    )
    try:
        yield RequestProgress(request_id)
    except BaseException as error:
        finish(request_id, IngestRequest.State.FAILED, error=f"{error}")
        raise


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
        error=error.replace("\0", "")[:2000],
        counts=counts or {},
        finished_at=timezone.now(),
    )
