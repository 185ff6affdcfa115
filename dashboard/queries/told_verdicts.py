"""Verdicts for pages: those stored of official sweeps, else made once and kept."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django.core.cache import cache

from dashboard.analysis.told_verdicts import ToldVerdict, told_numbers
from dashboard.analysis.verdict_json import verdict_json
from dashboard.caching import current_generation
from dashboard.models import Judgement, Run, Sweep
from dashboard.queries.verdicts import judge_runs
from dashboard.vocabulary.version import VERSION

# A run, and the attempt that is asked for.
Asked = tuple[Run, int | None]
Numbers = list[dict[str, Any]]

# Nobody looks at a verdict of an older generation: it only has to go some time.
KEPT_S = 24 * 3600


def told_verdicts(asked: Iterable[Asked]) -> dict[Asked, list[ToldVerdict]]:
    """Return the verdicts against the official record by run and attempt.

    Runs are those that measured. Hidden ones are not judged. 1. What was told of the
    same generation is taken from the cache. 2. An official run's is what was stored
    with its sweeps. 3. The others are judged, in a number of queries that does not
    depend on how many they are.
    """
    wanted = list(dict.fromkeys(asked))
    judged = [one for one in wanted if one[0].publication != Run.Publication.HIDDEN]
    if not judged:
        return {one: [] for one in wanted}
    generation = current_generation()
    names = {one: _name(one, generation) for one in judged}
    kept: Mapping[str, Numbers] = cache.get_many(names.values())
    found = {one: kept[name] for one, name in names.items() if name in kept}
    missing = [one for one in judged if one not in found]
    if missing:
        made = _made(missing)
        cache.set_many({names[one]: made[one] for one in missing}, KEPT_S)
        found |= made
    return {one: [ToldVerdict(n) for n in found.get(one, [])] for one in wanted}


def _name(one: Asked, generation: int) -> str:
    run, attempt = one
    return f"verdicts:{VERSION}:{generation}:{run.github_run_id}:{attempt or 'all'}"


def _made(asked: Sequence[Asked]) -> dict[Asked, Numbers]:
    stored = _stored([one for one in asked if _may_be_stored(one)])
    others = [one for one in asked if one not in stored]
    judged = judge_runs(others) if others else []
    return stored | {
        one: [told_numbers(verdict_json(verdict)) for verdict in verdicts]
        for one, verdicts in zip(others, judged, strict=True)
    }


def _may_be_stored(one: Asked) -> bool:
    run, attempt = one
    return attempt is None and run.publication == Run.Publication.OFFICIAL


def _stored(asked: Sequence[Asked]) -> dict[Asked, Numbers]:
    """Return the stored judgements of runs of which every sweep has one."""
    if not asked:
        return {}
    sweeps = Sweep.objects.filter(
        run__in=[run for run, _ in asked], extends__isnull=True, received_count__gt=0
    ).order_by("config_key__key", "scenario")
    found: dict[int, list[dict[str, Any] | None]] = {}
    numbers = dict(
        Judgement.objects.filter(sweep__in=sweeps.order_by()).values_list(
            "sweep_id", "numbers"
        )
    )
    for pk, run_id in sweeps.values_list("pk", "run_id"):
        found.setdefault(run_id, []).append(numbers.get(pk))
    return {
        one: [told_numbers(row) for row in rows if row is not None]
        for one in asked
        for rows in (found.get(one[0].pk, []),)
        if None not in rows
    }
