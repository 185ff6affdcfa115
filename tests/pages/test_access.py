"""A private instance: who sees pages, and what stays open."""

import pytest
from django.contrib.auth.models import User

pytestmark = pytest.mark.django_db


@pytest.fixture
def private(settings) -> None:
    """A site that asks for a login."""
    settings.FRONTIERBOARD_LOGIN_REQUIRED = True


@pytest.mark.parametrize("path", ["/", "/inference", "/evaluation", "/runs", "/help"])
def test_pages_lead_to_the_login(client, private, path):
    answer = client.get(path)
    assert answer.status_code == 302
    assert answer["Location"].startswith("/login?next=")
    assert client.get(answer["Location"]).status_code == 200


def test_interface_answers_401_and_uploads_check_their_own_token(client, private):
    assert client.get("/api/v1/runs/5").status_code == 401
    assert "log in" not in client.post("/api/v1/runs").content.decode()


@pytest.mark.parametrize("path", ["/healthz", "/readyz"])
def test_probes_stay_open(client, private, path):
    assert client.get(path).status_code in {200, 503}


def test_webhook_stays_open(client, private):
    assert client.post("/webhooks/github").status_code not in {302, 401}


def test_whoever_is_logged_in_sees_pages(client, private):
    client.force_login(User.objects.create_user("kim"))
    assert client.get("/inference").status_code == 200
    assert client.get("/api/v1/runs/5").status_code == 404


def test_open_site_asks_nobody(client):
    assert client.get("/inference").status_code == 200


def test_who_logs_in_without_an_aim_comes_to_the_first_page(settings):
    assert settings.LOGIN_REDIRECT_URL == "/"
