"""Deliveries of GitHub's webhook: signed, taken once, acted on where they matter."""

import hashlib
import hmac
import io
import json
from datetime import UTC, datetime
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from dashboard.models import Fetch, IngestRequest, Repository, WebhookDelivery
from dashboard.views import webhooks
from tests.factories import RepositoryFactory, RunFactory
from tests.pipeline.bundles import REPOSITORY, run_object

SECRET = "shared with GitHub"  # noqa: S105  # no secret
RUN = 90001
UPDATED = "2026-08-01T22:00:00Z"

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _configured(settings: Any) -> None:
    settings.GITHUB_WEBHOOK_SECRET = SECRET
    RepositoryFactory(full_name=REPOSITORY)


def payload(**changes: Any) -> dict[str, Any]:
    run = run_object(RUN, updated_at=UPDATED) | changes.pop("run", {})
    body = {
        "action": "completed",
        "workflow_run": run,
        "repository": {"full_name": REPOSITORY},
    }
    return body | changes


def deliver(
    client: Client,
    body: Any = None,
    *,
    delivery: str = "d-1",
    secret: str = SECRET,
    **headers: str,
) -> Any:
    content = body if isinstance(body, bytes) else json.dumps(body or payload())
    data = content if isinstance(content, bytes) else content.encode()
    signature = hmac.new(secret.encode(), data, hashlib.sha256).hexdigest()
    sent = {
        "X-Hub-Signature-256": f"sha256={signature}",
        "X-GitHub-Delivery": delivery,
        "X-GitHub-Event": "workflow_run",
    }
    return client.post(
        "/webhooks/github",
        data,
        content_type="application/json",
        headers=sent | headers,
    )


def test_finished_run_is_asked_for(client: Client) -> None:
    answer = deliver(client)
    request = IngestRequest.objects.get()
    assert answer.status_code == 202
    assert answer.json() == {"state": "queued", "url": f"/requests/{request.pk}"}
    assert (request.github_run_id, request.repository) == (RUN, REPOSITORY)
    assert request.requested_by == "webhook"


def test_configured_repository_needs_no_row(client: Client, settings: Any) -> None:
    Repository.objects.all().delete()
    settings.FRONTIERBOARD_REPOSITORY = REPOSITORY
    assert deliver(client).json()["state"] == "queued"


def test_delivery_is_acted_on_once(client: Client) -> None:
    deliver(client)
    IngestRequest.objects.all().delete()
    answer = deliver(client)
    assert (answer.status_code, answer.json()) == (200, {"state": "delivered before"})
    assert not IngestRequest.objects.exists()
    assert WebhookDelivery.objects.count() == 1


def test_old_delivery_of_a_stored_run_does_nothing(client: Client) -> None:
    run = RunFactory(github_run_id=RUN, attempt=2)
    later = datetime(2026, 8, 2, tzinfo=UTC)
    Fetch.objects.create(
        run=run, fetched_at=timezone.now(), forge_updated_at=later, is_complete=True
    )
    answer = deliver(client)
    assert (answer.status_code, answer.json()) == (200, {"state": "stored already"})
    newer = deliver(client, payload(run={"run_attempt": 3}), delivery="d-2")
    assert newer.status_code == 202
    assert IngestRequest.objects.count() == 1


@pytest.mark.parametrize(
    "signature", ["", "sha256=", "sha256=" + "0" * 64, "sha1=abc", "sha256=\xe9"]
)
def test_wrong_signature_is_refused(client: Client, signature: str) -> None:
    answer = deliver(client, **{"X-Hub-Signature-256": signature})
    assert answer.status_code == 403
    assert answer.json() == {"error": "the signature is wrong"}
    assert not WebhookDelivery.objects.exists()
    assert deliver(client, secret="another").status_code == 403  # noqa: S106


def test_without_a_secret_there_is_no_webhook(client: Client, settings: Any) -> None:
    settings.GITHUB_WEBHOOK_SECRET = ""
    assert deliver(client, secret="").status_code == 404


def test_long_body_is_refused(client: Client) -> None:
    answer = deliver(client, b" " * (webhooks.LONGEST_BODY + 1))
    assert answer.status_code == 413


@pytest.mark.parametrize("body", [b"no JSON", b"[]", b"\xff", b'"x"', b" "])
def test_body_that_is_no_delivery_is_refused(client: Client, body: bytes) -> None:
    assert deliver(client, body).status_code == 400
    assert not WebhookDelivery.objects.exists()


class Unread(io.BytesIO):
    """A body that nobody may read."""

    def read(self, *_: Any) -> bytes:
        raise AssertionError("the body was read")


@pytest.mark.parametrize("signature", [None, "", "sha256=", "sha1=" + "0" * 40])
def test_without_a_signature_nothing_is_read(
    client: Client, signature: str | None
) -> None:
    sent = {} if signature is None else {"X-Hub-Signature-256": signature}
    body: Any = {"wsgi.input": Unread(b"{}"), "CONTENT_LENGTH": "2"}
    answer = client.post("/webhooks/github", headers=sent, **body)
    assert answer.status_code == 403


def test_length_is_needed(client: Client) -> None:
    assert deliver(client, **{"Content-Length": ""}).status_code == 411
    assert deliver(client, **{"Content-Length": "9" * 5000}).status_code == 413


@pytest.mark.parametrize(
    "body",
    [
        payload(repository={"full_name": "o/\0"}),
        payload(repository={"full_name": "o/\ud800"}),
        payload(repository={"full_name": "o/.."}),
        payload(repository={"full_name": None}),
        payload(run={"updated_at": "0001-01-01T00:00:00+23:59"}),
        payload(run={"updated_at": "9999-12-31T23:59:59-23:59"}),
        payload(run={"updated_at": "2026-13-01T00:00:00Z"}),
    ],
)
def test_what_cannot_be_is_refused(client: Client, body: Any) -> None:
    assert deliver(client, body).status_code == 400
    assert not IngestRequest.objects.exists()
    assert not WebhookDelivery.objects.exists()


def test_delivery_without_its_id_is_refused(client: Client) -> None:
    assert deliver(client, delivery="").status_code == 400
    assert deliver(client, delivery="x" * 101).status_code == 400
    assert deliver(client, delivery="x\0").status_code == 400


@pytest.mark.parametrize(
    "body",
    [
        payload(action="requested"),
        payload(repository={"full_name": "o/unknown"}),
        payload(repository=None),
        payload(workflow_run=None),
        payload(run={"path": ".github/workflows/lint.yml"}),
        payload(run={"id": "90001"}),
        payload(run={"id": 2**70}),
        payload(run={"id": True, "path": 5}),
        payload(run={"id": True}),
    ],
)
def test_what_is_none_of_ours_is_left_alone(client: Client, body: Any) -> None:
    answer = deliver(client, body)
    assert (answer.status_code, answer.json()) == (202, {"state": "nothing to do"})
    assert not IngestRequest.objects.exists()


def test_ping_is_answered(client: Client) -> None:
    answer = deliver(client, {"zen": "x"}, **{"X-GitHub-Event": "ping"})
    assert answer.status_code == 202


def test_other_workflow_of_a_stored_run_is_asked_for(client: Client) -> None:
    run = RunFactory(github_run_id=RUN)
    run.repository.full_name = "o/fork"
    run.repository.save()
    body = payload(
        run={"path": ".github/workflows/e2e-tests.yml"},
        repository={"full_name": "o/fork"},
    )
    assert deliver(client, body).status_code == 202
    assert IngestRequest.objects.get().repository == "o/fork"


def test_only_posts_are_taken(client: Client) -> None:
    assert client.get("/webhooks/github").status_code == 405
