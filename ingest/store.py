"""Rows of one run into tables; the same rows twice change nothing."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from dashboard.models import (
    ConfigKey,
    Point,
    Run,
    Skip,
    Sweep,
)
from dashboard.vocabulary import deployments
from dashboard.vocabulary.flags import is_out
from dashboard.vocabulary.stored_metrics import parted
from ingest.artifacts.texts import clean_text, shortened
from ingest.mapping import ExpandedEntry, Flags, MappedEval, MappedPoint, flagged
from ingest.rows import Identity, RecordRef, Repeat, RunStatRow, SkipRow
from ingest.sweeps import SweepDraft
from ingest.tables import (
    BENCHMARK_JOBS,
    CHANGELOG,
    CONFIG_KEYS,
    DEPLOYMENTS,
    EVALS,
    HOT_METRICS,
    POINTS,
    RUN_STATS,
    SKIPS,
    SWEEPS,
)
from ingest.upserts import Stored, Table, Values, delete_others, insert_in_parts, upsert

# Index entries of PostgreSQL end at 2,704 bytes, whatever the text.
INDEXED_TEXT = 500
RUNNER_LENGTH = 100
VERSION_LENGTH = 40


@dataclass(slots=True)
class Tally:
    """Counts of rows that an ingestion wrote, left alone or removed."""

    new: int = 0
    changed: int = 0
    same: int = 0
    removed: int = 0
    by_table: dict[str, dict[str, int]] = field(default_factory=dict)

    def add(self, table: Table, stored: Stored, removed: int = 0) -> None:
        """Count what one upsert did."""
        self.new += stored.new
        self.changed += stored.changed
        self.same += stored.same
        self.removed += removed
        self.by_table[table.model.__name__] = {
            "new": stored.new,
            "changed": stored.changed,
            "same": stored.same,
            "removed": removed,
        }

    def merge(self, other: "Tally") -> None:
        """Add the counts of another tally."""
        self.new += other.new
        self.changed += other.changed
        self.same += other.same
        self.removed += other.removed
        self.by_table.update(other.by_table)

    @property
    def is_unchanged(self) -> bool:
        """Tell whether no row was written or removed."""
        return not (self.new or self.changed or self.removed)


@dataclass(frozen=True, slots=True)
class Places:
    """Database ids of what rows refer to: artifacts by position, records by place.

    ``records`` are those of an artifact's id and a member, by index.
    """

    artifacts: Sequence[int]
    records: Mapping[tuple[int, str], Mapping[int, int]]
    attempts: Sequence[int]

    def artifact(self, ref: RecordRef) -> int | None:
        """Return the artifact's id; None for what concerns the whole run."""
        return self.artifacts[ref.artifact] if ref.artifact >= 0 else None

    def record(self, ref: RecordRef) -> int | None:
        """Return the raw record's id, None where the row is no record of its own."""
        of_member = self.records.get((self.artifacts[ref.artifact], ref.member))
        return of_member.get(ref.index) if of_member else None

    def attempt(self, ref: RecordRef) -> int:
        """Return the attempt that uploaded the record."""
        return self.attempts[ref.artifact]


class RunStore:
    """Writes what belongs to one run; every method leaves exactly the given rows."""

    def __init__(self, run: Run) -> None:
        """Take the stored run."""
        self.run = run
        self.tally = Tally()

    def replace(
        self, table: Table, rows: Iterable[Values], *, keep_others: bool = False
    ) -> Stored:
        """Store the run's rows of a table and delete those no longer among them."""
        stored = upsert(table, rows)
        kept = stored.ids.values()
        removed = 0 if keep_others else delete_others(table.model, kept, run=self.run)
        self.tally.add(table, stored, removed)
        return stored

    def store_skips(
        self,
        rows: Iterable[SkipRow],
        places: Places,
        *,
        is_from_reading: bool,
        untouched: Iterable[int] = (),
    ) -> None:
        """Store skips of one stage; those of the other stage are left alone.

        Skips of ``untouched`` artifacts stay: their bytes were not read this time.
        """
        chosen: dict[Values, dict[str, None]] = {}
        for row in rows:
            ref = row.ref
            key = (
                places.artifact(ref),
                shortened(clean_text(ref.member), INDEXED_TEXT),
                max(ref.index, 0),
                row.reason,
            )
            # One record may be refused in several parts: each is told.
            details = chosen.setdefault(key, {})
            details[clean_text(row.detail)] = None
        values = (
            (self.run.pk, *key, "; ".join(sorted(details))[:2000], is_from_reading)
            for key, details in chosen.items()
        )
        stored = upsert(SKIPS, values)
        kept = Skip.objects.filter(run=self.run, artifact_id__in=list(untouched))
        removed = delete_others(
            Skip,
            [*stored.ids.values(), *kept.values_list("pk", flat=True)],
            run=self.run,
            is_from_reading=is_from_reading,
        )
        self.tally.add(SKIPS, stored, removed)

    def store_changelog(self, entries: Iterable[ExpandedEntry]) -> None:
        """Store every changelog entry, several of one run kept apart."""
        self.replace(CHANGELOG, [self._changelog_values(entry) for entry in entries])

    def _changelog_values(self, entry: ExpandedEntry) -> Values:
        row = entry.row
        return (
            self.run.pk,
            shortened(row.base_ref, INDEXED_TEXT),
            shortened(row.head_ref, INDEXED_TEXT),
            row.index,
            row.config_keys,
            entry.keys,
            entry.unknown,
            row.description,
            row.pr_link,
            row.pr_number,
            row.link_state,
            row.scenario_types or [],
            row.evals_only,
            row.all_evals,
            row.append_only,
            row.defects,
        )

    def store_run_stats(self, rows: Iterable[RunStatRow]) -> None:
        """Store job successes by cluster; a key given twice counts once, the last."""
        chosen = {row.raw_key: row for row in rows}
        self.replace(
            RUN_STATS,
            [
                (self.run.pk, row.raw_key, row.hardware, row.successes, row.total)
                for row in chosen.values()
            ],
        )

    def store_benchmark_jobs(self, rows: Iterable[Values]) -> None:
        """Store what became of each benchmark job, as ``benchmark_jobs`` tells it."""
        self.replace(BENCHMARK_JOBS, rows)

    def store_sweeps(self, drafts: Iterable[SweepDraft]) -> dict[tuple[str, str], int]:
        """Store sweeps; return their ids by (config key, scenario)."""
        drafts = list(drafts)
        keys = store_config_keys(drafts)
        rows = [draft.values(self.run, keys[draft.config_key]) for draft in drafts]
        # Sweeps that lost their last point go once their points have gone.
        stored = self.replace(SWEEPS, rows, keep_others=True)
        return {
            (draft.config_key, draft.scenario): stored.ids[
                (self.run.pk, keys[draft.config_key], draft.scenario)
            ]
            for draft in drafts
        }

    def store_points(
        self,
        points: Sequence[MappedPoint],
        sweeps: Mapping[tuple[str, str], int],
        places: Places,
    ) -> None:
        """Store points; the natural keys must be distinct."""
        ids = store_deployments({p.row.identity.deployment for p in points})
        is_first = not Point.objects.filter(sweep__run=self.run).exists()
        # With no earlier points the current ones are known at once: derivation then
        # need not write them a second time.
        current = _of_newest_attempts(points, places) if is_first else set()
        rows = (
            _point_values(p, flags, sweeps, ids, places, is_current=index in current)
            for index, (p, flags) in enumerate(flagged(points))
        )
        stored = insert_in_parts(POINTS, rows) if is_first else upsert(POINTS, rows)
        removed = 0 if is_first else self._delete_other_points(stored)
        self.tally.add(POINTS, stored, removed)
        self.tally.removed += delete_others(Sweep, sweeps.values(), run=self.run)

    def _delete_other_points(self, stored: Stored) -> int:
        return delete_others(Point, stored.ids.values(), sweep__run=self.run)

    def store_evals(self, evals: Sequence[MappedEval], places: Places) -> list[int]:
        """Store eval results and return their ids, in the order given.

        The newest attempt of an identity is the current one.
        """
        ids = store_deployments({e.row.identity.deployment for e in evals})
        keys = store_keys({e.mapping.config_key: e.row.identity for e in evals})
        newest: dict[Values, int] = {}
        for e in evals:
            place = _eval_place(e, keys, ids)
            attempt = places.attempt(e.row.ref)
            newest[place] = max(attempt, newest.get(place, 0))
        rows = [
            _eval_values(self.run, e, _eval_place(e, keys, ids), newest, places)
            for e in evals
        ]
        stored = self.replace(EVALS, rows)
        return [stored.ids[row[: len(EVALS.key)]] for row in rows]


def store_deployments(
    found: Iterable[deployments.Deployment],
) -> dict[deployments.Deployment, int]:
    """Return deployment ids; unknown topologies are stored."""
    rows = [(*d, deployments.deployment_label(d)) for d in found]
    ids = upsert(DEPLOYMENTS, rows).ids if rows else {}
    return {deployments.Deployment(*key): pk for key, pk in ids.items()}  # type: ignore[arg-type]


def store_config_keys(drafts: Iterable[SweepDraft]) -> dict[str, int]:
    """Return config key ids by key; unknown ones are stored."""
    drafts = list(drafts)
    named = {d.config_key: d.identity for d in drafts if d.identity is not None}
    known = ConfigKey.objects.filter(key__in={d.config_key for d in drafts})
    return dict(known.values_list("key", "pk")) | store_keys(named)


def store_keys(found: Mapping[str, Identity]) -> dict[str, int]:
    """Return ids of config keys; a new key takes its attributes from a row."""
    rows = [
        (
            key,
            identity.model,
            identity.precision,
            identity.hardware,
            identity.framework,
            "",
            key.startswith("unmapped-"),
        )
        for key, identity in found.items()
    ]
    ids = upsert(CONFIG_KEYS, rows).ids if rows else {}
    return {str(key[0]): pk for key, pk in ids.items()}


def _of_newest_attempts(points: Sequence[MappedPoint], places: Places) -> set[int]:
    """Return the indexes of the points of each place's newest attempt."""
    if len({places.attempt(point.row.ref) for point in points}) <= 1:
        return set(range(len(points)))
    newest: dict[Values, tuple[int, int]] = {}
    for index, point in enumerate(points):
        who = point.row.identity
        place = (
            *(point.mapping.config_key, who.scenario, who.deployment),
            *(who.concurrency, who.fingerprint),
        )
        found = (places.attempt(point.row.ref), index)
        newest[place] = max(found, newest.get(place, found))
    return {index for _, index in newest.values()}


def _point_values(
    point: MappedPoint,
    flags: Flags,
    sweeps: Mapping[tuple[str, str], int],
    ids: Mapping[deployments.Deployment, int],
    places: Places,
    *,
    is_current: bool,
) -> Values:
    row = point.row
    identity = row.identity
    metrics, more_metrics = parted(row.metrics)
    return (
        sweeps[(point.mapping.config_key, identity.scenario)],
        ids[identity.deployment],
        identity.concurrency,
        identity.fingerprint,
        places.attempt(row.ref),
        is_current,
        False,
        # Nearly every point is without one.
        bool(flags) and any(is_out(code) for code, _ in flags),
        flags,
        identity.image,
        shortened(row.runner, RUNNER_LENGTH),
        row.gpus,
        row.prefill_gpus,
        row.decode_gpus,
        *map(row.metrics.get, HOT_METRICS),
        metrics,
        more_metrics,
        row.facts,
        places.record(row.ref),
    )


def _eval_place(
    e: MappedEval,
    keys: Mapping[str, int],
    ids: Mapping[deployments.Deployment, int],
) -> Values:
    identity = e.row.identity
    return (
        keys[e.mapping.config_key],
        ids[identity.deployment],
        identity.scenario,
        identity.concurrency or None,
        e.row.task,
    )


def _repeat(older: Repeat) -> list[object]:
    at = older.measured_at
    return [at.isoformat() if at else None, older.strict, older.flexible]


def _eval_values(
    run: Run,
    e: MappedEval,
    place: Values,
    newest: Mapping[Values, int],
    places: Places,
) -> Values:
    row = e.row
    attempt = places.attempt(row.ref)
    return (
        run.pk,
        *place,
        attempt,
        row.strict,
        row.strict_se,
        row.flexible,
        row.flexible_se,
        row.score,
        row.n,
        shortened(row.lm_eval_version, VERSION_LENGTH),
        row.measured_at,
        row.result_file,
        [_repeat(older) for older in row.repeats],
        attempt == newest[place],
        e.mapping.method,
        list(e.mapping.candidates),
        sorted(row.warnings),
        places.record(row.ref),
    )
