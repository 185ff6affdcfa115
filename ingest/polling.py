"""New official runs, asked for as if a person had: what is known is left alone."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

import structlog
from django.conf import settings
from django.db.models import Max
from django.utils import timezone

from dashboard.ingest_requests import is_stored_as_of, request_run
from dashboard.models import Fetch, IngestRequest, Repository
from ingest.artifacts.bundles import parse_time
from ingest.connection import connected
from ingest.github import GitHubError
from ingest.run_facts import COMPLETED, known_repository

log = structlog.get_logger(__name__)

# A run is listed by when it began: the longest finish within this, or are run again.
OVERLAP = timedelta(days=3)
# What failed or came in part is asked for again so much later.
AGAIN_AFTER = timedelta(hours=6)
ASKED_BY = "poll"

JsonObject = Mapping[str, object]


@dataclass(slots=True)
class Polled:
    """What a poll asked for, and a line per repository that could not be listed."""

    requests: list[IngestRequest] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)


def poll_repositories() -> Polled:
    """Ask for every finished official run that is not stored as it is now.

    Where the tables left off is where it begins, less an overlap; an empty database
    begins some days back. A repository that cannot be listed waits for the next time.
    """
    polled = Polled()
    known_repository(settings.FRONTIERBOARD_REPOSITORY)  # an empty database has none
    for repository in Repository.objects.filter(is_official=True):
        try:
            polled.requests += _poll(repository)
        except GitHubError as error:
            log.warning("poll failed", repository=str(repository), error=str(error))
            polled.errors.append(f"{repository}: {error}")
    return polled


def _poll(repository: Repository) -> Iterator[IngestRequest]:
    since = _since(repository)
    with connected(repository.full_name) as github:
        runs = list(
            github.workflow_runs(
                repository.sweep_workflow,
                since=since,
                event="push",
                branch=repository.default_branch,
                status=COMPLETED,
            )
        )
    for run_id in _new(runs):
        yield request_run(
            run_id=run_id, repository=repository.full_name, requested_by=ASKED_BY
        )


def _since(repository: Repository) -> datetime:
    fetched = Fetch.objects.filter(
        run__repository=repository,
        run__event="push",
        run__branch=repository.default_branch,
    )
    newest: datetime | None = fetched.aggregate(at=Max("run__created_at"))["at"]
    if newest is None:
        return timezone.now() - timedelta(days=settings.FRONTIERBOARD_POLL_DAYS)
    return newest - OVERLAP


def _new(runs: Iterable[JsonObject]) -> Iterator[int]:
    """Yield ids of finished runs to ask for, oldest first."""
    for run in sorted(runs, key=lambda run: str(run.get("created_at"))):
        run_id = run.get("id")
        if not isinstance(run_id, int) or run.get("status") != COMPLETED:
            continue
        if is_stored_as_of(run_id, parse_time(run.get("updated_at"))):
            continue
        if not _was_tried_lately(run_id):
            yield run_id


def _was_tried_lately(run_id: int) -> bool:
    """Tell whether asking again would only repeat what did not go well."""
    lately = timezone.now() - AGAIN_AFTER
    tried = IngestRequest.objects.filter(github_run_id=run_id, requested_at__gte=lately)
    ended = (IngestRequest.State.FAILED, IngestRequest.State.PARTLY)
    return tried.filter(kind=IngestRequest.Kind.RUN, state__in=ended).exists()
