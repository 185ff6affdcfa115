"""What a content delivery network may keep, and what it may not."""

import pytest
from django.contrib.auth.models import User

from dashboard.models import Generation
from tests import factories

pytestmark = pytest.mark.django_db
SHARED = "public, max-age=0, s-maxage=30"


@pytest.fixture(autouse=True)
def _delivered(settings):
    settings.FRONTIERBOARD_CDN_SECONDS = 30


@pytest.fixture
def path():
    """An answer of the interface that depends on nothing but the data."""
    run = factories.RunFactory()
    return f"/api/v1/runs/{run.github_run_id}"


def test_answer_that_is_anybodys_may_be_kept_for_a_short_time(client, path):
    answer = client.get(path)
    assert answer["Cache-Control"] == SHARED
    shaping = {"HX-Request", "HX-Target", "HX-History-Restore-Request"}
    assert {"Cookie", "Accept-Encoding", *shaping} <= {
        name.strip() for name in answer["Vary"].split(",")
    }
    unchanged = client.get(path, headers={"if-none-match": answer["ETag"]})
    assert (unchanged.status_code, unchanged["Cache-Control"]) == (304, SHARED)
    Generation.bump()
    changed = client.get(path, headers={"if-none-match": answer["ETag"]})
    assert changed.status_code == 200


def test_nothing_is_shared_unless_the_settings_say_so(client, settings, path):
    settings.FRONTIERBOARD_CDN_SECONDS = 0
    assert "public" not in client.get(path)["Cache-Control"]


def test_what_somebody_sees_who_is_logged_in_is_private(client, path):
    client.force_login(User.objects.create_user("kim"))
    for address in (path, "/help", "/runs"):
        answer = client.get(address)
        assert "public" not in answer["Cache-Control"]
        assert "Cookie" in answer["Vary"]
    assert client.get("/admin/login/")["Cache-Control"] != SHARED


def test_private_sites_share_nothing(client, settings, path):
    settings.FRONTIERBOARD_LOGIN_REQUIRED = True
    assert "public" not in client.get(path).get("Cache-Control", "")


def test_errors_forms_and_links_are_not_shared(client, path):
    for address in ("/api/v1/runs/1", "/login", "/inference?unofficialRun=5"):
        assert "public" not in client.get(address).get("Cache-Control", "")
    assert "public" not in client.post(path).get("Cache-Control", "")
