"""What GitHub calls: a finished workflow run of a known repository is asked for."""

import hashlib
import hmac
import json
import re
from datetime import UTC, datetime
from http import HTTPStatus

from django.conf import settings
from django.db import transaction
from django.http import Http404, HttpRequest, JsonResponse
from django.utils.dateparse import parse_datetime
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

from dashboard.ingest_requests import (
    MAX_ID,
    RequestRefusedError,
    is_stored_as_of,
    request_run,
)
from dashboard.models import Repository, Run, WebhookDelivery
from dashboard.vocabulary.links import OWNER_AND_NAME

LONGEST_BODY = 5 << 20
LONGEST_LENGTH = 18  # digits; more are never a length
LONGEST_ID = 100
SIGNATURE = re.compile(r"sha256=[0-9a-f]{64}")
MAX_ATTEMPT = 2**31 - 1
EVENT = "workflow_run"
ASKED_BY = "webhook"


class RefusedError(Exception):
    """A delivery that is not taken: a status, and why in one line."""

    def __init__(self, status: HTTPStatus, reason: str) -> None:
        super().__init__(reason)
        self.status = status


@csrf_exempt  # signed instead
@require_POST
def github(request: HttpRequest) -> JsonResponse:
    if not settings.GITHUB_WEBHOOK_SECRET:
        raise Http404("There is no webhook.")
    try:
        body = _signed_body(request)
        delivery_id = _delivery_id(request)
        event = request.headers.get("X-GitHub-Event", "")[:60]
        payload = _payload(body)
        answer = _taken(delivery_id, event, payload)
    except RefusedError as error:
        return JsonResponse({"error": str(error)}, status=error.status)
    return answer


def _signed_body(request: HttpRequest) -> bytes:
    """Return the body once its signature is found right, compared in constant time.

    Without what looks like a signature nothing is read.
    """
    wrong = RefusedError(HTTPStatus.FORBIDDEN, "the signature is wrong")
    given = request.headers.get("X-Hub-Signature-256", "")
    if not SIGNATURE.fullmatch(given):
        raise wrong
    body = _body(request)
    secret = settings.GITHUB_WEBHOOK_SECRET.encode()
    expected = "sha256=" + hmac.new(secret, body, hashlib.sha256).hexdigest()
    if not hmac.compare_digest(expected, given):
        raise wrong
    return body


def _body(request: HttpRequest) -> bytes:
    announced = request.headers.get("Content-Length", "")
    if not announced.isdecimal():
        raise RefusedError(HTTPStatus.LENGTH_REQUIRED, "the length is needed")
    too_long = RefusedError(
        HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"more than {LONGEST_BODY} bytes"
    )
    if len(announced) > LONGEST_LENGTH or int(announced) > LONGEST_BODY:
        raise too_long
    body = request.read(LONGEST_BODY + 1)
    if len(body) > LONGEST_BODY:
        raise too_long
    return body


def _delivery_id(request: HttpRequest) -> str:
    delivery_id = request.headers.get("X-GitHub-Delivery", "")
    if not 0 < len(delivery_id) <= LONGEST_ID or not _is_plain(delivery_id):
        raise RefusedError(HTTPStatus.BAD_REQUEST, "X-GitHub-Delivery is missing")
    return delivery_id


def _is_plain(text: str) -> bool:
    return text.isascii() and text.isprintable()


def _payload(body: bytes) -> dict[str, object]:
    try:
        payload = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise RefusedError(HTTPStatus.BAD_REQUEST, "the body is no JSON") from error
    if not isinstance(payload, dict):
        raise RefusedError(HTTPStatus.BAD_REQUEST, "the body is no object")
    return payload


def _taken(delivery_id: str, event: str, payload: dict[str, object]) -> JsonResponse:
    """Ask for the run that a delivery tells of, once per delivery.

    The delivery and the request are stored together: where storing the request fails,
    GitHub may deliver it again.
    """
    run, repository = _run_of(event, payload)
    run_id = _run_id(run)
    with transaction.atomic():
        _, is_new = WebhookDelivery.objects.get_or_create(
            delivery_id=delivery_id,
            defaults={"event": event, "github_run_id": run_id},
        )
        if not is_new:
            return JsonResponse({"state": "delivered before"})
        if run_id is None:
            state = {"state": "nothing to do"}
            return JsonResponse(state, status=HTTPStatus.ACCEPTED)
        if is_stored_as_of(run_id, _time(run), attempt=_attempt(run)):
            return JsonResponse({"state": "stored already"})
        try:
            asked = request_run(
                run_id=run_id,
                repository=repository,
                requested_by=ASKED_BY,
                force=True,
            )
        except RequestRefusedError as error:
            raise RefusedError(HTTPStatus.BAD_REQUEST, str(error)) from error
    answer = {"state": asked.state, "url": asked.get_absolute_url()}
    return JsonResponse(answer, status=HTTPStatus.ACCEPTED)


def _run_of(event: str, payload: dict[str, object]) -> tuple[dict[str, object], str]:
    """Return the finished run to ask for and its repository; empty where there is none.

    Runs of the sweep workflow, and any that is stored here already.
    """
    run, repository = payload.get("workflow_run"), payload.get("repository")
    is_finished = event == EVENT and payload.get("action") == "completed"
    if not is_finished or not isinstance(run, dict) or not isinstance(repository, dict):
        return {}, ""
    name = str(repository.get("full_name"))
    if not OWNER_AND_NAME.fullmatch(name):
        reason = "repository.full_name is no owner/name"
        raise RefusedError(HTTPStatus.BAD_REQUEST, reason)
    known = _known(name)
    run_id = _run_id(run)
    if known is None or run_id is None:
        return {}, ""
    is_sweep = run.get("path") == known.sweep_workflow
    stored = Run.objects.filter(repository__full_name=known.full_name)
    is_stored = stored.filter(github_run_id=run_id).exists()
    return (run, known.full_name) if is_sweep or is_stored else ({}, "")


def _known(name: str) -> Repository | None:
    """Return a repository that was entered here, or is the one of the settings."""
    found = Repository.objects.filter(full_name__iexact=name).first()
    configured = settings.FRONTIERBOARD_REPOSITORY
    if found is None and name.casefold() == configured.casefold():
        return Repository(full_name=configured)
    return found


def _run_id(run: dict[str, object]) -> int | None:
    return _number(run.get("id"), MAX_ID)


def _number(value: object, most: int) -> int | None:
    if not isinstance(value, int) or isinstance(value, bool):
        return None
    return value if 0 < value <= most else None


def _time(run: dict[str, object]) -> datetime | None:
    try:
        time = parse_datetime(str(run.get("updated_at")))
        return time.astimezone(UTC) if time is not None and time.tzinfo else None
    except (ValueError, OverflowError) as error:
        reason = "workflow_run.updated_at is no time"
        raise RefusedError(HTTPStatus.BAD_REQUEST, reason) from error


def _attempt(run: dict[str, object]) -> int:
    return _number(run.get("run_attempt"), MAX_ATTEMPT) or 1
