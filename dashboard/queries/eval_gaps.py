"""What was to be evaluated and left no score: of official sweeps, and of runs."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from dashboard.models import ConfigKey, EvalResult, Run, Sweep
from dashboard.queries.currency import official_sweeps, sweeps_as_of
from dashboard.queries.eval_coverage import ArmCoverage, run_coverage
from dashboard.queries.evaluation import EvalFilters
from dashboard.queries.run_parts import judged
from dashboard.vocabulary.frameworks import canonical_framework
from dashboard.vocabulary.models import model_group


class Gap(NamedTuple):
    """An arm without a score; ``sweep`` is None where its run has none of the key."""

    arm: ArmCoverage
    key: ConfigKey
    run: Run
    sweep: Sweep | None
    source: str


def eval_gaps(
    filters: EvalFilters, runs: Sequence[Run] = ()
) -> tuple[list[Gap], list[Gap]]:
    """Return the gaps of what is official then, and of ``runs``, in four queries."""
    current = _current(filters)
    official = {sweep.run_id: sweep.run for sweep in current}
    asked = {run.pk: run for run in runs}
    found = _uncovered(official | asked)
    keys = _keys(found, filters)
    sweeps = {(s.run_id, s.config_key.key, s.scenario): s for s in current}
    gaps = [
        Gap(arm, keys[arm.config_key], run, sweeps.get(_site(run, arm)), source)
        for run, source, arm in found
        if arm.config_key in keys
    ]
    return (
        [gap for gap in gaps if gap.sweep is not None],
        [gap for gap in gaps if gap.run.pk in asked],
    )


def _site(run: Run, arm: ArmCoverage) -> tuple[int, str, str]:
    return run.pk, arm.config_key, arm.scenario


def _current(filters: EvalFilters) -> list[Sweep]:
    """Return the sweeps that are current, or were at a moment."""
    if filters.moment is None:
        found = official_sweeps().filter(state=Sweep.State.CURRENT)
    else:
        found = sweeps_as_of(filters.moment)
    related = found.select_related("run__repository", "config_key", "checkpoint")
    return list(related.defer("planned"))


def _uncovered(runs: Mapping[int, Run]) -> list[tuple[Run, str, ArmCoverage]]:
    scores: dict[int, list[EvalResult]] = {}
    stored = EvalResult.objects.filter(run__in=runs, is_current=True)
    for result in stored.select_related("config_key", "deployment", "run"):
        scores.setdefault(result.run_id, []).append(result)
    known = {
        one.result.pk: one for one in judged(r for of in scores.values() for r in of)
    }
    found = []
    for pk, run in runs.items():
        covered = run_coverage(run, [known[r.pk] for r in scores.get(pk, ())])
        found += [(run, covered.source_text, arm) for arm in covered.missing]
    return found


def _keys(
    found: Iterable[tuple[Run, str, ArmCoverage]], filters: EvalFilters
) -> dict[str, ConfigKey]:
    """Return the config keys of the gaps that pass the filters, by name."""
    names = {arm.config_key for _, _, arm in found}
    if not names:
        return {}
    return {
        key.key: key
        for key in ConfigKey.objects.filter(key__in=names)
        if filters.model in {"", model_group(key.model)}
        and filters.hardware in {"", key.hardware}
        and filters.framework in {"", canonical_framework(key.framework)}
        and filters.key in {"", key.key}
    }
