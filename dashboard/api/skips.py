"""What was not taken, record by record, with the reason."""

from typing import Annotated, Any

from django.http import HttpRequest
from ninja import Query, Router, Schema
from pydantic import Field

from dashboard.api.cursors import cursor_after, place_of
from dashboard.api.errors import ErrorBody, RequestFault, not_found
from dashboard.api.reading import NOT_CHANGED, of_data
from dashboard.api.selection import Cursor
from dashboard.models import Skip
from dashboard.queries.listed_pages import skip_reasons, skip_slice
from dashboard.queries.measured import shown_run
from dashboard.vocabulary.inputs import LARGEST_ID

router = Router(tags=["skips"])

MOST = 1000
FIRST = (0,)


class SkipsQuery(Schema):
    """Which skips, and how many."""

    run: int | None = Field(None, ge=1, le=LARGEST_ID, description="a run id")
    reason: str = Field("", description="the code of a reason")
    limit: int = Field(100, ge=1, le=MOST)
    cursor: Cursor = ""


class SkippedRecord(Schema):
    """One thing that was not taken. ``artifact`` is null where it is the run itself.

    ``index`` counts the records of the file ``member`` from 0.
    """

    id: int
    run_id: int
    publication: str
    artifact: str | None
    attempt: int | None
    member: str
    index: int
    reason: str
    detail: str


class SkipsBody(Schema):
    """A page of skips in the order of their ids."""

    skips: list[SkippedRecord]
    limit: int
    next_cursor: str | None


@router.get(
    "", response={200: SkipsBody, **NOT_CHANGED, 400: ErrorBody, 404: ErrorBody}
)
@of_data
def list_skips(
    request: HttpRequest,  # noqa: ARG001  # ninja's signature
    asked: Annotated[SkipsQuery, Query()],
) -> dict[str, Any]:
    """Return every record that was not taken, at most 1,000 at once."""
    run = None if asked.run is None else shown_run(asked.run)
    if asked.run is not None and run is None:
        raise not_found("run", f"Run {asked.run} is not stored here.")
    _require_reason(asked.reason)
    question = (asked.run, asked.reason)
    place = place_of(asked.cursor, question, FIRST) or FIRST
    rows, has_more = skip_slice(run, asked.reason, int(place[0]), asked.limit)
    return {
        "skips": [_skip(row) for row in rows],
        "limit": asked.limit,
        "next_cursor": cursor_after((rows[-1].pk,), question) if has_more else None,
    }


def _require_reason(reason: str) -> None:
    if reason and reason not in (allowed := skip_reasons()):
        said = f"Nothing was left out for {reason[:80]!r}."
        raise RequestFault("reason", said, allowed=allowed)


def _skip(row: Skip) -> dict[str, Any]:
    artifact = row.artifact
    return {
        "id": row.pk,
        "run_id": row.run.github_run_id,
        "publication": row.run.publication,
        "artifact": artifact.name if artifact else None,
        "attempt": artifact.attempt if artifact else None,
        "member": row.member,
        "index": row.index,
        "reason": row.reason,
        "detail": row.detail,
    }
