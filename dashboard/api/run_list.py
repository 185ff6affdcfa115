"""The list of runs as JSON, newest first."""

from datetime import datetime
from typing import Annotated, Any, Literal

from django.http import HttpRequest
from ninja import Query, Schema
from pydantic import Field

from dashboard.api.cursors import cursor_after, place_of
from dashboard.api.errors import ErrorBody
from dashboard.api.reading import NOT_CHANGED, of_data
from dashboard.api.runs import router
from dashboard.api.selection import Cursor, day_range, require_key, require_stored
from dashboard.models import Run
from dashboard.queries.listed_pages import place_of_run, run_slice
from dashboard.queries.runs import RunFilters, publication
from dashboard.vocabulary.models import model_group, models_of_group

MOST = 500
FIRST = (0, 0)


class RunsQuery(Schema):
    """Which runs, and how many."""

    publication: Literal["", "official", "unofficial", "held"] = Field(
        "", description="held: official, with a held sweep; hidden runs are not listed"
    )
    model: str = Field("", description="a model family, or its group's display name")
    hardware: str = ""
    key: str = Field("", description="a whole config key")
    since: str = Field("", alias="from", description="first day of creation, UTC")
    until: str = Field("", alias="to", description="last day of creation, UTC")
    limit: int = Field(100, ge=1, le=MOST)
    cursor: Cursor = ""


class ListedRun(Schema):
    """One run; `/api/v1/runs/<run_id>` tells all of it.

    ``planned`` is null where no plan is known. ``measured_in`` names the run whose
    measurements it publishes.
    """

    run_id: int
    repository: str
    title: str
    event: str
    branch: str
    sha: str
    pr: int | None
    status: str
    conclusion: str
    attempt: int
    created_at: datetime
    official_at: datetime | None
    publication: Literal["official", "unofficial", "held"]
    published_by: int | None
    measured_in: int | None
    received: int
    planned: int | None
    evals: int
    skips: int
    url: str


class RunsBody(Schema):
    """A page of runs, newest first."""

    runs: list[ListedRun]
    limit: int
    next_cursor: str | None


@router.get("", response={200: RunsBody, **NOT_CHANGED, 400: ErrorBody})
@of_data
def list_runs(
    request: HttpRequest,  # noqa: ARG001  # ninja's signature
    asked: Annotated[RunsQuery, Query()],
) -> dict[str, Any]:
    """Return runs, official and not, newest first; at most 500 at once."""
    filters = _filters(asked)
    place = place_of(asked.cursor, filters, FIRST)
    before = None if place is None else (int(place[0]), int(place[1]))
    rows, has_more = run_slice(filters, before, asked.limit)
    last = cursor_after(place_of_run(rows[-1]), filters) if has_more else None
    return {
        "runs": [_run(run) for run in rows],
        "limit": asked.limit,
        "next_cursor": last,
    }


def _filters(asked: RunsQuery) -> RunFilters:
    require_stored("model", asked.model)
    require_stored("hardware", asked.hardware)
    require_key(asked.key)
    since, until = day_range(asked.since, asked.until)
    families = models_of_group(model_group(asked.model)) or [asked.model]
    return RunFilters(
        publication=asked.publication,
        models=tuple(families) if asked.model else (),
        hardware=asked.hardware,
        key=asked.key,
        since=since,
        until=until,
    )


def _run(run: Run) -> dict[str, Any]:
    held = bool(getattr(run, "has_held_sweep", False))
    official = run.publication == Run.Publication.OFFICIAL
    return {
        "run_id": run.github_run_id,
        "repository": run.repository.full_name,
        "publication": publication(run, has_held_sweep=held),
        "official_at": run.official_at if official else None,
        "pr": run.pr_number,
        "published_by": run.published_by.github_run_id if run.published_by else None,
        "measured_in": run.reuse_source_run_id,
        "received": run.received_count,
        "planned": run.planned_count,
        "evals": run.eval_count,
        "skips": run.skip_count,
        **{name: getattr(run, name) for name in _SAME},
    }


_SAME = (
    *("title", "event", "branch", "sha", "status", "conclusion", "attempt"),
    *("created_at", "url"),
)
