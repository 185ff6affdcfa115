"""Whether the evals of a run reach their floors, and whether all of them came."""

from collections.abc import Sequence
from typing import NamedTuple

from dashboard.analysis.evals import PASSED
from dashboard.queries.run_parts import JudgedEval


class Accuracy(NamedTuple):
    """What the evals say. ``planned`` is None where nobody can tell.

    ``received`` counts what was evaluated, each once whatever the number of tasks;
    ``planned`` counts the eval jobs in the same way. ``measured_in`` is the run that
    measured, where this one publishes measurements of another.
    """

    word: str
    passed: int
    failed: int
    total: int
    received: int
    planned: int | None
    floors: list[str]
    measured_in: int | None = None

    @property
    def missing(self) -> int:
        """Return how many planned evals left no score."""
        return max((self.planned or 0) - self.received, 0)


def accuracy(
    evals: Sequence[JudgedEval], planned: int | None, measured_in: int | None = None
) -> Accuracy:
    """Judge the scores of a run: intact only where every planned one passed."""
    found = Accuracy(
        word="",
        passed=sum(item.outcome in PASSED for item in evals),
        failed=sum(item.outcome == "fail" for item in evals),
        total=len(evals),
        received=len({_place(item) for item in evals}),
        planned=planned,
        floors=sorted({f"{i.result.task} {i.floor:g}" for i in evals}),
        measured_in=None if evals else measured_in,
    )
    return found._replace(word=_word(found))


def _place(item: JudgedEval) -> tuple[object, ...]:
    result = item.result
    where = (result.config_key_id, result.deployment_id)
    return (*where, result.scenario, result.concurrency)


def _word(found: Accuracy) -> str:
    if found.measured_in is not None:
        return f"measured in {found.measured_in}"
    if not found.total:
        return "not measured"
    if found.failed:
        return "failed"
    if found.passed < found.total:
        return "in doubt"
    return "partly measured" if found.missing else "intact"
