"""The steps from a run's artifacts to its place in the record, in their order."""

import gc
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime

import structlog
from django.conf import settings
from django.db import DatabaseError, InterfaceError, OperationalError, transaction
from django.db.models import Q

from dashboard.models import Checkpoint, Generation, Repository, Run, Sweep
from dashboard.queries.missing import runs_without_history
from ingest.artifacts.bundles import Bundle
from ingest.artifacts.members import Limits
from ingest.changelog_files import expand_again
from ingest.choices import choose, forget_unapplied, stale_runs
from ingest.claims import (
    AlreadyRunningError,
    claimed,
    raw_bytes_shared,
    serialise_writes,
)
from ingest.config_history import classify_again
from ingest.definitions import (
    Commit,
    checkpoints_like,
    follow_repository,
    name_definitions,
)
from ingest.derive import (
    derive_publications,
    is_of_default_branch,
    settle_run,
)
from ingest.detection import detect
from ingest.file_defects import store_file_defects
from ingest.progress import Progress, silent
from ingest.reading import ReadRun, read_run, read_stored
from ingest.rebuild import MappedRun, RebuiltRun, rebuild_run
from ingest.records import store_reading, stored_places
from ingest.run_facts import RunFacts, known_repository, run_facts
from ingest.segments import keys_in_scope, replace_sweeps
from ingest.snapshots import Imported, expand_ahead, import_configs
from ingest.states import SweepKey, derive_states
from ingest.store import Places, Tally

log = structlog.get_logger(__name__)

# How a run's stored records may break the code that reads them. Neither a time limit
# nor a lack of memory is among them.
BROKEN = (
    ArithmeticError,
    AttributeError,
    DatabaseError,
    LookupError,
    OSError,
    TypeError,
    ValueError,
)

# Decides what follows from a run's rows, given its sweep keys; says how many changed.
Settle = Callable[[Run, set[SweepKey]], int]

# How many keys are judged while everybody else waits to write.
KEYS_AT_ONCE = 20

_SELDOM = 1_000_000  # new objects between two looks; Python's own number is 700


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
    measured_in: int | None = None

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
    follows from them. 4. Map again the runs for which a better config file came;
    what goes wrong with those is told and takes nothing of this run back.

    Raises IngestError for a run that cannot be taken and AlreadyRunningError.
    """
    facts = run_facts(bundle)
    with (
        claimed(facts.repository, facts.github_run_id),
        raw_bytes_shared(),
        seldom_collecting(),
    ):
        facts.refuse_other_repository()
        reading = read_run(bundle, limits(), progress)
        progress("storing")
        _expand_bundled(facts, bundle)
        with transaction.atomic():
            serialise_writes()
            report = store_run(facts, bundle, reading)
    # Without the claim: another worker may be at a stale run and wait for this one.
    remapped = remap_stale_runs(progress)
    report.remapped = remapped.run_ids
    report.notices += remapped.problems
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


def store_run(
    facts: RunFacts, bundle: Bundle, reading: ReadRun, settle: Settle = settle_run
) -> Report:
    """Store what was read of a run and what follows; the caller holds the lock."""
    tally = Tally()
    run = facts.store(tally)
    imported = _import_bundled(run, bundle)
    places = store_reading(run, reading, tally)
    report = _rebuild(MappedRun(run, reading), places, tally, settle)
    if imported.new_snapshots:
        Generation.bump()
    report.notices = [*bundle.notices, *imported.defects, *reading.notices]
    return report


def _rebuild(
    mapped: MappedRun, places: Places, tally: Tally, settle: Settle = settle_run
) -> Report:
    """Make and decide what follows from a run's rows; a change begins a generation."""
    run, reading = mapped.run, mapped.reading
    rebuilt = rebuild_run(mapped, places, tally)
    settled = settle(run, rebuilt.sweep_keys)
    if settled or rebuilt.is_changed or not tally.is_unchanged:
        Generation.bump()
    report = _report(run, rebuilt, tally)
    report.rejected = reading.rejected_names()
    report.notices = list(reading.notices)
    return report


def _expand_bundled(facts: RunFacts, bundle: Bundle) -> None:
    sha = facts.run.get("head_sha")
    expand_ahead(
        bundle.configs,
        repository=facts.repository,
        sha=sha if isinstance(sha, str) else "",
        at=facts.created_at,
    )


def _import_bundled(run: Run, bundle: Bundle) -> Imported:
    """Import the bundle's config files as those of the run's commit."""
    if bundle.configs and not run.sha:
        return Imported(defects=["config files left out: the run names no commit"])
    is_mainline = is_of_default_branch(run)
    commit = Commit(run.repository, run.sha, run.created_at, is_mainline)
    imported = import_configs(bundle.configs, commit)
    _keep_defects(imported, run.repository.full_name, run.sha)
    if imported.new_snapshots and is_mainline:
        expand_again()
    return imported


def _keep_defects(imported: Imported, repository: str, sha: str) -> None:
    for name, defects in imported.of_files.items():
        store_file_defects(defects, repository=repository, name=name, sha=sha)


def replay_run(run: Run) -> Report:
    """Make everything of a run again from its stored records; touches no network.

    Raises AlreadyRunningError.
    """
    with claimed(run.repository.full_name, run.github_run_id), seldom_collecting():
        reading = read_stored(run)
        # Expanded before the lock, and found expanded after it.
        _ = choose(run, run.recipes).snapshot
        with transaction.atomic():
            serialise_writes()
            run.refresh_from_db()
            mapped = MappedRun(run, reading)
            return _rebuild(mapped, stored_places(reading), Tally())


@dataclass(frozen=True, slots=True)
class Remapped:
    """Runs that were mapped again, and a line for each that could not be."""

    run_ids: list[int] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)


def remap_stale_runs(progress: Progress = silent) -> Remapped:
    """Map again the runs for which newer config files are a better choice.

    Each in its own transaction. Which runs are stale follows from the tables, so
    whoever comes next finishes what a killed worker left, or what could not be done
    because another one was at the run. A run that cannot be mapped at all is told and
    left as it was: it must not stop everybody's ingestion.
    """
    done = Remapped()
    found = stale_runs()
    is_complete = True
    for number, run in enumerate(found.runs):
        progress("mapping other runs again", number, len(found.runs))
        try:
            replay_run(run)
        except (AlreadyRunningError, OperationalError, InterfaceError) as error:
            is_complete = False
            log.warning("remap put off", run_id=run.github_run_id, error=str(error))
        except BROKEN as error:
            line = f"run {run.github_run_id} could not be mapped again: {error!r}"
            done.problems.append(line)
            log.exception("remap failed", run_id=run.github_run_id)
        else:
            done.run_ids.append(run.github_run_id)
    if is_complete:
        forget_unapplied(found.sights)
    return done


def import_config_files(
    files: Mapping[str, str], *, repository: str, sha: str, at: datetime
) -> Imported:
    """Import master configs of one commit and map again the runs they fit better."""
    expand_ahead(files, repository=repository, sha=sha, at=at)
    with transaction.atomic():
        serialise_writes()
        commit = Commit(known_repository(repository), sha, at)
        imported = import_configs(files, commit)
        if not imported.files:
            transaction.set_rollback(True)
        elif expand_again():
            Generation.bump()
    _keep_defects(imported, repository, sha)
    imported.defects += remap_stale_runs().problems
    return imported


def derive_run(run: Run) -> None:
    """Decide again what follows from a run's rows and from corrections."""
    with transaction.atomic():
        serialise_writes()
        run.refresh_from_db()
        sweeps = run.sweeps.values_list("config_key_id", "scenario")
        settle_run(run, set(sweeps))
        Generation.bump()


def derive_repository(repository: Repository) -> None:
    """Decide again what follows from what is said of a repository itself.

    Which of its runs are official, which definitions keys follow, and whose config
    files apply to forks.
    """
    with transaction.atomic():
        serialise_writes()
        runs = repository.runs.select_related("repository").order_by("created_at")
        changed = derive_publications(runs)
        sweeps = Sweep.objects.filter(run__repository=repository)
        keys = set(sweeps.values_list("config_key_id", "scenario").distinct())
        derive_states(keys)
        changed |= replace_sweeps(keys).broken
        follow_repository(repository)
        repository.snapshots.update(is_applied=False)
        Generation.bump()
    _judge_again(sorted(keys), Run.objects.filter(pk__in=changed))
    remap_stale_runs()


def _judge_again(keys: Sequence[SweepKey], changed: Iterable[Run]) -> None:
    """Judge the histories of many keys, some at a time: others may write between."""
    for start in range(0, len(keys), KEYS_AT_ONCE):
        with transaction.atomic():
            serialise_writes()
            if detect(keys[start : start + KEYS_AT_ONCE], changed):
                Generation.bump()


def derive_missing() -> int:
    """Derive what a newer version derives and an older one did not store.

    Returns how many runs were derived; none where the database is up to date.
    """
    runs = list(runs_without_history().order_by("created_at", "pk"))
    for run in runs:
        derive_run(run)
    return len(runs)


def derive_history(scope: Mapping[str, str]) -> int:
    """Place the sweeps of the keys in scope anew; return how many rows changed.

    After staff said, or took back, that a history breaks or is marked. What was judged
    across the break, or is no longer, is judged again.
    """
    with transaction.atomic():
        serialise_writes()
        keys = keys_in_scope(scope)
        placed = replace_sweeps(keys)
        # A held sweep has no place in a history and is judged all the same.
        held = Q(sweeps__state=Sweep.State.HELD, sweeps__config_key__in=dict(keys))
        detect(keys, Run.objects.filter(Q(pk__in=placed.broken) | held).distinct())
        # Verdicts on unofficial sweeps look at breaks themselves.
        Generation.bump()
    return placed.changed


def replay_checkpoint(checkpoint: Checkpoint, progress: Progress = silent) -> None:
    """Name the checkpoint anew wherever it, or one of its spellings, was served.

    Raises AlreadyRunningError; what was replayed by then needs no second time.
    """
    known = checkpoints_like(checkpoint)
    with transaction.atomic():
        serialise_writes()
        name_definitions(known)
        if classify_again():
            Generation.bump()
    served = Sweep.objects.filter(checkpoint_id__in=known).values("run")
    runs = Run.objects.filter(pk__in=served).select_related("repository")
    for done, run in enumerate(runs):
        progress("mapping again", done, len(runs))
        replay_run(run)


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
        measured_in=run.reuse_source_run_id,
    )


def _numbers(report: Report) -> dict[str, object]:
    return {k: v for k, v in report.counts().items() if k != "notices"}
