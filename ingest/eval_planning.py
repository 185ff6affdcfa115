"""What of a run was to be evaluated: by its jobs, else by the generator's rule."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from dashboard.analysis.eval_plan import EVALUATED_LENGTHS, Arm, arms_to_evaluate
from dashboard.vocabulary.deployments import Deployment, deployment_label
from ingest.config_keys import Mapping as KeyMapping
from ingest.config_keys import MatrixEntry, Snapshot, job_identity
from ingest.jobs import JobPlan, parse_job_name
from ingest.mapping import ExpandedEntry, MappedPoint
from ingest.rows import Identity

MapIdentity = Callable[[Identity], KeyMapping]


class PlannedEval(NamedTuple):
    """One eval to come. A job of several concurrencies leaves one score, or one each.

    ``tp`` is None where the deployment has no single tensor parallel size.
    """

    config_key: str
    scenario: str
    deployment: str
    tp: int | None
    concurrencies: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class EvalPlan:
    """The evals to come, and how that is known: jobs, matrix or points."""

    source: str
    evals: Sequence[PlannedEval]

    def as_json(self) -> dict[str, object]:
        """Return the plan as it is stored with its run."""
        rows = sorted(set(self.evals), key=lambda e: (e[:3], e.concurrencies))
        return {
            "source": self.source,
            "evals": [[*e[:4], list(e.concurrencies)] for e in rows],
        }


def evals_from_jobs(names: Iterable[str], map_identity: MapIdentity) -> EvalPlan | None:
    """Plan what eval jobs name, whatever became of them; None where no name is read."""
    plans = [plan for name in names if (plan := parse_job_name(name)) is not None]
    if not plans:
        return None
    found = [_of_job(plan, map_identity) for plan in plans if plan.eval_only]
    return EvalPlan("jobs", found)


def _of_job(plan: JobPlan, map_identity: MapIdentity) -> PlannedEval:
    # Names of eval jobs tell traces only: of fixed lengths one pair is evaluated.
    known = replace(plan, scenario=plan.scenario or EVALUATED_LENGTHS)
    identity = job_identity(known, max(known.concurrencies))
    key = map_identity(identity).config_key
    return _planned(
        key, identity.scenario, identity.deployment, tuple(sorted(known.concurrencies))
    )


def evals_from_matrix(
    snapshot: Snapshot, changelog: Sequence[ExpandedEntry]
) -> EvalPlan | None:
    """Plan what the rule makes of the matrix of the changelog's keys."""
    asked: dict[str, bool] = {}
    for entry in changelog:
        for key in entry.keys:
            asked[key] = asked.get(key, False) or entry.row.all_evals
    entries = [e for e in snapshot.entries if _is_asked_for(e, changelog)]
    arms = [(_of_entry(e, c), e.deployment) for e in entries for c in e.concurrencies]
    return _by_rule("matrix", arms, asked) if arms else None


def _is_asked_for(entry: MatrixEntry, changelog: Sequence[ExpandedEntry]) -> bool:
    return any(
        entry.config_key in e.keys and e.covers(entry.scenario) for e in changelog
    )


def evals_from_points(points: Iterable[MappedPoint]) -> EvalPlan | None:
    """Plan what the rule makes of the points that were measured."""
    arms = [(_of_point(p), p.row.identity.deployment) for p in points]
    return _by_rule("points", arms, {}) if arms else None


def _by_rule(
    source: str, arms: Sequence[tuple[Arm, Deployment]], every_arm: Mapping[str, bool]
) -> EvalPlan:
    deployments = dict(arms)
    chosen: list[Arm] = []
    for is_every in (False, True):
        own = [a for a in deployments if every_arm.get(a.config_key, False) == is_every]
        chosen += arms_to_evaluate(own, every_arm=is_every)
    found = [
        _planned(a.config_key, a.scenario, deployments[a], (a.concurrency,))
        for a in chosen
    ]
    return EvalPlan(source, found)


def _planned(
    key: str, scenario: str, deployment: Deployment, concurrencies: tuple[int, ...]
) -> PlannedEval:
    label = deployment_label(deployment)
    return PlannedEval(key, scenario, label, deployment.tp, concurrencies)


def _of_entry(entry: MatrixEntry, concurrency: int) -> Arm:
    deployment = entry.deployment
    return Arm(
        config_key=entry.config_key,
        scenario=entry.scenario,
        model=entry.model_prefix,
        runner=entry.hardware_label,
        framework=entry.framework,
        precision=entry.precision,
        spec_method=deployment.spec_method,
        dp_attention=deployment.dp_attention,
        multinode=deployment.multinode,
        topology=deployment,
        concurrency=concurrency,
    )


def _of_point(point: MappedPoint) -> Arm:
    identity = point.row.identity
    deployment = identity.deployment
    return Arm(
        config_key=point.mapping.config_key,
        scenario=identity.scenario,
        model=identity.model_prefix,
        runner=identity.hardware_label,
        framework=identity.framework,
        precision=identity.precision,
        spec_method=deployment.spec_method,
        dp_attention=deployment.dp_attention,
        multinode=deployment.multinode,
        topology=deployment,
        concurrency=identity.concurrency,
    )
