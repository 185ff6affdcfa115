"""Which evals were to come, and which have: of a run, and of a key's current sweeps."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from dashboard.analysis.eval_places import EvalPlace, join_text, points_of_evals
from dashboard.analysis.evals import Outcome, worst
from dashboard.models import ConfigKey, EvalResult, Run, Sweep
from dashboard.queries import run_parts
from dashboard.queries.run_parts import JudgedEval

SOURCES: Mapping[str, str] = {
    "jobs": "the eval jobs of the run",
    "matrix": "the generator's rule, of the config's whole search space",
    "points": "the generator's rule, of the points that were measured",
}


@dataclass(frozen=True, slots=True)
class ArmCoverage:
    """One eval that was to come, with the scores that did.

    A job of several concurrencies is one; its score may be of any of them.
    ``join_text`` says how scores were found where not by the whole deployment.
    """

    config_key: str
    scenario: str
    deployment: str
    tp: int | None
    concurrencies: tuple[int, ...]
    evals: Sequence[JudgedEval] = ()
    join_text: str = ""

    @property
    def outcome(self) -> Outcome:
        """Return the worst of its scores; without one it is not measured."""
        return worst(e.outcome for e in self.evals)

    @property
    def is_measured(self) -> bool:
        """Tell whether a score came, whatever it says."""
        return bool(self.evals)


@dataclass(frozen=True, slots=True)
class EvalCoverage:
    """What a plan asked for and got. ``source`` is empty where no plan is known."""

    source: str
    arms: Sequence[ArmCoverage]
    unplanned: Sequence[JudgedEval]

    @property
    def source_text(self) -> str:
        """Return in words how it is known what was to come."""
        return SOURCES.get(self.source, "")

    @property
    def missing(self) -> list[ArmCoverage]:
        """Return what left no score."""
        return [arm for arm in self.arms if not arm.is_measured]


def run_coverage(run: Run, evals: Iterable[JudgedEval]) -> EvalCoverage:
    """Hold the plan of a run against its scores; costs no query."""
    plan = run.eval_plan or {}
    arms = [
        ArmCoverage(key, scenario, deployment, tp, tuple(concurrencies))
        for key, scenario, deployment, tp, concurrencies in plan.get("evals", ())
    ]
    return _covered(plan.get("source", ""), arms, list(evals))


def key_coverage(key: ConfigKey, scenario: str) -> dict[Run, EvalCoverage]:
    """Return the coverage of each run that the current curve of a key is made of."""
    current = Sweep.objects.filter(
        config_key=key, scenario=scenario, state=Sweep.State.CURRENT
    ).select_related("run")
    runs = [sweep.run for sweep in current.order_by("-official_at", "-pk")]
    found = EvalResult.objects.filter(
        run__in=runs, config_key=key, scenario=scenario, is_current=True
    ).select_related("config_key", "deployment", "run")
    scores = run_parts.judged(found.order_by("deployment__label", "concurrency", "pk"))
    covered = {}
    for run in runs:
        whole = run_coverage(run, [e for e in scores if e.result.run_id == run.pk])
        own = [
            arm
            for arm in whole.arms
            if (arm.config_key, arm.scenario) == (key.key, scenario)
        ]
        covered[run] = EvalCoverage(whole.source, own, whole.unplanned)
    return covered


def _covered(
    source: str, arms: Sequence[ArmCoverage], evals: Sequence[JudgedEval]
) -> EvalCoverage:
    of_place = {place: arm for arm in arms for place in _places(arm)}
    scored: dict[EvalPlace, list[JudgedEval]] = {}
    for e in evals:
        scored.setdefault(_place(e.result), []).append(e)
    belongs = points_of_evals(of_place, scored)
    of_arm: dict[ArmCoverage, list[JudgedEval]] = {}
    texts: dict[ArmCoverage, str] = {}
    for place, found in belongs.items():
        arm = of_place[found]
        of_arm.setdefault(arm, []).extend(scored[place])
        texts[arm] = texts.get(arm, "") or join_text(place, found)
    return EvalCoverage(
        source,
        [
            replace(arm, evals=tuple(of_arm.get(arm, ())), join_text=texts.get(arm, ""))
            for arm in arms
        ],
        [e for place, found in scored.items() if place not in belongs for e in found],
    )


def _places(arm: ArmCoverage) -> list[EvalPlace]:
    curve = (arm.config_key, arm.scenario)
    label = arm.deployment
    return [EvalPlace(curve, label, label, arm.tp, c) for c in arm.concurrencies]


def _place(result: EvalResult) -> EvalPlace:
    deployment = result.deployment
    curve = (result.config_key.key, result.scenario)
    label, tp = deployment.label, deployment.tp
    return EvalPlace(curve, label, label, tp, result.concurrency)
