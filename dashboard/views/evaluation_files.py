"""The rows of the evaluation page as a file; scores are fractions."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from dashboard.queries.eval_gaps import Gap
from dashboard.views.evaluation_rows import EvalRow, change_text
from dashboard.views.tables import Table

_HEADER = (
    *("config_key", "model", "hardware", "framework", "scenario", "deployment"),
    *("concurrency", "task", "state", "notes", "strict", "flexible", "score"),
    *("judged_by", "low", "high", "n", "floor", "floor_source"),
    *("baseline_run_id", "baseline_at", "baseline", "difference"),
    *("difference_low", "difference_high", "z", "p", "level", "change"),
    *("recovery", "reference_checkpoint", "reference_run_id"),
    *("attempt", "results", "spread", "unstable", "checkpoint", "image"),
    *("publication", "run_id", "official_at"),
    *("repository", "run_url", "run_created_at", "run_of_link"),
)


BRIEF = (
    *("config_key", "deployment", "concurrency", "task", "state", "strict"),
    *("flexible", "low", "high", "n", "floor", "change", "checkpoint", "run_id"),
)


def evals_table(rows: Sequence[EvalRow], about: Mapping[str, object]) -> Table:
    """Return the rows in the order of the page."""
    return Table("evaluation", _HEADER, list(map(_row, rows)), about, brief=BRIEF)


def _row(row: EvalRow) -> list[object]:
    values: Mapping[str, object] = {
        **_place(row),
        **_score(row),
        **_against(row),
        **_repeats(row),
    }
    return [values.get(name) for name in _HEADER]


def _place(row: EvalRow) -> dict[str, object]:
    key = row.key
    return {
        "config_key": key.key,
        "model": key.model,
        "hardware": key.hardware,
        "framework": key.framework,
        "scenario": row.scenario,
        "deployment": row.deployment,
        "concurrency": row.concurrency if row.gap is None else _planned(row.gap),
        "task": row.task,
        "state": row.outcome,
        "checkpoint": row.checkpoint or None,
        "image": row.image or None,
        "repository": row.run.repository.full_name,
        "run_url": row.run.url or None,
        "run_created_at": row.run.created_at,
        "run_of_link": row.state is not None,
        "publication": row.publication,
        "run_id": row.run.github_run_id,
        "official_at": row.run.official_at,
    }


def _planned(gap: Gap) -> object:
    """Return the concurrency that was to be scored, or all that one job was for."""
    concurrencies = gap.arm.concurrencies
    return concurrencies[0] if len(concurrencies) == 1 else list(concurrencies)


def _score(row: EvalRow) -> dict[str, object]:
    if row.judged is None:
        return {}
    result = row.judged.result
    low, high = row.interval or (None, None)
    return {
        "notes": list(row.judged.notes),
        "strict": result.strict,
        "flexible": result.flexible,
        "score": result.score,
        "judged_by": row.decisive,
        "low": low,
        "high": high,
        "n": result.n,
        "floor": row.judged.floor,
        "floor_source": row.judged.floor_source,
        "attempt": result.attempt,
    }


def _against(row: EvalRow) -> dict[str, object]:
    if row.standing is None:
        return {}
    change, base = row.standing.change, row.standing.former.moment
    found: dict[str, object] = {"change": change_text(row)}
    if base is not None:
        at: datetime = base.at
        found |= {"baseline_run_id": base.run, "baseline_at": at}
    if change is not None:
        found |= {
            "baseline": change.before,
            "difference": change.difference,
            "difference_low": change.low,
            "difference_high": change.high,
            "z": change.z,
            "p": change.p,
            "level": row.standing.verdict.level,
        }
    return found


def _repeats(row: EvalRow) -> dict[str, object]:
    standing = row.standing
    if standing is None:
        return {}
    found: dict[str, object] = {
        "results": len(standing.repeats),
        "spread": standing.spread,
        "unstable": standing.is_unstable,
    }
    if standing.recovery is not None and standing.served is not None:
        found |= {
            "recovery": standing.recovery.share,
            "reference_checkpoint": standing.served.reference_name,
            "reference_run_id": standing.recovery.reference.run,
        }
    return found
