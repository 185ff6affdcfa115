"""Everything that follows from a run's rows: keys, sweeps, points, evals, counts."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from django.db.models import Exists, OuterRef
from django.db.models.functions import Now

from dashboard.models import (
    ConfigKey,
    Correction,
    Notice,
    Regression,
    ReuseLink,
    Run,
)
from ingest.benchmark_jobs import benchmark_jobs
from ingest.choices import Choice, choose
from ingest.config_keys import Snapshot
from ingest.conversion import is_own_record
from ingest.definitions import checkpoint_ids
from ingest.eval_planning import (
    evals_from_jobs,
    evals_from_matrix,
    evals_from_points,
)
from ingest.following import KeyFollower
from ingest.mapping import (
    ExpandedEntry,
    MappedEval,
    MappedPoint,
    RunMapper,
    expand_entries,
)
from ingest.planning import (
    NO_PLAN,
    Plan,
    eval_count_from_jobs,
    plan_from_jobs,
    plan_from_matrix,
)
from ingest.reading import ReadRun
from ingest.reruns import newest_evals
from ingest.rows import (
    ChangelogRow,
    EvalRow,
    PointRow,
    RecordRef,
    ReuseRow,
    RunStatRow,
    SkipRow,
)
from ingest.samples import store_samples
from ingest.store import Places, RunStore, Tally
from ingest.sweeps import SweepDraft, checkpoint_names, draft_sweeps
from ingest.tables import SAMPLES
from ingest.upserts import Stored

WHOLE_RUN = RecordRef(-1, "", 0)


@dataclass(slots=True)
class RunRows:
    """The rows of one run by kind."""

    points: list[PointRow] = field(default_factory=list)
    evals: list[EvalRow] = field(default_factory=list)
    changelog: list[ChangelogRow] = field(default_factory=list)
    stats: list[RunStatRow] = field(default_factory=list)
    reuse: list[ReuseRow] = field(default_factory=list)
    skips: list[SkipRow] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class RebuiltRun:
    """What was rebuilt: the sweep keys touched, and what was skipped.

    ``is_changed`` tells whether the run's own row or a correction's was written.
    """

    sweep_keys: set[tuple[int, str]]
    skips: Sequence[SkipRow]
    is_changed: bool

    def skips_by_reason(self) -> dict[str, int]:
        """Return how many records were not taken, by reason."""
        return dict(sorted(Counter(skip.reason for skip in self.skips).items()))


class MappedRun:
    """A run's rows mapped by the config files and the changelog that apply."""

    def __init__(self, run: Run, reading: ReadRun) -> None:
        """Choose the config files that apply and expand the changelog."""
        self.run = run
        self.reading = reading
        self.rows = by_kind(reading)
        fingerprints = {p.identity.fingerprint for p in self.rows.points}
        self.recipes = sorted(fingerprints - {""})
        self.choice = choose(run, self.recipes)
        self.entries = expand_entries(self.rows.changelog, self.choice.snapshot)
        self.mapper = RunMapper(self.choice.snapshot, self.entries)

    def forget_rows(self) -> None:
        """Let go of all rows and records, once they are stored.

        Errors within queries of the derivation keep frames of their callers, and what
        these name, until Python looks for cycles: 0.2 s for 20,000 rows.
        """
        self.rows = RunRows()
        self.reading.rows.clear()
        for artifact in self.reading.artifacts:
            artifact.records.clear()

    def points(self) -> tuple[list[MappedPoint], list[SkipRow]]:
        """Map the points; return them and those refused."""
        points, refused = list[MappedPoint](), list[SkipRow]()
        for found in map(self.mapper.map_point, self.rows.points):
            if isinstance(found, MappedPoint):
                points.append(found)
            else:
                refused.append(found)
        return points, refused


def rebuild_run(mapped: MappedRun, places: Places, tally: Tally) -> RebuiltRun:
    """Make a run's derived rows again from what its records say.

    1. Map rows to keys, flag what cannot be true. 2. Of two records at one place of
    one attempt keep the better. 3. Plan from jobs or matrix. 4. Store sweeps, points,
    evals, changelog, statistics, skips; rows that no record supports any more go.
    """
    run, reading = mapped.run, mapped.reading
    before = set(run.sweeps.values_list("config_key_id", "scenario"))
    rows, entries, mapper = mapped.rows, mapped.entries, mapped.mapper
    taken, refused = mapped.points()
    points, repeated = best_of_each_place(taken, places, reading)
    plan = plan_of(run, rows, mapper)
    drafts = draft_sweeps(points, plan, entries)
    set_checkpoints(drafts, points, mapped.choice)
    measured = {(draft.config_key, draft.scenario) for draft in drafts}
    evals, older = newest_evals(mapper.map_evals(rows.evals, measured), places)
    skips = [*rows.skips, *refused, *repeated, *older]
    skips += _refused_stats(rows, entries)

    follower = KeyFollower(run)
    store = RunStore(run)
    store.store_changelog(entries)
    _store_jobs(store, rows.stats, mapper)
    store.store_points(points, store.store_sweeps(drafts), places)
    skips += _store_evals(store, evals, reading, places)
    store.store_skips(skips, places, is_from_reading=False)
    moved = follower.follow()
    store.tally.removed += forget_orphan_keys()
    tally.merge(store.tally)
    told = {
        "snapshot": mapped.choice.as_json(),
        "recipes": mapped.recipes,
        "eval_plan": _eval_plan(run, rows, mapper, points),
    }
    is_written = _update_run(run, rows, plan, told)
    after = set(run.sweeps.values_list("config_key_id", "scenario"))
    is_changed = is_written or bool(moved)
    mapped.forget_rows()
    return RebuiltRun(before | after, [*reading.skips(), *skips], is_changed)


def by_kind(reading: ReadRun) -> RunRows:
    """Sort rows by their kind."""
    rows = RunRows()
    places: dict[type, list[object]] = {
        PointRow: rows.points,  # type: ignore[dict-item]
        EvalRow: rows.evals,  # type: ignore[dict-item]
        ChangelogRow: rows.changelog,  # type: ignore[dict-item]
        RunStatRow: rows.stats,  # type: ignore[dict-item]
        ReuseRow: rows.reuse,  # type: ignore[dict-item]
        SkipRow: rows.skips,  # type: ignore[dict-item]
    }
    for row in reading.rows:
        places[type(row)].append(row)
    return rows


def best_of_each_place(
    points: Iterable[MappedPoint], places: Places, reading: ReadRun
) -> tuple[list[MappedPoint], list[SkipRow]]:
    """Keep one point per place and attempt; the others are said to be duplicates.

    A job's own record wins over an aggregate's, then valid power telemetry, then the
    newer upload, then the later record.
    """

    def rank(order: int, point: MappedPoint) -> tuple[object, ...]:
        ref = point.row.ref
        meta = reading.artifacts[ref.artifact].meta
        has_power = point.row.facts.get("power_valid") is True
        return is_own_record(meta.name, ref.member), has_power, meta.age_key, order

    best: dict[tuple[object, ...], tuple[int, MappedPoint]] = {}
    skips = []
    for order, point in enumerate(points):
        identity = point.row.identity
        place = (
            point.mapping.config_key,
            identity.scenario,
            identity.deployment,
            identity.concurrency,
            identity.fingerprint,
            places.attempt(point.row.ref),
        )
        known = best.setdefault(place, (order, point))
        if known[0] == order:
            continue
        is_better = rank(order, point) > rank(*known)
        loser = known[1] if is_better else point
        if is_better:
            best[place] = (order, point)
        detail = f"{identity.concurrency} concurrent: measured twice in one attempt"
        skips.append(SkipRow(loser.row.ref, "duplicate_point", detail))
    return [point for _, point in best.values()], skips


def _store_jobs(
    store: RunStore, stats: Sequence[RunStatRow], mapper: RunMapper
) -> None:
    """Store what the run counted of its jobs itself, and what became of each."""
    store.store_run_stats(stats)
    store.store_benchmark_jobs(benchmark_jobs(store.run, mapper.map))


def _store_evals(
    store: RunStore, evals: Sequence[MappedEval], reading: ReadRun, places: Places
) -> list[SkipRow]:
    """Store evals with their samples; return which samples were not taken."""
    stored = list(zip(evals, store.store_evals(evals, places), strict=True))
    samples = store_samples(store.run, stored, reading, places)
    store.tally.add(SAMPLES, Stored(ids={}, new=samples.new), samples.removed)
    return samples.skips


def plan_of(run: Run, rows: RunRows, mapper: RunMapper) -> Plan:
    """Say what the run was to measure: by its jobs, else by its changelog's matrix."""
    plan = plan_from_jobs(_job_names(run), mapper.map) if run.jobs_known else NO_PLAN
    if plan.sweeps is not None or mapper.snapshot is None:
        return plan
    if _source_of(run, rows) is not None:
        return NO_PLAN
    return plan_from_matrix(mapper.snapshot, mapper.entries)


def _eval_plan(
    run: Run, rows: RunRows, mapper: RunMapper, points: Sequence[MappedPoint]
) -> dict[str, object] | None:
    """Say what was to be evaluated: by jobs, else by what the generator's rule gives.

    A run that publishes another's measurements evaluates nothing itself.
    """
    plan = evals_from_jobs(_job_names(run), mapper.map) if run.jobs_known else None
    if plan is None and _source_of(run, rows) is None:
        if mapper.snapshot is not None:
            plan = evals_from_matrix(mapper.snapshot, mapper.entries)
        plan = plan or evals_from_points(points)
    return plan.as_json() if plan is not None else None


def _job_names(run: Run) -> list[str]:
    return list(run.jobs.order_by("pk").values_list("name", flat=True))


def set_checkpoints(
    drafts: Iterable[SweepDraft], points: Sequence[MappedPoint], choice: Choice
) -> None:
    """Give each sweep the checkpoint it served."""
    names = checkpoint_names(points, choice)
    snapshot = choice.snapshot
    chosen = {
        (d.config_key, d.scenario): names.get((d.config_key, d.scenario))
        or _planned_checkpoint(d, snapshot)
        for d in drafts
    }
    ids = checkpoint_ids(name for name in chosen.values() if name)
    for draft in drafts:
        name = chosen[(draft.config_key, draft.scenario)]
        draft.checkpoint_id = ids[name.casefold()] if name else None


def _planned_checkpoint(draft: SweepDraft, snapshot: Snapshot | None) -> str | None:
    if draft.is_published:
        return None
    entries = snapshot.of_key(draft.config_key) if snapshot else []
    return entries[0].checkpoint if entries else None


def _refused_stats(rows: RunRows, entries: Sequence[ExpandedEntry]) -> list[SkipRow]:
    """Take job statistics away from a run that was to run evals only."""
    if not entries or not all(e.is_without_points for e in entries):
        return []
    refused = [SkipRow(row.ref, "evals_only", "run statistics") for row in rows.stats]
    rows.stats.clear()
    return refused


def _update_run(
    run: Run, rows: RunRows, plan: Plan, mapped_with: Mapping[str, object]
) -> bool:
    """Write what only all rows together tell of the run; tell whether it was new."""
    wanted = {
        **mapped_with,
        "planned_count": plan.total,
        "eval_planned_count": (
            eval_count_from_jobs(_job_names(run)) if run.jobs_known else None
        ),
        "skip_count": run.skips.count(),
        "reuse_source_run_id": _source_of(run, rows),
    }
    wanted["pr_number"] = run.pr_number or _pr_of_changelog(rows)
    changed = {n: v for n, v in wanted.items() if getattr(run, n) != v}
    if changed:
        Run.objects.filter(pk=run.pk).update(updated_at=Now(), **changed)
        run.refresh_from_db()
    return bool(changed)


def forget_orphan_keys() -> int:
    """Delete keys that no config defines and that nothing names any more.

    A key that a correction, a notice or a regression names stays: what a person
    decided is never lost.
    """
    named = (
        ~Exists(model.objects.filter(config_key=OuterRef("pk")))
        for model in (Correction, Notice, Regression)
    )
    _, removed = ConfigKey.objects.filter(
        *named,
        definition__isnull=True,
        sweeps__isnull=True,
        evals__isnull=True,
    ).delete()
    return removed.get("dashboard.ConfigKey", 0)


def _source_of(run: Run, rows: RunRows) -> int | None:
    """Return the run whose measurements this one publishes.

    Its own artifact says so, else a link that was found through the pull request.
    """
    links = ReuseLink.objects.filter(merge_run_id=run.github_run_id)
    sources = [row.source_run_id for row in rows.reuse]
    sources += links.values_list("source_run_id", flat=True)
    return next((s for s in sources if s != run.github_run_id), None)


def _pr_of_changelog(rows: RunRows) -> int | None:
    """Return the pull request where all good links of the changelog agree on it."""
    numbers = {row.pr_number for row in rows.changelog if row.link_state == "good"}
    return numbers.pop() if len(numbers) == 1 else None
