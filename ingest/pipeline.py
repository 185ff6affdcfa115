"""The steps from a run's artifacts to its place in the record, in their order."""

import gc
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime

import structlog
from django.conf import settings
from django.db import transaction

from dashboard.models import Generation, Repository, Run
from ingest.artifacts.bundles import Bundle
from ingest.artifacts.members import Limits
from ingest.claims import claimed, serialise_writes
from ingest.derive import settle_run
from ingest.progress import Progress, silent
from ingest.reading import ReadRun, read_run, read_stored
from ingest.rebuild import RebuiltRun, rebuild_run
from ingest.records import store_reading, stored_places
from ingest.run_facts import RunFacts, known_repository, run_facts
from ingest.snapshots import Imported, forget_unapplied, import_configs, stale_runs
from ingest.store import Tally

log = structlog.get_logger(__name__)

_SELDOM = 200_000  # new objects between two looks; Python's own number is 700


@dataclass(slots=True)
class Report:
    """What one ingestion did, for the command line and for the request's row."""

    run_id: int
    title: str = ""
    points: int = 0
    planned: int | None = None
    evals: int = 0
    skips: dict[str, int] = field(default_factory=dict)
    rejected: list[str] = field(default_factory=list)
    tally: Tally = field(default_factory=Tally)
    notices: list[str] = field(default_factory=list)
    remapped: list[int] = field(default_factory=list)

    @property
    def is_partly(self) -> bool:
        """Tell whether something of the run could not be used."""
        return bool(self.rejected)

    def counts(self) -> dict[str, object]:
        """Return the numbers as JSON-able values."""
        return {
            "points": self.points,
            "planned": self.planned,
            "evals": self.evals,
            "skips": self.skips,
            "rejected": self.rejected,
            "new": self.tally.new,
            "changed": self.tally.changed,
            "same": self.tally.same,
            "removed": self.tally.removed,
            "notices": self.notices,
        }


def limits() -> Limits:
    """Return what is refused as too large, from the settings."""
    return Limits(**settings.FRONTIERBOARD_LIMITS)


def ingest_bundle(bundle: Bundle, progress: Progress = silent) -> Report:
    """Take a run in: bytes, records, rows, keys, sweeps, standing.

    1. Check the run's own facts and claim it: one worker per run. 2. Keep every
    member's bytes, then read records; nothing is written to tables so far. 3. In one
    transaction: run, jobs, artifacts, records and config files, then everything that
    follows from them. 4. Map again the runs for which a better config file came.

    Raises IngestError for a run that cannot be taken and AlreadyRunningError.
    """
    facts = run_facts(bundle)
    with claimed(facts.repository, facts.github_run_id), seldom_collecting():
        facts.refuse_other_repository()
        reading = read_run(bundle, limits(), progress)
        progress("storing")
        with transaction.atomic():
            report = _store(facts, bundle, reading)
        report.remapped = remap_stale_runs(progress)
    progress("done")
    log.info("ingested", run_id=report.run_id, **_numbers(report))
    return report


@contextmanager
def seldom_collecting() -> Iterator[None]:
    """Let Python seldom look for cyclic garbage among a run's values.

    Records and rows refer to each other in no cycle, and looking through a million
    of them again and again takes a sixth of the time.
    """
    usual = gc.get_threshold()
    gc.set_threshold(_SELDOM, *usual[1:])
    try:
        yield
    finally:
        gc.set_threshold(*usual)


def _store(facts: RunFacts, bundle: Bundle, reading: ReadRun) -> Report:
    serialise_writes()
    tally = Tally()
    run = facts.store(tally)
    imported = _import_bundled(run, bundle)
    places = store_reading(run, reading, tally)
    rebuilt = rebuild_run(run, reading, places, tally)
    settle_run(run, rebuilt.sweep_keys)
    report = _report(run, rebuilt, tally)
    report.rejected = reading.rejected_names()
    report.notices = [*bundle.notices, *imported.defects]
    _bump_if(tally, imported)
    return report


def _import_bundled(run: Run, bundle: Bundle) -> Imported:
    """Import the bundle's config files as those of the run's commit."""
    if bundle.configs and not run.sha:
        return Imported(defects=["config files left out: the run names no commit"])
    return import_configs(
        bundle.configs, repository=run.repository, sha=run.sha, at=run.created_at
    )


def replay_run(run: Run) -> Report:
    """Make everything of a run again from its stored records; touches no network."""
    with claimed(run.repository.full_name, run.github_run_id):
        return _replay(run)


def _replay(run: Run) -> Report:
    with transaction.atomic():
        serialise_writes()
        run.refresh_from_db()
        tally = Tally()
        reading = read_stored(run)
        rebuilt = rebuild_run(run, reading, stored_places(reading), tally)
        settle_run(run, rebuilt.sweep_keys)
        report = _report(run, rebuilt, tally)
        report.rejected = reading.rejected_names()
        _bump_if(tally)
    return report


def remap_stale_runs(progress: Progress = silent) -> list[int]:
    """Map again the runs for which newer config files are a better choice.

    Each in its own transaction. Which runs are stale follows from the tables, so
    whoever comes next finishes what a killed worker left.
    """
    remapped = []
    found = stale_runs()
    for done, run in enumerate(found.runs):
        progress("mapping other runs again", done, len(found.runs))
        _replay(run)
        remapped.append(run.github_run_id)
    forget_unapplied(found)
    return remapped


def import_config_files(
    files: Mapping[str, str], *, repository: str, sha: str, at: datetime
) -> Imported:
    """Import master configs of one commit and map again the runs they fit better."""
    with transaction.atomic():
        serialise_writes()
        imported = import_configs(
            files, repository=known_repository(repository), sha=sha, at=at
        )
        if not imported.files:
            transaction.set_rollback(True)
    remap_stale_runs()
    return imported


def derive_run(run: Run) -> None:
    """Decide again what follows from a run's rows and from corrections."""
    with transaction.atomic():
        serialise_writes()
        run.refresh_from_db()
        sweeps = run.sweeps.values_list("config_key_id", "scenario")
        settle_run(run, set(sweeps))
        Generation.bump()


def official_repository(name: str) -> Repository:
    """Return the repository of a name, marked official."""
    repository, _ = Repository.objects.update_or_create(
        full_name=name, defaults={"is_official": True}
    )
    return repository


def _report(run: Run, rebuilt: RebuiltRun, tally: Tally) -> Report:
    return Report(
        run_id=run.github_run_id,
        title=run.title,
        points=run.received_count,
        planned=run.planned_count,
        evals=run.eval_count,
        skips=rebuilt.skips_by_reason(),
        tally=tally,
    )


def _bump_if(tally: Tally, imported: Imported | None = None) -> None:
    if not tally.is_unchanged or (imported is not None and imported.new_snapshots):
        Generation.bump()


def _numbers(report: Report) -> dict[str, object]:
    return {k: v for k, v in report.counts().items() if k != "notices"}
