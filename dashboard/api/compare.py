"""Any two runs, or attempts of runs, held against each other, as JSON."""

from http import HTTPStatus
from typing import Annotated, Any, Literal

from django.http import HttpRequest
from ninja import Query, Router, Schema
from pydantic import Field

from dashboard.analysis.verdict_json import verdict_json
from dashboard.api.errors import ErrorBody, RequestFault, not_found
from dashboard.api.reading import NOT_CHANGED, of_data
from dashboard.api.verdicts import VerdictBody
from dashboard.forms.compare import CompareForm
from dashboard.forms.unofficial import AskedRun
from dashboard.models import Run
from dashboard.queries.comparisons import RunsCompared, RunSide, compared, run_side
from dashboard.queries.run_verdicts import has_attempt, stored_run

router = Router(tags=["compare"])

RUN = "a run id, 123/attempts/2 for one attempt of it, or the address of a run"


class CompareQuery(Schema):
    """Two runs as the page `/compare` takes them, and one key or scenario of both."""

    base: str = Field("", max_length=300, description=RUN)
    head: str = Field("", max_length=300, description=RUN)
    base_attempt: str = Field("", description="another way to say which attempt")
    head_attempt: str = Field("", description="another way to say which attempt")
    key: str = Field("", max_length=300, description="a config key that both measured")
    scenario: str = Field("", max_length=300, description="a scenario of both")


class ComparedSide(Schema):
    """One side; ``measured_in`` is the run whose measurements count."""

    run_id: int
    attempt: int | None
    measured_in: int
    publication: Literal["official", "unofficial"]


class ComparedPlace(Schema):
    """A config key and a scenario."""

    config_key: str
    scenario: str


class CompareBody(Schema):
    """What both sides measured, judged; and what only one did, or only extends.

    A change is the head against the base, as a fraction.
    """

    base: ComparedSide
    head: ComparedSide
    verdicts: list[VerdictBody]
    only_base: list[ComparedPlace]
    only_head: list[ComparedPlace]
    extending: list[ComparedPlace] = Field(
        description="what the head measured only to add points to a sweep"
    )


@router.get(
    "", response={200: CompareBody, **NOT_CHANGED, 400: ErrorBody, 404: ErrorBody}
)
@of_data
def compare(
    request: HttpRequest,
    asked: Annotated[CompareQuery, Query()],
) -> dict[str, Any]:
    """Hold all that the head measured against the base.

    Without anything in common the lists say what each side measured.
    """
    form = CompareForm(request.GET)
    if not form.is_valid():
        name, _, said = form.sentences[0].partition(": ")
        raise RequestFault(name, said[:1].upper() + said[1:])
    base, head = (_side(name, form.cleaned_data[name]) for name in ("base", "head"))
    if base.identity == head.identity:
        said = f"{base.name} and {head.name} are the same measurement."
        raise RequestFault("head", said[:1].upper() + said[1:])
    found = compared(base, head)
    _require_common(found, asked)
    return _body(found, asked)


def _side(name: str, asked: AskedRun | None) -> RunSide:
    if asked is None:
        raise RequestFault(name, "base and head: a run each is needed.", allowed=[RUN])
    run = stored_run(asked.run_id)
    if run is None:
        raise not_found(name, f"Run {asked.run_id} is not stored here.")
    side = run_side(run, asked.attempt)
    if Run.Publication.HIDDEN in (run.publication, side.measured.publication):
        raise not_found(name, f"Run {asked.run_id} was taken out by a person.")
    if not has_attempt(side.measured, asked.attempt):
        said = f"Run {asked.run_id} has no attempt {asked.attempt}."
        raise not_found(name, said)
    return side


def _require_common(found: RunsCompared, asked: CompareQuery) -> None:
    """Refuse a key or scenario that was not measured by both sides."""
    common = {(v.config_key, v.scenario) for v in found.verdicts}
    for name, value, place in (("key", asked.key, 0), ("scenario", asked.scenario, 1)):
        allowed = sorted({pair[place] for pair in common})
        if value and value not in allowed:
            said = f"{value[:80]!r} was not measured by both runs."
            raise RequestFault(
                name, said, allowed=allowed, status=HTTPStatus.BAD_REQUEST
            )


def _body(found: RunsCompared, asked: CompareQuery) -> dict[str, Any]:
    chosen = [
        verdict
        for verdict in found.verdicts
        if asked.key in ("", verdict.config_key)
        and asked.scenario in ("", verdict.scenario)
    ]
    return {
        "base": _told(found.base),
        "head": _told(found.head),
        "verdicts": [verdict_json(verdict) for verdict in chosen],
        "only_base": _places(found.only_base),
        "only_head": _places(found.only_head),
        "extending": _places(found.extending),
    }


def _told(side: RunSide) -> dict[str, Any]:
    return {
        "run_id": side.run.github_run_id,
        "attempt": side.attempt,
        "measured_in": side.measured.github_run_id,
        "publication": side.run.publication,
    }


def _places(places: list[tuple[str, str]]) -> list[dict[str, str]]:
    return [{"config_key": key, "scenario": scenario} for key, scenario in places]
