"""Verdicts for pages: those stored of official sweeps, else made once and kept."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from django.core.cache import cache

from dashboard.analysis.told_verdicts import ToldVerdict, told_numbers
from dashboard.analysis.verdict_json import verdict_json
from dashboard.caching import current_generation
from dashboard.models import Judgement, Run, Sweep
from dashboard.queries.verdict_context import (
    KeyAndScenario,
    Newest,
    newest_official,
    recovered_by,
)
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
    made = {
        one: [told_numbers(verdict_json(verdict)) for verdict in verdicts]
        for one, verdicts in zip(others, judged, strict=True)
    }
    return _with_context(stored | made)


def _with_context(told: Mapping[Asked, Numbers]) -> dict[Asked, Numbers]:
    """Return the verdicts with ``recovers`` and ``newer``, each read once for all.

    Only what is official ends a regression; only what is not has official sweeps
    after it that nothing else tells.
    """
    is_official = {one: one[0].publication == Run.Publication.OFFICIAL for one in told}
    official = {one[0].pk for one, found in is_official.items() if found}
    ended = recovered_by(official) if official else {}
    places = [_place(n) for one in told if not is_official[one] for n in told[one]]
    newest = newest_official(places) if places else {}
    return {
        (run, attempt): [
            {
                **n,
                "recovers": ended.get(run.pk, {}).get(_place(n), []),
                "newer": _newer(n, run, newest.get(_place(n))),
            }
            for n in numbers
        ]
        for (run, attempt), numbers in told.items()
    }


def _place(numbers: Mapping[str, Any]) -> KeyAndScenario:
    return numbers["config_key"], numbers["scenario"]


def _newer(numbers: Mapping[str, Any], run: Run, newest: Newest | None) -> int | None:
    """Return the run of the current official sweep, where the baseline is older."""
    base = numbers["baseline"]
    than = datetime.fromisoformat(base["official_at"]) if base else None
    if newest is None or not newest.is_newer(than=than, own_run_id=run.github_run_id):
        return None
    return newest.run_id


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
