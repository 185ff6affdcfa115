"""What the name of a benchmark job says it was going to measure."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from dashboard.vocabulary.deployments import Deployment
from dashboard.vocabulary.scenarios import AGENTIC, scenario_text

MAX_NAME = 1_000
SHORTEST = 6  # model, precision, runner, framework, sizes, concurrencies
_SHORT_FRAMEWORKS = {
    "sgl": "sglang",
    "dyn-sgl": "dynamo-sglang",
    "sgl-disagg": "sglang-disagg",
}
_PRIORITY = re.compile(r"p\d{1,6}(?:\.\d{1,6})?")
_WORKERS = re.compile(r"(\d{1,5})([PD])")
_SIZE = re.compile(r"(TP|PP|DCP|PCP|EP)(\d{1,6})")
_CONCURRENCIES = re.compile(r"c(\d{1,7}(?:x\d{1,7})*)")
_WORD = re.compile(r"[A-Za-z0-9._-]{1,64}")
_LENGTHS = re.compile(r"(\d{1,4})k(\d{1,4})k|(\d{1,7})_(\d{1,7})")
_SIZE_FIELDS = ("tp", "pp", "dcp", "pcp", "ep", "dp_attention")


@dataclass(frozen=True, slots=True)
class JobPlan:
    """One benchmark job: the deployment and the concurrencies it is to measure.

    ``group`` is the caller (``agentic``, ``single-node 8k1k``, ``canary``),
    ``runner`` the label, ``framework`` the full name. ``scenario`` is None where the
    name does not tell (canary and eval jobs). Whether several nodes are
    disaggregated is not in the name: ``deployment.disagg`` says that there are
    decode workers.
    """

    group: str
    model_prefix: str
    precision: str
    runner: str
    framework: str
    deployment: Deployment
    concurrencies: tuple[int, ...]
    eval_only: bool
    scenario: str | None


def parse_job_name(name: str) -> JobPlan | None:
    """Read a job name, None where the job is not one measurement job.

    The names read ``<group> / / p<priority> | <model> <precision> <runner>
    <framework> TP2[/PP2][/DCP2][/PCP2][/EP2][/DPA] [spec] [dram KV offload
    [backend]] c<n>[ | eval-only]``; several nodes write ``1P (TP4) x 4D (TP8)`` and
    ``c<n>x<n>...``.
    """
    if len(name) > MAX_NAME:
        return None
    head, *bodies = (part.strip() for part in name.split("|"))
    group, *middle = (part.strip() for part in head.split("/"))
    if not middle or not _PRIORITY.fullmatch(middle[-1]):
        return None
    match bodies:
        case [body]:
            return _plan(group, body.split(), eval_only=False)
        case [body, "eval-only"]:
            return _plan(group, body.split(), eval_only=True)
        case _:
            return None


def planned_points(plans: Iterable[JobPlan]) -> list[tuple[JobPlan, int]]:
    """Return what the throughput jobs were to measure, each point once.

    A job that ran again (other attempt, canary) is the same point. A canary takes
    the scenario of the other jobs of its recipe or, where only one scenario is
    planned at all for its stack, that one.
    """
    points: dict[tuple[object, ...], tuple[JobPlan, int]] = {}
    for known in with_scenarios(plan for plan in plans if not plan.eval_only):
        for concurrency in known.concurrencies:
            key = (_recipe(known), known.scenario, concurrency)
            points.setdefault(key, (known, concurrency))
    return list(points.values())


def with_scenarios(throughput: Iterable[JobPlan]) -> list[JobPlan]:
    """Return plans of throughput jobs in their order, canaries with a scenario.

    That of the other jobs of its recipe, else the only one that is planned at all for
    its stack; None stays where neither tells.
    """
    plans = list(throughput)
    scenarios = _scenarios(plans)
    return [_with_scenario(plan, scenarios) for plan in plans]


def planned_evals(plans: Iterable[JobPlan]) -> int:
    """Return how many evals the eval jobs were to score.

    A job that ran again is the same eval. On several nodes one job holds several
    concurrencies and leaves one score.
    """
    evals = [plan for plan in plans if plan.eval_only]
    return len({(plan.group, _recipe(plan), plan.concurrencies) for plan in evals})


def _plan(group: str, words: list[str], *, eval_only: bool) -> JobPlan | None:
    if len(words) < SHORTEST:
        return None
    prefix, precision, runner, framework, *rest = words
    found = _CONCURRENCIES.fullmatch(rest.pop())
    deployment = _deployment(rest)
    if found is None or deployment is None:
        return None
    return JobPlan(
        group=group,
        model_prefix=prefix.lower(),
        precision=precision.lower(),
        runner=runner.lower(),
        framework=_SHORT_FRAMEWORKS.get(framework.lower(), framework.lower()),
        deployment=deployment,
        concurrencies=tuple(dict.fromkeys(int(n) for n in found[1].split("x"))),
        eval_only=eval_only,
        scenario=_scenario(group),
    )


def _scenario(group: str) -> str | None:
    """Return the scenario that a caller's name holds, if it holds one."""
    words = group.lower().split()
    if "agentic" in words:
        return AGENTIC
    found = _LENGTHS.fullmatch(words[-1]) if words else None
    if found is None:
        return None
    if found[1] is not None:
        return scenario_text(int(found[1]) * 1024, int(found[2]) * 1024)
    return scenario_text(int(found[3]), int(found[4]))


def _deployment(words: list[str]) -> Deployment | None:
    """Read topology, spec method and offloading; None where a word is left over."""
    several = len(words) > 1 and _WORKERS.fullmatch(words[0])
    taken = 5 if several else 1
    nodes = _several_nodes(words[:taken]) if several else _single_node(words[:taken])
    extras = _extras(words[taken:])
    if nodes is None or extras is None:
        return None
    spec, offloading, backend = extras
    return nodes._replace(
        spec_method=spec, kv_offloading=offloading, kv_offload_backend=backend
    )


def _single_node(words: list[str]) -> Deployment | None:
    sizes = _sizes(words[0]) if words else None
    if sizes is None:
        return None
    named: dict[str, Any] = dict(zip(_SIZE_FIELDS, sizes, strict=True))
    return Deployment(multinode=False, disagg=False, **named)


def _several_nodes(words: list[str]) -> Deployment | None:
    """Read the five words ``1P (TP4) x 4D (TP8)``."""
    match words:
        case [prefill_workers, prefill_sizes, "x", decode_workers, decode_sizes]:
            prefill = _role("prefill", prefill_workers, prefill_sizes)
            decode = _role("decode", decode_workers, decode_sizes)
        case _:
            return None
    if prefill is None or decode is None:
        return None
    plain = Deployment(multinode=True, disagg=decode["decode_workers"] > 0)
    if not plain.disagg:
        return plain._replace(**prefill, decode_workers=0)
    return plain._replace(**prefill, **decode)


def _role(name: str, workers: str, sizes: str) -> dict[str, Any] | None:
    """Read ``4D`` and ``(TP8/EP8/DPA)`` as the fields of a role."""
    count = _WORKERS.fullmatch(workers)
    if count is None or count[2] != name[0].upper() or sizes[:1] + sizes[-1:] != "()":
        return None
    found = _sizes(sizes[1:-1])
    if found is None:
        return None
    named = {f"{name}_{n}": v for n, v in zip(_SIZE_FIELDS, found, strict=True)}
    return named | {f"{name}_workers": int(count[1])}


def _sizes(word: str) -> tuple[int | bool, ...] | None:
    """Read ``TP4/EP4/DPA``; sizes that are not written are 1."""
    first, *rest = word.split("/")
    sizes = {"TP": 0, "PP": 1, "DCP": 1, "PCP": 1, "EP": 1}
    attention = rest[-1:] == ["DPA"]
    for part in [first, *rest[: len(rest) - attention]]:
        found = _SIZE.fullmatch(part)
        if found is None:
            return None
        sizes[found[1]] = int(found[2])
    return (*sizes.values(), attention) if all(sizes.values()) else None


def _extras(words: list[str]) -> tuple[str, str, str] | None:
    """Read ``[spec] [dram KV offload [backend]]`` as spec, offloading, backend."""
    if not all(map(_WORD.fullmatch, words)):
        return None
    match words:
        case []:
            return "none", "none", ""
        case [spec]:
            return spec.lower(), "none", ""
        case [*spec, offloading, "KV", "offload"] if len(spec) <= 1:
            return "".join(spec).lower() or "none", offloading, ""
        case [*spec, offloading, "KV", "offload", backend] if len(spec) <= 1:
            return "".join(spec).lower() or "none", offloading, backend
        case _:
            return None


def _recipe(plan: JobPlan) -> tuple[object, ...]:
    return (*_stack(plan), plan.deployment)


def _stack(plan: JobPlan) -> tuple[object, ...]:
    return plan.model_prefix, plan.precision, plan.runner, plan.framework


def _scenarios(plans: Iterable[JobPlan]) -> dict[tuple[object, ...], set[str]]:
    """Collect the scenarios that are planned for each recipe and each stack."""
    found: dict[tuple[object, ...], set[str]] = {}
    for plan in plans:
        if plan.scenario is not None:
            found.setdefault(_recipe(plan), set()).add(plan.scenario)
            found.setdefault(_stack(plan), set()).add(plan.scenario)
    return found


def _with_scenario(
    plan: JobPlan, scenarios: dict[tuple[object, ...], set[str]]
) -> JobPlan:
    """Give a canary the one scenario of its recipe, else of its stack, if one."""
    if plan.scenario is not None:
        return plan
    for same in (_recipe(plan), _stack(plan)):
        if len(found := scenarios.get(same, set())) == 1:
            return replace(plan, scenario=min(found))
    return plan
