"""Runs by their id: fetched from GitHub and taken in, with the run they publish."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path

from django.conf import settings
from django.utils import timezone

from dashboard.models import Artifact, ConfigSnapshot, Fetch, Repository, Run
from ingest.artifacts.bundles import parse_time
from ingest.claims import AlreadyRunningError, claimed
from ingest.connection import connected
from ingest.fetching import ListedRun, Wanted, fetched, list_run
from ingest.github import (
    ForbiddenError,
    GitHub,
    GitHubError,
    NotFoundError,
    RateLimitedError,
)
from ingest.pipeline import Report, ingest_bundle, limits
from ingest.progress import Progress
from ingest.reuse import (
    UnresolvedError,
    publishes_another_run,
    resolve,
    store_link,
    stored_link,
)
from ingest.run_facts import COMPLETED, IngestError, known_repository

# After this an unchanged run is listed again: its artifacts may have expired.
LISTED_FOR = timedelta(hours=24)
# The pipeline's steps in the words of somebody who waits for a run.
STEPS = {"keeping artifacts": "artifacts", "reading": "parsing"}

JsonObject = dict[str, object]


@dataclass(slots=True)
class Arrival:
    """What came of asking for a run. ``report`` is None where nothing is new.

    ``gaps`` are lines about what could not be had this time.
    """

    run_id: int
    report: Report | None = None
    gaps: list[str] = field(default_factory=list)
    source: "Arrival | None" = None

    @property
    def is_partly(self) -> bool:
        """Whether asking again may bring more."""
        return bool(self.gaps) or (self.report is not None and self.report.is_partly)

    def counts(self) -> dict[str, object]:
        """Return the numbers as JSON-able values."""
        counts: dict[str, object] = {"unchanged": True}
        if self.report is not None:
            counts = self.report.counts()
        if self.source is not None:
            counts["source"] = self.source.run_id
        return counts | {"gaps": self.gaps}


def ingest_remote(
    repository: str, run_id: int, progress: Progress, *, force: bool = False
) -> Arrival:
    """Fetch a run and take it in; where nothing changed since, leave it at that.

    1. Claim the run, so that it is fetched once. 2. Ask what the run is; unless
    ``force``, stop where it was stored whole after its last change. 3. List, download
    and ingest. 4. Ingest the run that it publishes, if it is such a merge.

    Raises IngestError, GitHubError and AlreadyRunningError.
    """
    with claimed(repository, run_id), connected(repository) as github:
        progress("listing")
        run = _known_under(_run(github, run_id), repository)
        arrival = Arrival(run_id)
        if force or not _is_unchanged(run):
            arrival = _take(github, run, progress)
    link = stored_link(run_id)
    if link is not None:
        arrival.source = _source(repository, link.source_run_id, progress)
        arrival.gaps += arrival.source.gaps
    return arrival


def _run(github: GitHub, run_id: int) -> JsonObject:
    hint = "" if settings.GITHUB_TOKEN else "; private ones need GITHUB_TOKEN"
    not_found = f"run {run_id} was not found in {github.repository}{hint}"
    try:
        run = github.run(run_id)
    except NotFoundError as error:
        raise IngestError(not_found) from error
    except ForbiddenError as error:
        raise IngestError(f"run {run_id} may not be read: {error}") from error
    if run.get("id") != run_id:
        raise IngestError(f"GitHub answers with run {run.get('id')!r} for {run_id}")
    if _is_private(run) and not _is_entered(github.repository, _repository_name(run)):
        # Anybody may ask by a link: it must not even show that there is such a run.
        raise IngestError(not_found)
    return run


def _is_private(run: JsonObject) -> bool:
    repository = run.get("repository")
    return isinstance(repository, dict) and bool(repository.get("private"))


def _is_entered(*names: str) -> bool:
    """Tell whether one of the names is the settings' repository or one known here."""
    configured = settings.FRONTIERBOARD_REPOSITORY.casefold()
    return any(
        name.casefold() == configured
        or Repository.objects.filter(full_name__iexact=name).exists()
        for name in names
    )


def _known_under(run: JsonObject, asked: str) -> JsonObject:
    """Return a run under the name of its repository that is known here.

    GitHub answers for a renamed repository under its new name.
    """
    given = _repository_name(run)
    known = Repository.objects.filter(full_name__iexact=given)
    is_asked_known = Repository.objects.filter(full_name__iexact=asked).exists()
    if given and (known.exists() or not is_asked_known):
        return run
    return {**run, "repository": {"full_name": asked}}


def _is_unchanged(run: JsonObject) -> bool:
    """Tell whether a finished run was stored whole, lately, after its last change."""
    fetch = Fetch.objects.filter(run__github_run_id=_id(run), is_complete=True).first()
    if fetch is None or fetch.fetched_at < timezone.now() - LISTED_FOR:
        return False
    updated_at = parse_time(run.get("updated_at"))
    return (
        run.get("status") == COMPLETED
        and updated_at is not None
        and fetch.forge_updated_at == updated_at
    )


def _take(github: GitHub, run: JsonObject, progress: Progress) -> Arrival:
    started = timezone.now()
    listed = list_run(github, run, _stored_configs(run))
    repository = known_repository(_repository_name(run))
    _find_source(github, listed, repository)
    wanted = Wanted(
        folder=Path(settings.DATA) / "fetch",
        max_artifact=limits().artifact,
        max_run=settings.FRONTIERBOARD_MAX_OFFICIAL_FETCH_BYTES
        if repository.is_official
        else settings.FRONTIERBOARD_MAX_FETCH_BYTES,
        max_log=settings.FRONTIERBOARD_MAX_LOG_BYTES,
        with_traces=settings.FRONTIERBOARD_FETCH_TRACES,
        stored=_artifact_ids(run, Artifact.State.FETCHED),
        gone=_artifact_ids(run, Artifact.State.EXPIRED),
    )
    with fetched(github, listed, wanted) as bundle:
        report = ingest_bundle(bundle, InOtherWords(progress))
    arrival = Arrival(report.run_id, report, listed.gaps)
    _note(listed.run, arrival, started)
    return arrival


@dataclass(frozen=True, slots=True)
class InOtherWords:
    """Passes the pipeline's steps on: 12 of 41 artifacts, then parsing."""

    progress: Progress

    def __call__(self, step: str, done: int = 0, total: int = 0) -> None:
        """Take note of a step."""
        self.progress(STEPS.get(step, step), done, total)


def _stored_configs(run: JsonObject) -> dict[str, str]:
    """Return the config files that are stored of the run's commit."""
    found = ConfigSnapshot.objects.filter(
        repository__full_name__iexact=_repository_name(run),
        sha=str(run.get("head_sha") or ""),
    )
    return dict(found.values_list("name", "file__text"))


def _artifact_ids(run: JsonObject, state: str) -> set[int]:
    """Return the ids of stored artifacts in a state: an artifact never changes."""
    artifacts = Artifact.objects.filter(run__github_run_id=_id(run), state=state)
    ids = artifacts.values_list("github_artifact_id", flat=True)
    return {artifact_id for artifact_id in ids if artifact_id is not None}


def _find_source(github: GitHub, listed: ListedRun, repository: Repository) -> None:
    """Find and keep the run that a merge publishes; why not is a gap."""
    run_id = _id(listed.run)
    if not publishes_another_run(listed, repository) or stored_link(run_id):
        return
    try:
        store_link(run_id, repository, resolve(github, listed, repository))
    except RateLimitedError:
        raise
    except (GitHubError, UnresolvedError) as error:
        listed.gaps.append(f"measured elsewhere, but where is not known: {error}")


def _source(repository: str, run_id: int, progress: Progress) -> Arrival:
    """Ingest the run that measured; what stands in the way is a gap of the merge."""
    try:
        return ingest_remote(repository, run_id, progress)
    except AlreadyRunningError:
        return Arrival(run_id)  # whoever is at it links the two
    except (GitHubError, IngestError) as error:
        return Arrival(run_id, gaps=[f"measured in run {run_id}: {error}"])


def _note(run: JsonObject, arrival: Arrival, started: datetime) -> None:
    """Keep when the run was fetched and how far it had come."""
    is_finished = run.get("status") == COMPLETED
    Fetch.objects.update_or_create(
        run=Run.objects.get(github_run_id=_id(run)),
        defaults={
            "fetched_at": started,
            "forge_updated_at": parse_time(run.get("updated_at")),
            "is_complete": is_finished and not arrival.is_partly,
            "gaps": arrival.gaps,
        },
    )


def _id(run: JsonObject) -> int:
    return int(str(run["id"]))


def _repository_name(run: JsonObject) -> str:
    repository = run.get("repository")
    name = repository.get("full_name") if isinstance(repository, dict) else None
    return name if isinstance(name, str) else ""
