"""Tokens of the interface: what is kept of them, what they open, who takes them."""

# mypy: allow-untyped-calls

import inspect
import json

import pytest
from django.core.serializers import serialize
from django.utils import timezone

from dashboard.models import ApiToken
from dashboard.models import tokens as token_module
from dashboard.views import webhooks
from tests.factories import ApiTokenFactory, RegressionFactory, RepositoryFactory

pytestmark = pytest.mark.django_db


def made(**fields: object) -> tuple[ApiToken, str]:
    token = ApiTokenFactory(**fields)
    plain = token.renew()
    token.save()
    return token, plain


def patched(client, regression, plain):
    return client.patch(
        f"/api/v1/regressions/{regression.pk}",
        json.dumps({"state": "acknowledged"}),
        content_type="application/json",
        headers={"authorization": f"Bearer {plain}"},
    )


def test_the_secret_of_a_token_is_stored_nowhere():
    _, plain = made()
    secret = plain.split("_", 2)[2]
    assert len(secret) >= 40
    assert secret not in serialize("json", ApiToken.objects.all())


def test_secrets_are_compared_in_constant_time():
    for module in (token_module, webhooks):
        assert "hmac.compare_digest(" in inspect.getsource(module)


BENT = {
    "shorter": lambda plain: plain[:-1],
    "longer": lambda plain: f"{plain}x",
    "capitals": lambda plain: plain.upper(),
    "no secret": lambda plain: plain[:16],
    "another kind": lambda plain: plain.replace("fb_", "xx_", 1),
    "wildcard": lambda plain: "%",
    "empty": lambda plain: "fb__",
    "endless": lambda plain: "fb_" + "a" * 100_000,
}


@pytest.mark.parametrize("bent", BENT.values(), ids=list(BENT))
def test_what_is_nearly_a_token_is_none(bent):
    _, plain = made()
    assert ApiToken.matching(bent(plain)) is None


def test_a_token_opens_what_it_was_made_for_and_its_own_repository(client):
    regression = RegressionFactory()
    own = regression.run.repository
    _, reader = made(repository=own)
    _, other = made(repository=RepositoryFactory(full_name="a/b"), can_triage=True)
    _, decider = made(repository=own, can_triage=True)
    assert patched(client, regression, reader).status_code == 403
    assert patched(client, regression, other).status_code in {403, 404}
    assert patched(client, regression, decider).status_code == 200


def test_a_revoked_token_opens_nothing(client):
    regression = RegressionFactory()
    own = regression.run.repository
    _, plain = made(repository=own, can_triage=True, revoked_at=timezone.now())
    assert patched(client, regression, plain).status_code == 403


def test_a_token_is_taken_from_its_header_alone(client):
    regression = RegressionFactory()
    _, plain = made(repository=regression.run.repository, can_triage=True)
    answer = client.patch(
        f"/api/v1/regressions/{regression.pk}?token={plain}&access_token={plain}",
        json.dumps({"state": "acknowledged"}),
        content_type="application/json",
    )
    assert answer.status_code in {400, 401}
    regression.refresh_from_db()
    assert regression.state == "untriaged"
