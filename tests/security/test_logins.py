"""Whoever guesses passwords has to wait, and nobody else because of it."""

# mypy: allow-untyped-calls

import pytest
from axes.handlers.proxy import AxesProxyHandler
from axes.models import AccessAttempt, AccessFailureLog, AccessLog
from django.core.cache import cache
from pytest_django.asserts import assertContains

from launcher.paths import key_prefix

pytestmark = pytest.mark.django_db
KIM = {"username": "kim", "password": "long enough 5"}
WRONG = {"username": "kim", "password": "guessed"}
LOGINS = ["/login", "/admin/login/"]


@pytest.fixture(autouse=True)
def kim(django_user_model, settings):
    settings.AXES_FAILURE_LIMIT = 3
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    return django_user_model.objects.create_superuser(**KIM)


def guess(client, path="/login", times=3, **extra):
    for _ in range(times):
        answer = client.post(path, WRONG, **extra)
    return answer


@pytest.mark.parametrize("path", LOGINS)
def test_a_client_that_guesses_has_to_wait_at_every_login(client, path):
    answer = guess(client, path)
    assertContains(answer, "Wait 15 minutes", status_code=429)
    assert answer["Retry-After"] == "900"
    for login in LOGINS:
        assert client.post(login, KIM).status_code == 429
    assert "sessionid" not in client.cookies


def test_nobody_can_lock_another_person_out(client):
    guess(client, REMOTE_ADDR="198.51.100.7")
    assert client.post("/login", KIM, REMOTE_ADDR="198.51.100.8").status_code == 302


def test_other_accounts_are_no_way_around_it(client):
    for name in ("kim", "lee", "max"):
        answer = client.post("/login", {"username": name, "password": "x"})
    assert answer.status_code == 429


def test_a_login_that_succeeds_does_not_give_new_guesses(client):
    guess(client, times=2)
    assert client.post("/login", KIM).status_code == 302
    assert guess(client, times=1).status_code == 429


def test_the_wait_ends_by_itself_whatever_is_tried_meanwhile(client, redis_client):
    guess(client, times=5)
    keys = list(redis_client.scan_iter(f"{key_prefix()}cache*axes*"))
    assert len(keys) == 1
    assert 0 < redis_client.ttl(keys[0]) <= 900
    cache.clear()  # as if the time of all keys had come
    assert client.post("/login", KIM).status_code == 302


def test_a_network_of_ipv6_is_one_client(client):
    for last in (1, 2, 3):
        answer = client.post("/login", WRONG, REMOTE_ADDR=f"2001:db8::{last}")
    assert answer.status_code == 429
    assert client.post("/login", KIM, REMOTE_ADDR="2001:db8:1::1").status_code == 302


def test_behind_a_proxy_the_client_is_whom_the_proxy_saw(client, settings):
    settings.FRONTIERBOARD_TRUST_PROXY = True
    for made_up in range(3):
        seen = f"203.0.113.{made_up}, 198.51.100.7"
        answer = client.post("/login", WRONG, HTTP_X_FORWARDED_FOR=seen)
    assert answer.status_code == 429
    other = client.post("/login", KIM, HTTP_X_FORWARDED_FOR="198.51.100.8")
    assert other.status_code == 302


def test_without_a_trusted_proxy_its_header_counts_for_nothing(client):
    for made_up in range(3):
        seen = f"203.0.113.{made_up}"
        answer = client.post("/login", WRONG, HTTP_X_FORWARDED_FOR=seen)
    assert answer.status_code == 429


def test_no_row_is_written_of_a_failed_login(client):
    guess(client, times=5)
    for model in (AccessAttempt, AccessFailureLog, AccessLog):
        assert not model.objects.exists()


@pytest.fixture
def counts_anew():
    """Let the counts take the cache of the settings, and the old one again."""
    yield lambda: AxesProxyHandler.get_implementation(force=True)
    AxesProxyHandler.implementation = None


def test_without_redis_logins_go_on(client, settings, counts_anew):
    settings.CACHES = {
        "default": {
            **settings.CACHES["default"],
            "LOCATION": "redis://127.0.0.1:1/0",
        }
    }
    counts_anew()
    assert guess(client).status_code == 200


def test_whoever_is_logged_in_stays_so(client, kim):
    client.force_login(kim)
    guess(client)
    assert client.get("/admin/").status_code == 200
