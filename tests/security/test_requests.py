"""What a request can say in its host, parameters and path, and what it cannot do."""

# mypy: allow-untyped-calls

import re
from urllib.parse import quote

import pytest
from django.conf import settings as django_settings
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from dashboard.models import Run
from tests.factories import RawRecordFactory
from tests.pages.builders import curve
from tests.pages.test_inference import figure_of
from tests.security.conftest import Site, public

pytestmark = pytest.mark.django_db
OTHER = "other.example.org"
INJECTIONS = [
    "1' OR '1'='1",
    "1; DROP TABLE dashboard_run; --",
    "\\'; SELECT pg_sleep(9); --",
    "%' UNION SELECT digest FROM dashboard_apitoken --",
    "{{settings.SECRET_KEY}}",
    "\x00",
    "\ud800",
    "9" * 400,
    "-1",
    "NaN",
    "a\r\nSet-Cookie: x=1",
]
# Words of the ORM: none of them may be a filter because somebody wrote it.
LOOKUPS = [
    "repository__tokens__digest__startswith=a&pk__in=1&id=1&publication=hidden",
    "sort=repository__tokens__digest&order_by=repository__tokens__digest",
]
LEFT_OUT = {"/logout", "/readyz"}  # which is 503 where no worker runs
QUICK = ["django.contrib.auth.hashers.MD5PasswordHasher"]
NAMES = ["q", "sort", "key", "model", "run", "scenario", "page", "cursor", "as_of"]


def lists() -> list[str]:
    """Return the addresses that no number or name stands in."""
    return [a.route for a in public() if "<" not in a.route and a.route not in LEFT_OUT]


@pytest.mark.parametrize("turn", range(3))
def test_no_parameter_reaches_the_database_as_more_than_a_value(client, turn):
    """Each address is asked with each name, with other values at each turn."""
    curve()
    for number, path in enumerate(lists()):
        value = INJECTIONS[(number + 4 * turn) % len(INJECTIONS)]
        quoted = quote(value.encode("utf-8", "surrogatepass"))
        asked = "&".join(f"{name}={quoted}" for name in NAMES)
        with CaptureQueriesContext(connection) as queries:
            answer = client.get(f"{path}?{asked}")
        assert answer.status_code < 500, (path, value)
        assert "Set-Cookie: x" not in str(answer.headers), path
        said = " ".join(query["sql"] for query in queries)
        outside = re.sub(r"'(?:[^']|'')*'", "", said)
        assert "pg_sleep" not in outside, path
    assert Run.objects.count() == 1


def test_no_word_of_the_orm_is_a_filter(client):
    curve()
    for path in lists():
        with CaptureQueriesContext(connection) as queries:
            answers = [client.get(f"{path}?{asked}") for asked in LOOKUPS]
        assert all(answer.status_code < 500 for answer in answers), path
        assert not any("apitoken" in query["sql"] for query in queries), path


def test_a_host_that_is_not_the_sites_is_refused(client):
    assert client.get("/", headers={"host": "evil.example.org"}).status_code == 400
    named = {"x-forwarded-host": "evil.example.org"}
    answer = client.get("/runs", headers=named)
    assert "evil.example.org" not in answer.content.decode()


def test_nothing_kept_for_one_host_is_shown_under_another(client, site: Site, settings):
    settings.ALLOWED_HOSTS = ["testserver", OTHER]
    urls = [url for address in public() for url in site.at(address)]
    for url in urls:
        client.get(url, headers={"host": OTHER})
    for url in urls:
        answer = client.get(url)
        body = b"".join(answer) if answer.streaming else answer.content
        assert OTHER not in body.decode(), url
        assert OTHER not in str(answer.headers), url


def test_parameters_that_mean_nothing_make_no_other_answer(client):
    """No answer is kept under an address and then shown for another."""
    curve()
    before = figure_of(client)
    client.get("/inference?model=none&utm=1&_=2")
    assert figure_of(client) == before


@pytest.mark.parametrize("charset", ["cp037", "utf-16", "latin-1"])
def test_a_charset_that_a_request_names_makes_no_other_answer(
    client, settings, charset
):
    settings.FRONTIERBOARD_KEPT_SECONDS = 60
    said = {"CONTENT_TYPE": f"text/plain; charset={charset}"}
    client.get("/keys?q=%61%C3%A9", **said)
    assert 'name="q" value="aé"' in client.get("/keys?q=%61%C3%A9").content.decode()


@pytest.mark.parametrize("charset", ["utf-16", "cp037"])
def test_a_form_in_another_charset_is_refused_without_an_error_of_ours(charset):
    client = Client(enforce_csrf_checks=True)
    client.get("/login")
    answer = client.post(
        "/login", b"x=1", f"application/x-www-form-urlencoded; charset={charset}"
    )
    assert answer.status_code == 403


@pytest.mark.parametrize(
    "name", ["a\r\nSet-Cookie: x=1", 'a"; filename="b.exe', "a/../b"]
)
def test_a_key_splits_no_header_of_its_files(client, name):
    curve(name)
    answer = client.get(f"/keys/{quote(name, safe='')}/points.csv")
    assert answer.status_code in {200, 404}
    assert "x" not in answer.cookies
    told = answer.get("Content-Disposition", "")
    assert "\r" not in told
    assert "\n" not in told
    assert not re.search(r'filename="[^"]*";\s*filename=', told)


@pytest.mark.parametrize(
    "path",
    [
        "../dashboard/settings.py",
        "%2e%2e/manage.py",
        "..%2f.env",
        "/etc/passwd",
        ".env",
    ],
)
def test_static_files_are_no_way_to_others(client, path):
    answer = client.get(f"/static/{path}")
    assert answer.status_code in {400, 404}


@pytest.mark.parametrize("path", ["/.env", "/.git/config", "/media/x", "/.data/raw"])
def test_no_folder_of_the_checkout_is_served(client, path):
    assert client.get(path).status_code == 404


def test_cookies_are_kept_from_scripts_and_other_sites(
    client, django_user_model, settings
):
    settings.PASSWORD_HASHERS = QUICK
    password = "long enough 5"  # noqa: S105
    django_user_model.objects.create_user("kim", password=password)
    client.get("/login")
    answer = client.post("/login", {"username": "kim", "password": password})
    session = answer.cookies["sessionid"]
    assert session["httponly"]
    assert session["samesite"] == "Lax"
    assert int(session["max-age"]) <= 14 * 24 * 3600
    assert client.cookies["csrftoken"]["samesite"] == "Lax"


def test_in_production_cookies_go_by_https_alone():
    """The values that follow from the mode are held together in one place."""
    source = (django_settings.BASE_DIR / "dashboard/settings.py").read_text()
    for name in ("SESSION_COOKIE_SECURE", "CSRF_COOKIE_SECURE", "SECURE_SSL_REDIRECT"):
        assert f"{name} = PRODUCTION" in source


def test_a_new_session_is_begun_at_login(client, django_user_model, settings):
    settings.PASSWORD_HASHERS = QUICK
    password = "long enough 5"  # noqa: S105
    django_user_model.objects.create_user("kim", password=password)
    session = client.session
    session["planted"] = 1
    session.save()
    planted = session.session_key
    client.post("/login", {"username": "kim", "password": password})
    assert client.session.session_key != planted


def test_a_raw_record_is_a_file_of_json_and_nothing_to_run(client, site: Site):
    point = site.rows["points"]
    point.raw_record = RawRecordFactory(body='{"image": "<script>alert(1)</script>"}')
    point.save()
    answer = client.get(f"/points/{point.pk}/record.json")
    assert answer.status_code == 200
    assert answer["Content-Type"].startswith("application/json")
    assert answer["X-Content-Type-Options"] == "nosniff"
