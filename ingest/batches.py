"""Several runs at once: an import of the past decides on each history once."""

from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import dataclass, field

from django.db import connection, transaction

from dashboard.models import EvalResult, Generation, Point, Run, Sweep
from ingest.artifacts.bundles import Bundle
from ingest.claims import (
    AlreadyRunningError,
    claimed,
    raw_bytes_shared,
    serialise_writes,
)
from ingest.derive import settle_runs
from ingest.pipeline import (
    Report,
    limits,
    remap_stale_runs,
    seldom_collecting,
    store_run,
)
from ingest.progress import Progress, silent
from ingest.reading import read_run
from ingest.run_facts import IngestError, run_facts
from ingest.states import SweepKey


@dataclass(slots=True)
class Batch:
    """What taking several runs in did, and a line per run that was left out."""

    reports: list[Report] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)


def ingest_bundles(bundles: Iterable[Bundle], progress: Progress = silent) -> Batch:
    """Take several runs in at once: all of them or, should one break, none.

    As `ingest_bundle` does, but the history of their keys is decided once for all. A
    run may be among them only once. One that cannot be taken, or that another worker is
    at, is told and left out.
    """
    batch = Batch()
    pending: list[tuple[Run, set[SweepKey]]] = []

    def settle_later(run: Run, sweep_keys: set[SweepKey]) -> int:
        pending.append((run, sweep_keys))
        return 0

    with ExitStack() as claims, raw_bytes_shared(), seldom_collecting():
        taken = []
        for bundle in bundles:
            try:
                facts = run_facts(bundle)
                claims.enter_context(claimed(facts.repository, facts.github_run_id))
                facts.refuse_other_repository()
            except (AlreadyRunningError, IngestError) as error:
                batch.refused.append(str(error))
            else:
                taken.append((facts, bundle, read_run(bundle, limits(), progress)))
        with transaction.atomic():
            serialise_writes()
            batch.reports = [store_run(*run, settle=settle_later) for run in taken]
            _tell_planner_of_rows()
            if settle_runs(pending):
                Generation.bump()
            for (run, _), report in zip(pending, batch.reports, strict=True):
                report.points, report.evals = run.received_count, run.eval_count
    remap_stale_runs(progress)
    return batch


def _tell_planner_of_rows() -> None:
    """Count what this transaction stored.

    Autovacuum may look at the tables meanwhile, see none of these rows and note that
    there are none: then each run's points would be found by reading all sweeps.
    """
    with connection.cursor() as cursor:
        for model in (Run, Sweep, Point, EvalResult):
            table = connection.ops.quote_name(model._meta.db_table)  # noqa: SLF001
            cursor.execute(f"ANALYZE {table}")
