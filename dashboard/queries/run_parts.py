"""The parts of one run, each fetched in one query however much the run holds."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from django.db.models import Count, F, Window
from django.db.models.functions import RowNumber

from dashboard.analysis.evals import Outcome, judge
from dashboard.analysis.request_errors import RequestErrors, request_errors
from dashboard.models import (
    Artifact,
    Correction,
    EvalResult,
    Job,
    Point,
    Run,
    Skip,
    Sweep,
)
from dashboard.queries.coverage import DOUBTED, EXCLUDED, RECEIVED, Grid, grid
from dashboard.queries.floors import floor_of, floor_table
from dashboard.vocabulary.floors import FloorTable

EXAMPLES = 5
# Where a point has what is no column of its own.
_WITHIN = {
    "deployment": "deployment__label",
    "accounting": "facts__request_accounting",
    "stored_median_intvty": "facts__stored_interactivity__median_intvty",
    "spec_method": "deployment__spec_method",
    "point_id": "pk",
}


class Place(NamedTuple):
    """Where a point stands in its sweep."""

    deployment: str
    concurrency: int

    def __str__(self) -> str:
        return f"{self.deployment} c{self.concurrency}"


def places_text(places: Iterable[Place]) -> str:
    """Write places by deployment, in their order: ``TP2 c4, c8; TP4 c16``."""
    grouped: dict[str, list[str]] = {}
    for place in places:
        grouped.setdefault(place.deployment, []).append(f"c{place.concurrency}")
    return "; ".join(f"{name} {', '.join(cs)}" for name, cs in grouped.items())


class RunPoint(NamedTuple):
    """What a report needs of a point; measurements are those stored as columns."""

    sweep_id: int
    deployment: str
    concurrency: int
    attempt: int
    is_current: bool
    is_excluded: bool
    is_out: bool
    flags: list[list[str]]
    tput_per_gpu: float | None
    output_tput_per_gpu: float | None
    input_tput_per_gpu: float | None
    median_intvty: float | None
    p90_intvty: float | None
    median_ttft: float | None
    p90_ttft: float | None
    median_tpot: float | None
    median_e2el: float | None
    p90_e2el: float | None
    accounting: dict[str, object] | None
    stored_median_intvty: float | None
    spec_method: str
    point_id: int

    @property
    def is_speculative(self) -> bool:
        """Tell whether the point decoded speculatively."""
        return self.spec_method != "none"

    @property
    def errors(self) -> RequestErrors:
        """Return the requests that failed, where the point counts them."""
        return request_errors(self.accounting)

    @property
    def standing(self) -> str:
        """Return current, excluded, or superseded by a later upload or attempt."""
        if self.is_excluded:
            return "excluded"
        return "current" if self.is_current else "superseded"

    @property
    def coverage(self) -> str:
        """Return what the point is to the plan: received, doubted or excluded."""
        if self.is_excluded:
            return EXCLUDED
        return DOUBTED if self.is_out else RECEIVED

    @property
    def place(self) -> Place:
        """Return where the point stands; written ``TP2 c64``."""
        return Place(self.deployment, self.concurrency)

    def counts(self, attempt: int | None) -> bool:
        """Tell whether the point counts as received: by the run, or by one attempt."""
        if attempt is None:
            return self.is_current
        return self.attempt == attempt and not self.is_excluded


@dataclass(frozen=True, slots=True)
class SkipGroup:
    """Everything that was not taken for one reason, with its first examples."""

    reason: str
    count: int
    examples: list[Skip]


@dataclass(frozen=True, slots=True)
class JudgedEval:
    """A score with the floor of its model, task and day, and what came of it.

    ``of_filters`` says it of each score that has to reach the floor; ``notes`` are
    what there is to say beside it.
    """

    result: EvalResult
    floor: float
    outcome: Outcome
    of_filters: Mapping[str, Outcome]
    notes: tuple[str, ...]
    floor_source: str


def judged(results: Iterable[EvalResult]) -> list[JudgedEval]:
    """Hold stored scores against their floors, which one query reads.

    The scores need their config key and run.
    """
    found = list(results)
    floors = floor_table() if found else FloorTable()
    return [_judged(result, floors) for result in found]


def _judged(result: EvalResult, floors: FloorTable) -> JudgedEval:
    needed = floor_of(floors, result)
    scores = {
        "strict": result.strict,
        "flexible": result.flexible,
        "score": result.score,
    }
    said = judge(needed, scores, result.n)
    return JudgedEval(
        result=result,
        floor=needed.minimum,
        outcome=said.outcome,
        of_filters=said.of_filters,
        notes=said.notes,
        floor_source=needed.source,
    )


@dataclass(frozen=True, slots=True)
class SweepReport:
    """One config key and scenario of a run. ``planned`` is None where unknown."""

    sweep: Sweep
    received: int
    planned: int | None
    missing: list[Place]
    excluded: list[Place]
    grid: Grid

    @property
    def missing_text(self) -> str:
        """Return what was planned and did not come, as people write it."""
        return places_text(self.missing)

    @property
    def excluded_text(self) -> str:
        """Return what a person took out, as people write it."""
        return places_text(self.excluded)

    @property
    def is_ambiguous(self) -> bool:
        """Tell whether several config keys could have been meant."""
        return len(self.sweep.mapping_candidates) > 1


def sweep_report(
    sweep: Sweep, points: Sequence[RunPoint], attempt: int | None
) -> SweepReport:
    """Hold a sweep's plan against the points of the run, or of one attempt."""
    own = [p for p in points if p.sweep_id == sweep.pk]
    counted = [p for p in own if p.counts(attempt)]
    # An excluded point was measured: it is not missing, it is listed as excluded.
    excluded = [p for p in own if p.is_excluded]
    there = {p.place for p in (*counted, *excluded)}
    planned = [Place(*place) for place in sweep.planned or []]
    return SweepReport(
        sweep=sweep,
        received=sweep.received_count if attempt is None else len(counted),
        planned=sweep.planned_count,
        missing=[place for place in planned if place not in there],
        excluded=[p.place for p in excluded],
        grid=grid(
            planned,
            [
                (p.deployment, p.concurrency, p.coverage)
                for p in own
                if p.is_excluded or p.counts(attempt)
            ],
        ),
    )


def source_run(run: Run) -> Run | None:
    """Return the stored run whose measurements this one publishes."""
    if run.reuse_source_run_id is None:
        return None
    return Run.objects.filter(github_run_id=run.reuse_source_run_id).first()


def sweeps(run: Run) -> list[Sweep]:
    """Return the sweeps of a run by config key and scenario."""
    related = run.sweeps.select_related(
        "config_key", "checkpoint", "extends__run", "previous__run"
    )
    return list(related.order_by("config_key__key", "scenario"))


def points(run: Run) -> list[RunPoint]:
    """Return every stored point of a run, the superseded ones too."""
    columns = [_WITHIN.get(name, name) for name in RunPoint._fields]
    found = Point.objects.filter(sweep__run=run).order_by(
        "sweep_id", "deployment__label", "concurrency", "attempt"
    )
    return [RunPoint(*values) for values in found.values_list(*columns)]


def _of_attempt(attempt: int | None, name: str = "attempt") -> dict[str, Any]:
    return {} if attempt is None else {name: attempt}


def evals(run: Run, attempt: int | None) -> list[JudgedEval]:
    """Return the current scores of a run, or the scores of one attempt.

    In order of key, deployment, concurrency and task.
    """
    found = run.evals.filter(**_of_attempt(attempt))
    if attempt is None:
        found = found.filter(is_current=True)
    ordered = found.select_related("config_key", "deployment", "run").order_by(
        "config_key__key", "deployment__label", "concurrency", "task", "attempt"
    )
    return judged(ordered)


def jobs(run: Run) -> list[Job]:
    """Return the jobs of every attempt, the newest of a name last."""
    return list(run.jobs.order_by("attempt", "github_job_id"))


def artifacts(run: Run, attempt: int | None) -> list[Artifact]:
    """Return artifacts by name."""
    found = run.artifacts.filter(**_of_attempt(attempt))
    return list(found.order_by("name", "attempt", "pk"))


def skip_groups(run: Run, attempt: int | None) -> list[SkipGroup]:
    """Count skips by reason in the database and fetch only the first of each."""
    found = (
        run.skips.filter(**_of_attempt(attempt, "artifact__attempt"))
        .select_related("artifact")
        .annotate(
            total=Window(Count("pk"), partition_by=[F("reason")]),
            place=Window(
                RowNumber(), partition_by=[F("reason")], order_by=F("pk").asc()
            ),
        )
        .filter(place__lte=EXAMPLES)
        .order_by("reason", "place")
    )
    grouped: dict[str, list[Any]] = defaultdict(list)
    for skip in found:
        grouped[skip.reason].append(skip)
    return [SkipGroup(r, first[0].total, first) for r, first in grouped.items()]


def corrections(run: Run) -> list[Correction]:
    """Return every correction of a run, those that were undone too."""
    related = run.corrections.select_related("config_key", "deployment")
    return list(related.order_by("made_at", "pk"))
