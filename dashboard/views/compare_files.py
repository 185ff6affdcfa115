"""The tables of a comparison as files: changes are fractions, values in their unit."""

from collections.abc import Callable, Iterable, Iterator, Sequence

from dashboard.analysis.sides import Side, SweepVerdict
from dashboard.queries.comparisons import RunsCompared, details
from dashboard.queries.run_parts import JudgedEval
from dashboard.views.compare_parts import KeyShown, delta_rows
from dashboard.views.tables import Table

SIDES = (
    *("base_checkpoint", "head_checkpoint", "base_image", "head_image"),
    *("base_publication", "head_publication"),
)
Rows = Iterator[tuple[object, ...]]


def deltas_table(
    found: RunsCompared, verdicts: Iterable[SweepVerdict], sort: str
) -> Table:
    """Return the delta tables of some keys as one."""
    columns = (
        *("config_key", "scenario", "verdict", "base_run_id", "base_attempt"),
        *("head_run_id", "head_attempt", "deployment", "concurrency", "metric"),
        *("unit", "base", "head", "change", "z", "flag"),
        *(*SIDES, "repository"),
    )
    repository = found.head.run.repository.full_name
    rows = [(*row, repository) for row in _deltas(verdicts, sort)]
    return Table(_name(found), columns, rows, _about(found), brief=columns[7:16])


def _deltas(verdicts: Iterable[SweepVerdict], sort: str) -> Rows:
    for verdict in verdicts:
        sides = _sides(verdict)
        for row in delta_rows(verdict, sort):
            yield (
                *(verdict.config_key, verdict.scenario, str(verdict.verdict)),
                *_runs(verdict),
                *(row.deployment, row.concurrency),
                *(row.metric.name, row.metric.unit, row.point.base, row.point.head),
                *(row.point.change, row.point.z, row.word or None, *sides),
            )


def best_table(found: RunsCompared, verdicts: list[SweepVerdict], sort: str) -> Table:
    """Return the best value of both sides at fixed interactivities."""
    columns = (
        *("config_key", "scenario", "base_run_id", "base_attempt", "head_run_id"),
        *("head_attempt", "x_metric", "x_at_least", "x_unit", "metric", "unit"),
        *("base", "head", "change", "note", *SIDES),
    )
    rows = [
        (
            *(shown.verdict.config_key, shown.verdict.scenario, *_runs(shown.verdict)),
            *(shown.x.name, best.x, shown.x.unit, shown.y.name, shown.y.unit),
            *(best.base, best.head, best.change, best.alone or None),
            *_sides(shown.verdict),
        )
        for shown in _shown(found, verdicts, sort)
        for best in shown.best
    ]
    name = f"{_name(found)}-best"
    brief = ("config_key", *columns[7:9], *columns[10:15])
    return Table(name, columns, rows, _about(found), brief=brief)


def evals_table(found: RunsCompared, verdicts: list[SweepVerdict], sort: str) -> Table:
    """Return the evals of both sides, a row per place and side."""
    columns = (
        *("config_key", "scenario", "deployment", "concurrency", "task", "side"),
        *("run_id", "attempt", "outcome", "strict", "strict_low", "strict_high"),
        *("flexible", "flexible_low", "flexible_high", "floor", "n"),
        *("difference", "flexible_difference", "is_comparable"),
    )
    rows = list(_evals(_shown(found, verdicts, sort)))
    brief = (*columns[:6], "outcome", "strict", "flexible", "floor", "n", "difference")
    return Table(f"{_name(found)}-evals", columns, rows, _about(found), brief=brief)


def _evals(shown: Iterable[KeyShown]) -> Rows:
    for item in shown:
        key, scenario = item.verdict.config_key, item.verdict.scenario
        for row in item.evals:
            pair = row.pair
            change = pair.verdict.change if pair.verdict else None
            place = (key, scenario, pair.deployment, pair.concurrency, pair.task)
            told = (
                change.difference if change else None,
                *(pair.flexible_change, pair.is_comparable),
            )
            for side, judged, scores in (
                ("base", pair.base, row.base),
                ("head", pair.head, row.head),
            ):
                if judged is not None:
                    bounds = [one or (None, None, None) for one in scores]
                    yield (*place, side, *_scored(judged, bounds), *told)


def _scored(
    judged: JudgedEval, bounds: Sequence[tuple[object, ...]]
) -> tuple[object, ...]:
    result = judged.result
    strict, flexible = ((one[0], one[1], one[2]) for one in bounds)
    return (
        *(result.run.github_run_id, result.attempt, judged.outcome),
        *(*strict, *flexible, judged.floor, result.n),
    )


def _shown(
    found: RunsCompared, verdicts: list[SweepVerdict], sort: str
) -> list[KeyShown]:
    return [KeyShown(item, n, sort) for n, item in enumerate(details(found, verdicts))]


def _runs(verdict: SweepVerdict) -> tuple[object, ...]:
    base, head = verdict.base, verdict.head
    return (
        *((base.run_id, base.attempt) if base else (None, None)),
        *(head.run_id, head.attempt),
    )


def _sides(verdict: SweepVerdict) -> tuple[object, ...]:
    """Return what both sides served and count as, in the order of ``SIDES``."""
    base, head = _served(verdict.base), _served(verdict.head)
    return tuple(one for pair in zip(base, head, strict=True) for one in pair)


def _served(side: Side | None) -> tuple[object, object, object]:
    if side is None:
        return None, None, None
    identity = side.identity
    return identity.checkpoint or None, list(identity.images), str(side.publication)


def _about(found: RunsCompared) -> dict[str, object]:
    return {"base": found.base.token, "head": found.head.token}


def _name(found: RunsCompared) -> str:
    base, head = found.base.run.github_run_id, found.head.run.github_run_id
    return f"compare-{base}-{head}"


FILES: dict[str, Callable[[RunsCompared, list[SweepVerdict], str], Table]] = {
    "deltas": deltas_table,
    "best": best_table,
    "evals": evals_table,
}
