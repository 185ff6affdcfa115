"""The evals of a run's page: each against its baseline, and against its siblings."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from dashboard.analysis.eval_verdicts import Apart, Scored, farthest_apart
from dashboard.queries.eval_samples import counts
from dashboard.queries.eval_standing import EvalStanding, eval_standings
from dashboard.queries.run_parts import JudgedEval


class RunEval(NamedTuple):
    """One eval of a run, how it stands, and how many documents of it are stored."""

    judged: JudgedEval
    standing: EvalStanding
    samples: int


class WithinRun(NamedTuple):
    """The two evals of one key and task of a run that differ most."""

    config_key: str
    scenario: str
    task: str
    apart: Apart


def run_evals(found: Sequence[JudgedEval]) -> list[RunEval]:
    """Return the evals with their standing, in as many queries as one of them."""
    standings = eval_standings(found)
    stored = counts(list(standings)) if standings else {}
    return [
        RunEval(one, standings[one.result.pk], stored.get(one.result.pk, 0))
        for one in found
    ]


def within_run(evals: Iterable[RunEval]) -> list[WithinRun]:
    """Return per key, scenario and task which two evals lie farthest apart."""
    groups: dict[tuple[str, str, str], list[Scored]] = {}
    for one in evals:
        result = one.judged.result
        place = (result.config_key.key, result.scenario, result.task)
        groups.setdefault(place, []).append(one.standing.verdict.head)
    pairs = ((place, farthest_apart(group)) for place, group in groups.items())
    return [WithinRun(*place, apart) for place, apart in pairs if apart is not None]
