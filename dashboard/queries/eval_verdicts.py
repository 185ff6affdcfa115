"""The evals of sides of a comparison, held against the floors of their day."""

from collections.abc import Iterable, Mapping, Sequence

from django.db.models import F, Q

from dashboard.analysis.eval_verdicts import EvalVerdict, Place, Scored, eval_verdicts
from dashboard.analysis.sides import Side, SweepVerdict
from dashboard.models import EvalResult
from dashboard.queries.run_parts import JudgedEval, judged
from dashboard.vocabulary.floors import decisive_filter


def scored(found: JudgedEval) -> Scored:
    """Return a judged eval as plain values; needs its deployment and run."""
    result = found.result
    return Scored(
        deployment=result.deployment.label,
        concurrency=result.concurrency,
        task=result.task,
        shares={
            "strict": result.strict,
            "flexible": result.flexible,
            "score": result.score,
        },
        n=result.n,
        floor=found.floor,
        filters=tuple(found.of_filters),
        decisive=decisive_of(found),
        outcome=found.outcome,
        run_id=result.run.github_run_id,
    )


def decisive_of(found: JudgedEval) -> str:
    """Return the score by which the eval is judged first."""
    usual: str = decisive_filter(found.result.task)
    return usual if usual in found.of_filters else next(iter(found.of_filters))


def verdict_evals(
    verdicts: Iterable[SweepVerdict],
) -> list[tuple[EvalVerdict, ...]]:
    """Return the evals of each verdict's head against its base's, in two queries.

    Those of folded sweeps stand with their side's; of a place the newest run's counts.
    """
    verdicts = list(verdicts)
    sides = [side for v in verdicts for side in (v.head, v.base) if side is not None]
    stored = _stored(sides)
    return [
        eval_verdicts(
            _of_side(v.head, stored),
            _of_side(v.base, stored) if v.base else (),
            is_comparable=not v.breaks,
        )
        for v in verdicts
    ]


def _stored(sides: Sequence[Side]) -> Mapping[int, list[JudgedEval]]:
    """Return the evals of the sweeps of some sides, of every attempt, by sweep id."""
    ids = {pk for side in sides for pk in (side.sweep_id, *side.folded)}
    if not ids:
        return {}
    found = EvalResult.objects.filter(
        Q(scenario=F("run__sweeps__scenario")) | Q(scenario=""),
        run__sweeps__in=ids,
        config_key=F("run__sweeps__config_key"),
    ).annotate(sweep_pk=F("run__sweeps__pk"))
    related = found.select_related("config_key", "deployment", "run")
    grouped: dict[int, list[JudgedEval]] = {}
    for one in judged(related.order_by("run__created_at", "run_id", "attempt", "pk")):
        grouped.setdefault(one.result.sweep_pk, []).append(one)  # type: ignore[attr-defined]  # annotated
    return grouped


def _of_side(side: Side, stored: Mapping[int, list[JudgedEval]]) -> list[Scored]:
    places: dict[Place, Scored] = {}
    for pk in (*side.folded, side.sweep_id):
        for found in stored.get(pk, ()):
            if _counts(found.result, side.attempt):
                one = scored(found)
                places[one.place] = one
    return list(places.values())


def _counts(result: EvalResult, attempt: int | None) -> bool:
    return result.is_current if attempt is None else result.attempt == attempt
