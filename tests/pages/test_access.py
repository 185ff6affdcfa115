"""A private instance: who sees pages, and what stays open."""

import pytest
from django.contrib.auth.models import User

from tests.factories import RegressionFactory

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


@pytest.mark.parametrize("path", ["/nothing", "/login"])
def test_what_strangers_reach_on_a_private_site_tells_nothing_of_the_data(
    client, settings, path
):
    RegressionFactory()
    told = (b"nav-count", b"Newest run" if path == "/nothing" else b"Log in")
    open_page = client.get(path).content
    assert all(text in open_page for text in told)
    settings.FRONTIERBOARD_LOGIN_REQUIRED = True
    page = client.get(path).content
    assert b"nav-count" not in page
    assert b"Newest run" not in page
    client.force_login(User.objects.create_user("kim"))
    assert b"nav-count" in client.get("/nothing").content
