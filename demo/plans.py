"""Which points a run measures and evaluates."""

from collections.abc import Iterable
from dataclasses import replace

from demo.masters import Masters
from demo.recipes import Recipe
from demo.runs import Event, Run

EVALUATED_LENGTHS = (8192, 1024)
LEAST_EVALUATED = 16


def throughput_plan(run: Run, masters: Masters) -> list[Recipe]:
    """Return a recipe per throughput job, at the commit of the run."""
    keys = [key for entry in run.entries if not entry.evals_only for key in entry.keys]
    recipes = masters.recipes(keys) if keys else []
    if run.only is not None:
        recipes = [item for item in recipes if run.only >= set(item.concurrencies)]
    if run.event is Event.DISPATCH:
        return [replace(item, fingerprint="") for item in recipes]
    return recipes


def eval_plan(run: Run, masters: Masters) -> list[tuple[Recipe, int]]:
    """Return a recipe and its concurrency per eval job; such jobs have no fingerprint.

    On a single node these are the largest and the median concurrency of at least 16,
    of agentic keys the largest only; on several nodes the largest of each topology.
    """
    if run.only is not None:
        return []
    keys = [key for entry in run.entries for key in entry.keys]
    recipes = [replace(item, fingerprint="") for item in masters.recipes(keys)]
    chosen = []
    for group in _groups(recipes):
        largest, median = _evaluated(group)
        for item in group:
            concurrency = max(item.concurrencies)
            if item.multinode or concurrency in {largest, median}:
                chosen.append((item, concurrency))
    return chosen


def _groups(recipes: Iterable[Recipe]) -> list[list[Recipe]]:
    groups: dict[tuple[object, ...], list[Recipe]] = {}
    for item in recipes:
        if item.lengths not in {None, EVALUATED_LENGTHS}:
            continue
        attention = item.roles[0].dp_attention
        groups.setdefault((item.key, item.spec, attention), []).append(item)
    return list(groups.values())


def _evaluated(group: list[Recipe]) -> tuple[int, int]:
    ladder = sorted({c for item in group for c in item.concurrencies})
    eligible = [c for c in ladder if c >= LEAST_EVALUATED] or ladder[-1:]
    if group[0].lengths is None:
        return eligible[-1], eligible[-1]
    return eligible[-1], eligible[len(eligible) // 2]
