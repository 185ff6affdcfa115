"""The verdict on a run with what a report says of the run itself."""

from dataclasses import dataclass
from urllib.parse import urlencode

from django.conf import settings
from django.urls import reverse

from dashboard.analysis.sides import SweepVerdict
from dashboard.analysis.verdict_report import RunFacts, one_line_verdict
from dashboard.models import Point, Run
from dashboard.queries import run_parts
from dashboard.queries.run_accuracy import Accuracy, accuracy
from dashboard.queries.verdicts import judge_run
from dashboard.vocabulary.acceptance import acceptance_label


@dataclass(frozen=True, slots=True)
class RunVerdict:
    """A run's verdicts by key and scenario, and the facts beside them."""

    facts: RunFacts
    verdicts: list[SweepVerdict]
    accuracy: Accuracy

    @property
    def line(self) -> str:
        """Return the sentence that is to be known first."""
        return one_line_verdict(self.verdicts, self.facts.nothing)


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
    measured = run_parts.source_run(run) or run
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
    )
    return RunVerdict(facts, verdicts, word)


def _received(verdicts: list[SweepVerdict], run: Run, attempt: int | None) -> int:
    if attempt is None:
        return run.received_count
    found = (v.judged.comparison for v in verdicts)
    return sum(c.coverage.received for c in found if c is not None)


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
