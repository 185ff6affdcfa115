"""What changed as JSON: every kind of change, and swaps of the checkpoint."""

from collections.abc import Iterable
from datetime import datetime
from typing import Annotated, Any

from django.http import HttpRequest, QueryDict
from ninja import Query, Router, Schema
from pydantic import ConfigDict, Field

from dashboard.api.errors import ErrorBody, RequestFault
from dashboard.api.reading import NOT_CHANGED, of_data
from dashboard.forms.changes import ChangeFilterForm
from dashboard.queries.change_keys import (
    ChangeFilters,
    NamedKey,
    keys_meant,
    named_keys,
)
from dashboard.queries.change_rows import ChangeRow, change_row
from dashboard.queries.changes import parts, sliced, swaps

MOST = 500
router = Router(tags=["changes"])

Place = tuple[str, list[int]]


class ChangesQuery(Schema):
    """The filters of the page; `kind` may be given several times."""

    key: str = Field("", description="a whole config key, else a part of some")
    model: str = ""
    hardware: str = ""
    kind: list[str] = Field(default_factory=list)
    since: str = Field("", alias="from", description="first day, UTC")
    until: str = Field("", alias="to", description="last day, UTC")
    limit: int = Field(100, ge=1, le=MOST)
    offset: int = Field(0, ge=0, le=10_000_000)


class ChangeBody(Schema):
    """One change; what does not apply to its kinds is empty or null.

    ``at`` is null for entries that only the changelog file has. ``before`` and
    ``after`` are checkpoints in a swap, else what the config said.
    """

    kinds: list[str]
    at: datetime | None
    config_keys: list[str]
    scenario: str
    before: str
    after: str
    text: list[str]
    retired_keys: list[str]
    unknown_keys: list[str]
    pr: int | None
    pr_url: str
    pr_link: str
    link_state: str
    defects: list[str]
    run_id: int | None
    previous_run_id: int | None
    sha: str
    source: str
    dropped: list[Place]
    added: list[Place]


class ChangesBody(Schema):
    """``total`` counts all that the filters leave: swaps, then the other lists."""

    total: int
    offset: int
    changes: list[ChangeBody]


class SwapBody(Schema):
    """Two official sweeps that follow each other and served different weights.

    ``dropped`` and ``added`` are lists of (deployment, [concurrency...]).
    """

    model_config = ConfigDict(populate_by_name=True)

    config_key: str
    scenario: str
    before: str = Field(alias="from")
    after: str = Field(alias="to")
    run_id: int
    previous_run_id: int | None
    at: datetime
    dropped: list[Place]
    added: list[Place]


@router.get("/changes", response={200: ChangesBody, **NOT_CHANGED, 400: ErrorBody})
@of_data
def changes(
    request: HttpRequest,
    asked: Annotated[ChangesQuery, Query()],
) -> dict[str, Any]:
    """Return what changed: swaps, other changes, changelog, configs, defects."""
    named = named_keys()
    filters = _filters(request.GET, named)
    lists = parts(filters, keys_meant(filters, named))
    total, found = sliced(lists, asked.offset, asked.offset + asked.limit)
    rows = [change_row(one) for one in found]
    return {"total": total, "offset": asked.offset, "changes": rows}


@router.get(
    "/swaps",
    response={200: list[SwapBody], **NOT_CHANGED, 400: ErrorBody},
    by_alias=True,
)
@of_data
def list_swaps(
    request: HttpRequest,  # noqa: ARG001  # ninja's signature
    key: str = "",
) -> list[dict[str, Any]]:
    """Return all swaps between official sweeps, newest first, or those of a key."""
    # Postgres takes no NUL in a text, so no key holds one.
    keys = [] if "\0" in key else [key]
    found = swaps(ChangeFilters(), keys if key else None)
    return [_swap(change_row(sweep)) for sweep in found]


def _filters(query: QueryDict, named: Iterable[NamedKey]) -> ChangeFilters:
    """Read the filters; raises RequestFault naming the first that cannot be read."""
    stored = list(named)
    models = {key.model for key in stored}
    form = ChangeFilterForm(query, models, {key.hardware for key in stored})
    if not form.is_valid():
        name, message, allowed = form.faults[0]
        raise RequestFault(name, message, allowed=allowed or None)
    return ChangeFilters(**form.asked)


def _swap(row: ChangeRow) -> dict[str, Any]:
    return {
        "config_key": row.config_keys[0],
        "scenario": row.scenario,
        "from": row.before,
        "to": row.after,
        "run_id": row.run_id,
        "previous_run_id": row.previous_run_id,
        "at": row.at,
        "dropped": row.dropped,
        "added": row.added,
    }
