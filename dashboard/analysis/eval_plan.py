"""Which arms of a sweep the producer's generator has evaluated."""

from collections.abc import Hashable, Iterable
from typing import NamedTuple

from dashboard.vocabulary.scenarios import AGENTIC

# Of fixed lengths only these are evaluated, and only from this concurrency on.
EVALUATED_LENGTHS = "8k/1k"
LEAST_CONCURRENCY = 16


class Arm(NamedTuple):
    """One deployment at one concurrency. ``topology`` tells deployments apart."""

    config_key: str
    scenario: str
    model: str
    runner: str
    framework: str
    precision: str
    spec_method: str
    dp_attention: bool | None
    multinode: bool
    topology: Hashable
    concurrency: int


def arms_to_evaluate(arms: Iterable[Arm], *, every_arm: bool = False) -> list[Arm]:
    """Return the arms that are evaluated, each once, in the order given.

    On one node, of each model, runner, framework, precision, lengths, spec method and
    data-parallel attention the highest and the median concurrency, whatever the
    parallel sizes; of an even number of concurrencies the median is the upper one.
    Traces: the highest of each model, runner, framework and precision. On several
    nodes the highest of each topology. ``every_arm`` is what a changelog's all-evals
    asks for. Source: the generator's policy, as the job names of its runs confirm.
    """
    eligible = [arm for arm in dict.fromkeys(arms) if _is_eligible(arm)]
    if every_arm:
        return eligible
    groups: dict[tuple[Hashable, ...], set[int]] = {}
    for arm in eligible:
        groups.setdefault(_group(arm), set()).add(arm.concurrency)
    chosen = {
        group: _chosen(sorted(concurrencies), with_median=group[0] == "lengths")
        for group, concurrencies in groups.items()
    }
    return [arm for arm in eligible if arm.concurrency in chosen[_group(arm)]]


def _is_eligible(arm: Arm) -> bool:
    if arm.scenario == AGENTIC:
        return True
    is_evaluated = arm.scenario == EVALUATED_LENGTHS
    return is_evaluated and arm.concurrency >= LEAST_CONCURRENCY


def _group(arm: Arm) -> tuple[Hashable, ...]:
    """Return among which arms the highest, or the median, concurrency is looked for."""
    stack = (arm.model, arm.runner, arm.framework, arm.precision)
    if arm.multinode:
        return ("nodes", *stack, arm.scenario, arm.topology)
    if arm.scenario == AGENTIC:
        return ("traces", *stack)
    return ("lengths", *stack, arm.scenario, arm.spec_method, arm.dp_attention)


def _chosen(concurrencies: list[int], *, with_median: bool) -> set[int]:
    highest, middle = concurrencies[-1], concurrencies[len(concurrencies) // 2]
    return {highest, middle} if with_median else {highest}
