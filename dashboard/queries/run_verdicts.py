"""The verdict on a run with what a report says of the run itself."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple
from urllib.parse import urlencode

from django.conf import settings
from django.urls import reverse

from dashboard.analysis.sides import SweepVerdict
from dashboard.analysis.verdict_json import verdict_json
from dashboard.analysis.verdict_report import Newer, RunFacts, one_line_verdict
from dashboard.models import Point, Run
from dashboard.queries import run_parts
from dashboard.queries.run_accuracy import Accuracy, accuracy
from dashboard.queries.verdict_context import newest_official, recovered_by
from dashboard.queries.verdicts import judge_run
from dashboard.vocabulary.acceptance import acceptance_label


@dataclass(frozen=True, slots=True)
class RunVerdict:
    """A run's verdicts by key and scenario, and the facts beside them."""

    facts: RunFacts
    verdicts: list[SweepVerdict]
    accuracy: Accuracy

    @property
    def as_json(self) -> dict[str, Any]:
        """Return the verdicts as plain values; ``line`` is to be known first."""
        return {
            "run_id": self.facts.run_id,
            "attempt": self.facts.attempt,
            "measured_in": self.facts.measured_in,
            "line": self.line,
            "verdicts": [verdict_json(verdict) for verdict in self.verdicts],
        }

    @property
    def line(self) -> str:
        """Return the sentence that is to be known first."""
        return one_line_verdict(self.verdicts, self.facts.nothing)


class VerdictRefusedError(Exception):
    """There is no verdict on what was asked for; ``parameter`` is at fault.

    ``is_unknown`` tells what is not stored, or not shown, from what makes no sense.
    """

    def __init__(self, parameter: str, message: str, *, is_unknown: bool) -> None:
        super().__init__(message)
        self.parameter = parameter
        self.is_unknown = is_unknown


class NotStoredError(VerdictRefusedError):
    """The run is not stored here; it may be fetched."""


class AskedVerdict(NamedTuple):
    """A verdict as commands and addresses ask for it, by the forge's ids."""

    run_id: int
    attempt: int | None = None
    base: int | None = None
    base_attempt: int | None = None

    def answer(self) -> "RunVerdict":
        """Return the verdict.

        Raises ``VerdictRefusedError`` for a run or attempt that is not stored, a base
        that a person took out, and a run that is to be held against itself.
        """
        run = _shown("run_id", self.run_id)
        _require_attempt("attempt", run, self.attempt)
        if self.base is None:
            return run_verdict(run, attempt=self.attempt)
        base = _shown("base", self.base)
        if base.publication == Run.Publication.HIDDEN:
            raise VerdictRefusedError(
                "base", f"Run {self.base} was taken out by a person.", is_unknown=True
            )
        _require_attempt("base_attempt", base, self.base_attempt)
        if (_measured(run), self.attempt) == (_measured(base), self.base_attempt):
            raise VerdictRefusedError(
                "base", f"Run {self.base} is the same run.", is_unknown=False
            )
        return run_verdict(
            run, base=base, attempt=self.attempt, base_attempt=self.base_attempt
        )


def _shown(parameter: str, github_run_id: int) -> Run:
    run = stored_run(github_run_id)
    if run is None:
        said = f"Run {github_run_id} is not stored here."
        raise NotStoredError(parameter, said, is_unknown=True)
    return run


def _require_attempt(parameter: str, run: Run, attempt: int | None) -> None:
    if not has_attempt(_measured(run), attempt):
        said = f"Run {run.github_run_id} has no attempt {attempt}."
        raise VerdictRefusedError(parameter, said, is_unknown=True)


def _measured(run: Run) -> Run:
    return run_parts.source_run(run) or run


def stored_run(github_run_id: int) -> Run | None:
    """Return a run by its id at the forge, None where it is not stored."""
    found = Run.objects.select_related("repository", "published_by")
    return found.filter(github_run_id=github_run_id).first()


def has_attempt(run: Run, attempt: int | None) -> bool:
    """Tell whether anything is stored of an attempt; of a run as a whole always."""
    if attempt is None:
        return True
    if run.attempts.filter(attempt=attempt).exists():
        return True
    return Point.objects.filter(sweep__run=run, attempt=attempt).exists()


def run_verdict(
    run: Run,
    *,
    base: Run | None = None,
    attempt: int | None = None,
    base_attempt: int | None = None,
) -> RunVerdict:
    """Judge a run; one that publishes another's measurements is judged by those.

    Against ``base`` where it is given, else against the official record. What a
    person took out is not judged.
    """
    measured = _measured(run)
    is_hidden = Run.Publication.HIDDEN in (run.publication, measured.publication)
    verdicts = (
        []
        if is_hidden
        else judge_run(measured, base=base, attempt=attempt, base_attempt=base_attempt)
    )
    evals = run_parts.evals(measured, attempt)
    word = accuracy(evals, measured.eval_planned_count)
    facts = RunFacts(
        run_id=run.github_run_id,
        title=run.title,
        page=site_address(run.get_absolute_url()),
        link=site_address(
            f"{reverse('inference')}?{urlencode({'unofficialRun': run.github_run_id})}"
        ),
        attempt=attempt,
        status=run.status,
        conclusion=run.conclusion,
        received=_received(verdicts, measured, attempt),
        planned=measured.planned_count,
        evals=evals_text(word),
        acceptance=_acceptance(verdicts, measured),
        measured_in=run.reuse_source_run_id,
        is_hidden=is_hidden,
        recovers=recovered_by([measured.pk]).get(measured.pk, {}),
        newer={} if base else _newer(run, attempt, verdicts),
    )
    return RunVerdict(facts, verdicts, word)


def _newer(
    run: Run, attempt: int | None, verdicts: Sequence[SweepVerdict]
) -> dict[tuple[str, str], Newer]:
    """Return the official sweeps after the baselines of a run that is not official."""
    if not verdicts or run.publication == Run.Publication.OFFICIAL:
        return {}
    newest = newest_official((v.config_key, v.scenario) for v in verdicts)
    head = f"{run.github_run_id}" + (f"/attempts/{attempt}" if attempt else "")
    found = {}
    for verdict in verdicts:
        place = (verdict.config_key, verdict.scenario)
        one, than = newest.get(place), verdict.base.at if verdict.base else None
        if one and one.is_newer(than=than, own_run_id=verdict.head.run_id):
            asked = {"base": one.run_id, "head": head}
            address = f"{reverse('compare')}?{urlencode(asked, safe='/')}"
            found[place] = Newer(one.run_id, site_address(address))
    return found


def _received(verdicts: list[SweepVerdict], run: Run, attempt: int | None) -> int:
    if attempt is None:
        return run.received_count
    return sum(verdict.head.received for verdict in verdicts)


def site_address(path: str) -> str:
    """Return where a path of this site is reached from outside."""
    return f"{settings.FRONTIERBOARD_URL.rstrip('/')}{path}"


def evals_text(found: Accuracy) -> str:
    """Write what the evals say: "intact, 4 of 4 passed"."""
    if not found.total:
        return found.word
    missing = f", {found.missing} planned are missing" if found.missing else ""
    return f"{found.word}, {found.passed} of {found.total} passed{missing}"


def _acceptance(verdicts: list[SweepVerdict], run: Run) -> tuple[str, ...]:
    models = dict(run.sweeps.values_list("config_key__key", "config_key__model"))
    labels = {
        acceptance_label(
            verdict.head.identity.acceptance_source,
            verdict.head.identity.acceptance_length,
            models[verdict.config_key],
        )
        for verdict in verdicts
    }
    return tuple(sorted(labels - {""}))
