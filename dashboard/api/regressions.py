"""Regressions as JSON: the list as the page narrows it, and decisions by a token."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from http import HTTPStatus
from typing import Annotated, Any, Literal

from django.conf import settings
from django.contrib.auth.models import User
from django.http import HttpRequest
from ninja import Query, Router, Schema
from pydantic import Field

from dashboard.api.errors import ErrorBody, RequestFault, not_found
from dashboard.api.reading import NOT_CHANGED, of_data
from dashboard.api.tokens import bearer_token
from dashboard.forms.regressions import RegressionFilterForm
from dashboard.models import ApiToken, Regression
from dashboard.permissions import triagers
from dashboard.queries import regressions as queries
from dashboard.queries.regressions import RegressionFilters
from dashboard.queries.suspects import Suspect, suspects
from dashboard.triage import Decision, Outcome, Seen, TriageRefusedError, triage
from dashboard.vocabulary.inputs import LONGEST_NOTE, NOBODY

MOST = 500
router = Router(tags=["regressions"])


class RegressionsQuery(Schema):
    """The filters of the page; `state` and `kind` may be given several times."""

    state: list[str] = Field(default_factory=list)
    kind: list[str] = Field(default_factory=list)
    key: str = Field("", description="a whole config key, else a part of some")
    model: str = ""
    hardware: str = ""
    framework: str = ""
    owner: str = Field("", description="a user's name, or nobody")
    recovered: str = Field("", description="yes or no; empty is both")
    active: str = Field("", description="no or all; empty is what the data shows")
    run: str = Field("", description="the candidate's run id")
    limit: int = Field(100, ge=1, le=MOST)
    offset: int = Field(0, ge=0, le=10_000_000)


class RegressionPoint(Schema):
    """A metric of a place that got worse beyond its limit; change is a fraction."""

    deployment: str
    concurrency: int
    metric: str
    base: float | None
    head: float | None
    change: float | None
    z: float | None
    flagged: bool


class SuspectBody(Schema):
    """A pull request that changed the key after the baseline."""

    pr: int | None
    url: str
    run_id: int
    at: datetime


class RegressionBody(Schema):
    """``change`` is a fraction, negative is worse, null where there is no one number.

    ``recovered`` is set by the system, ``state`` by people. ``places`` are
    (deployment, [concurrency...]); ``points`` the flagged metrics that got worse.
    ``active`` is false while the data does not show it any more.
    """

    id: int
    config_key: str
    scenario: str
    kind: Literal["performance", "accuracy", "coverage", "errors"]
    state: str
    recovered: bool
    run_id: int
    baseline_run_id: int | None
    change: float | None
    points: list[RegressionPoint]
    places: list[tuple[str, list[int]]]
    summary: str
    is_strong: bool
    active: bool
    since: datetime
    first_bad_run_id: int | None
    recovered_by: int | None
    recovered_at: datetime | None
    owner: str | None
    suspects: list[SuspectBody]
    url: str


class DecisionBody(Schema):
    """What is decided; a part that is left out stays as it is.

    ``owner`` is a user's name, or ``nobody``. ``seen_state`` is the state that the
    decision is based on: where another one is stored meanwhile, nothing is changed.
    """

    state: str = ""
    owner: str = Field("", max_length=150)
    note: str = Field("", max_length=LONGEST_NOTE)
    seen_state: str = ""


FAULTS = {
    400: ErrorBody,
    401: ErrorBody,
    403: ErrorBody,
    404: ErrorBody,
    409: ErrorBody,
}


@router.get("", response={200: list[RegressionBody], **NOT_CHANGED, 400: ErrorBody})
@of_data
def list_regressions(
    request: HttpRequest, asked: Annotated[RegressionsQuery, Query()]
) -> list[dict[str, Any]]:
    """Return regressions: untriaged first, then those at work, then the rest."""
    form = RegressionFilterForm(request.GET, **queries.offered()._asdict())
    if not form.is_valid():
        name, message, allowed = form.faults[0]
        raise RequestFault(name, message, allowed=allowed or None)
    found = queries.listed(RegressionFilters(**form.asked)).defer(None)
    rows = list(found[asked.offset : asked.offset + asked.limit])
    named = suspects(rows)
    return [_body(row, named[row.pk]) for row in rows]


@router.get(
    "/{int:pk}",
    response={200: RegressionBody, **NOT_CHANGED, 400: ErrorBody, 404: ErrorBody},
)
@of_data
def regression(
    request: HttpRequest,  # noqa: ARG001  # ninja's signature
    pk: int,
) -> dict[str, Any]:
    """Return one regression, active or not."""
    return _one(pk)


@router.patch(
    "/{int:pk}",
    response={200: RegressionBody, **FAULTS},
    openapi_extra={"security": [{"token": []}]},
)
def decide(request: HttpRequest, pk: int, body: DecisionBody) -> dict[str, Any]:
    """Change state or owner, or add a note, each kept with the token's name.

    Needs `Authorization: Bearer <token>` of a token of the run's repository that may
    triage.
    """
    token = bearer_token(request)
    if not token.can_triage:
        raise _forbidden("The token may not triage.")
    found = _stored(pk)
    if found.run.repository_id != token.repository_id:
        raise _forbidden(f"The token is of {token.repository.full_name} only.")
    _told(_decided(found, body, token), body)
    return _one(pk)


def _forbidden(reason: str) -> RequestFault:
    return RequestFault("Authorization", reason, status=HTTPStatus.FORBIDDEN)


def _decided(found: Regression, body: DecisionBody, token: ApiToken) -> Outcome:
    for name in ("state", "seen_state"):
        _known_state(name, getattr(body, name))
    seen = {found.pk: Seen(body.seen_state, found.owner_id)} if body.seen_state else {}
    decision = Decision(
        state=body.state,
        sets_owner=bool(body.owner),
        owner=_owner(body.owner),
        note=body.note,
    )
    author = f"token {token.name}"
    try:
        return triage(ids=[found.pk], decision=decision, author=author, seen=seen)
    except TriageRefusedError as error:
        raise RequestFault("body", str(error)) from error


def _known_state(name: str, value: str) -> None:
    allowed = Regression.State.values
    if value and value not in allowed:
        raise RequestFault(name, f"{value[:60]} is no state.", allowed=allowed)


def _owner(name: str) -> User | None:
    if name in {"", NOBODY}:
        return None
    users = {user.get_username(): user for user in triagers()}
    if name not in users:
        reason = "An owner is a user who may triage."
        raise RequestFault("owner", reason, allowed=[NOBODY, *users])
    return users[name]


def _told(outcome: Outcome, body: DecisionBody) -> None:
    for row in outcome.stale:
        reason = f"It was {body.seen_state} when you looked and is {row.state} now."
        raise RequestFault("seen_state", reason, status=HTTPStatus.CONFLICT)


def _one(pk: int) -> dict[str, Any]:
    row = _stored(pk)
    return _body(row, suspects([row])[row.pk])


def _stored(pk: int) -> Regression:
    found = queries.listed(RegressionFilters(is_active=None)).defer(None)
    row = found.filter(pk=pk).first()
    if row is None:
        raise not_found("id", f"There is no regression {pk}.")
    return row


def _body(row: Regression, named: Sequence[Suspect]) -> dict[str, Any]:
    over, first_bad = row.recovered_by, row.first_bad
    verdict: Mapping[str, Any] = row.numbers.get("verdict") or {}
    return {
        "id": row.pk,
        "config_key": row.config_key.key,
        "scenario": row.scenario,
        "kind": row.kind,
        "state": row.state,
        "recovered": over is not None,
        "run_id": row.run.github_run_id,
        "baseline_run_id": row.baseline.run.github_run_id if row.baseline else None,
        "change": row.change,
        "points": [
            p for p in verdict.get("points") or () if p["flagged"] and p["gain"] < 0
        ],
        "places": row.numbers.get("places") or [],
        "summary": row.summary,
        "is_strong": row.is_strong,
        "active": row.is_active,
        "since": row.since,  # type: ignore[attr-defined]  # annotated
        "first_bad_run_id": first_bad.github_run_id if first_bad else None,
        "recovered_by": over.github_run_id if over else None,
        "recovered_at": row.recovered_at,
        "owner": row.owner.get_username() if row.owner else None,
        "suspects": [
            {
                "pr": s.number,
                "url": s.address,
                "run_id": s.run.github_run_id,
                "at": s.at,
            }
            for s in named
        ],
        "url": f"{settings.FRONTIERBOARD_URL}{row.get_absolute_url()}",
    }
