"""How evals stand in the history of their place: baseline, recovery, repeats."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from dashboard.analysis.eval_changes import ScoreChange, is_unstable, spread
from dashboard.analysis.eval_history import (
    EvalMoment,
    Former,
    Recovery,
    former,
    recovered,
)
from dashboard.analysis.eval_verdicts import EvalVerdict
from dashboard.analysis.segments import SweepIdentity
from dashboard.models import EvalResult, Run, Sweep
from dashboard.queries.eval_verdicts import scored
from dashboard.queries.run_parts import JudgedEval, judged
from dashboard.queries.sides import IDENTITY_FIELDS, identity

Place = tuple[int, str, int, int | None, str]
_RELATED = ("config_key", "deployment", "run")


class ServedSweep(NamedTuple):
    """What an eval's run served of its key; ``reference`` is a checkpoint's id."""

    identity: SweepIdentity
    image: str
    segment: int | None
    reference: int | None
    reference_name: str


@dataclass(frozen=True, slots=True)
class EvalStanding:
    """An eval in the history of its place.

    ``change`` is against ``former``, None with its reason; ``repeats`` are the
    decisive scores of all its results, the newest last.
    """

    verdict: EvalVerdict
    former: Former
    served: ServedSweep | None
    recovery: Recovery | None
    repeats: tuple[float, ...]

    @property
    def change(self) -> ScoreChange | None:
        """Return how the decisive score changed."""
        return self.verdict.change

    @property
    def checkpoint(self) -> str:
        """Return the weights served, empty where not known."""
        return self.served.identity.checkpoint if self.served else ""

    @property
    def spread(self) -> float | None:
        """Return how far the repeats lie apart, None for a single result."""
        return spread(self.repeats)

    @property
    def is_unstable(self) -> bool:
        """Tell whether the repeats lie more than two points apart."""
        return is_unstable(self.repeats)


def eval_standings(found: Sequence[JudgedEval]) -> dict[int, EvalStanding]:
    """Return the standing of each eval by its row id.

    In four queries whatever their number, and two more where some checkpoint has a
    reference. The evals need their config key, deployment and run.
    """
    official = _official(found)
    sweeps = _served([one.result for one in (*found, *official)])
    by_place: dict[Place, list[EvalMoment]] = {}
    for one in official:
        by_place.setdefault(_place(one.result), []).append(_moment(one, sweeps))
    references = _references(found, sweeps)
    return {
        one.result.pk: _standing(one, by_place, sweeps, references) for one in found
    }


def _standing(
    one: JudgedEval,
    by_place: Mapping[Place, list[EvalMoment]],
    sweeps: Mapping[tuple[int, int, str], ServedSweep],
    references: Mapping[tuple[int, str], list[tuple[str, EvalMoment]]],
) -> EvalStanding:
    result = one.result
    moment = _moment(one, sweeps)
    base = former(moment, by_place.get(_place(result), ()))
    before = base.moment.scored if base.moment else None
    served = sweeps.get(_site(result))
    known = references.get((served.reference or 0, result.task), ()) if served else ()
    return EvalStanding(
        verdict=EvalVerdict(moment.scored, before),
        former=base,
        served=served,
        recovery=recovered(moment.scored, result.config_key.key, list(known)),
        repeats=repeats_of(result, moment.scored.decisive),
    )


def repeats_of(result: EvalResult, name: str) -> tuple[float, ...]:
    """Return one score of all results of an eval, the one that counts last."""
    last = {"strict": result.strict, "flexible": result.flexible}
    share = last.get(name, result.score)
    # A task's own score is kept where its strict one would be.
    column = 2 if name == "flexible" else 1
    found = [older[column] for older in result.repeats]
    return tuple(value for value in (*found, share) if value is not None)


def _place(result: EvalResult) -> Place:
    where = (result.config_key_id, result.scenario, result.deployment_id)
    return (*where, result.concurrency, result.task)


def _site(result: EvalResult) -> tuple[int, int, str]:
    return result.run_id, result.config_key_id, result.scenario


def _official(found: Sequence[JudgedEval]) -> list[JudgedEval]:
    """Return the official evals among which baselines are looked for."""
    results = [one.result for one in found]
    if not results:
        return []
    stored = EvalResult.objects.filter(
        is_current=True,
        run__publication=Run.Publication.OFFICIAL,
        config_key__in={r.config_key_id for r in results},
        scenario__in={r.scenario for r in results},
        deployment__in={r.deployment_id for r in results},
        task__in={r.task for r in results},
    )
    return judged(stored.select_related(*_RELATED))


def _served(results: Iterable[EvalResult]) -> dict[tuple[int, int, str], ServedSweep]:
    sites = {_site(result) for result in results}
    if not sites:
        return {}
    stored = Sweep.objects.filter(
        run__in={run for run, _, _ in sites},
        config_key__in={key for _, key, _ in sites},
    )
    rows = stored.values(
        *(*IDENTITY_FIELDS, "run_id", "config_key_id", "scenario", "image", "segment"),
        *("checkpoint__reference_id", "checkpoint__reference__name"),
    )
    return {_site_of(row): _read(row) for row in rows}


def _site_of(row: Mapping[str, Any]) -> tuple[int, int, str]:
    return row["run_id"], row["config_key_id"], row["scenario"]


def _read(row: Mapping[str, Any]) -> ServedSweep:
    return ServedSweep(
        identity(row),
        row["image"],
        row["segment"],
        row["checkpoint__reference_id"],
        row["checkpoint__reference__name"] or "",
    )


def _moment(
    one: JudgedEval, sweeps: Mapping[tuple[int, int, str], ServedSweep]
) -> EvalMoment:
    run = one.result.run
    served = sweeps.get(_site(one.result))
    return EvalMoment(
        scored=scored(one),
        at=run.published_at or run.created_at,
        run=run.github_run_id,
        sha=run.sha,
        segment=served.segment if served else None,
        identity=served.identity if served else None,
        eval_id=one.result.pk,
    )


def _references(
    found: Iterable[JudgedEval], sweeps: Mapping[tuple[int, int, str], ServedSweep]
) -> dict[tuple[int, str], list[tuple[str, EvalMoment]]]:
    """Return official evals of the reference checkpoints by (checkpoint, task)."""
    served = {one.result.pk: sweeps.get(_site(one.result)) for one in found}
    wanted = {s.reference for s in served.values() if s and s.reference}
    if not wanted:
        return {}
    measured = Sweep.objects.filter(checkpoint__in=wanted, segment__isnull=False)
    sites = {
        (run, key, scenario): checkpoint
        for run, key, scenario, checkpoint in measured.values_list(
            "run_id", "config_key_id", "scenario", "checkpoint_id"
        )
    }
    runs = {run for run, _, _ in sites}
    stored = EvalResult.objects.filter(run__in=runs, is_current=True)
    grouped: dict[tuple[int, str], list[tuple[str, EvalMoment]]] = {}
    for one in judged(stored.select_related(*_RELATED)):
        checkpoint = sites.get(_site(one.result))
        if checkpoint is not None:
            told = (one.result.config_key.key, _moment(one, {}))
            grouped.setdefault((checkpoint, one.result.task), []).append(told)
    return grouped
