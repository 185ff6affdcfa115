"""What holds of every address there is: a new one is held to it by being added."""

# mypy: allow-untyped-calls

import json
import re
import xml.etree.ElementTree as ET
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from tests.pages.test_hostile_run import STEERING
from tests.security.addresses import Address, every_address
from tests.security.conftest import Site, public

pytestmark = pytest.mark.django_db

# Open to everybody on a private site as well: probes, what checks a secret of its own,
# and the login itself.
OPEN = {"/healthz", "/readyz", "/metrics", "/webhooks/github", "/login", "/logout"}
# Writes that no cookie authorises: a signature or a bearer token does.
BY_SECRET = {("/webhooks/github", "POST"), ("/api/v1/runs", "POST")}
# Answered to machines in plain text or JSON, before any of the rest is asked.
PROBES = {"/healthz", "/readyz", "/metrics"}
BY_TOKEN = "/api/v1/regressions/<int:pk>"  # noqa: S105
DISPOSITION = "Content-Disposition"
HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Permissions-Policy": "camera=()",
    "Content-Security-Policy": "frame-ancestors 'none'",
}
UNSAFE = ("POST", "PUT", "PATCH", "DELETE")


def test_every_answer_is_inert_and_carries_its_headers(client, site: Site):
    """Asks for each address once and looks at all of it."""
    faults = []
    for url in _urls(site):
        if url in PROBES:
            continue
        answer = client.get(url)
        body = _body(answer)
        kind = answer.get("Content-Type", "").partition(";")[0]
        checks = [_has_headers(answer), _INERT.get(kind, _plain)(body)]
        if kind == "text/html" and "attachment" not in answer.get(DISPOSITION, ""):
            checks.append(_scripts(body))
        if answer.status_code >= 500:
            checks.append(f"status {answer.status_code}")
        faults += [f"{url}: {fault}" for fault in checks if fault]
    assert not faults, "\n".join(faults)


def _urls(site: Site) -> list[str]:
    return [url for address in public() for url in site.at(address)]


def _body(answer: Any) -> str:
    body: bytes = answer.getvalue() if answer.streaming else answer.content
    return body.decode()


def _has_headers(answer: Any) -> str:
    wrong = [
        name
        for name, value in HEADERS.items()
        if value not in answer.headers.get(name, "")
    ]
    if "unsafe" in answer.headers.get("Content-Security-Policy", ""):
        wrong.append("unsafe")
    return ", ".join(wrong)


def _html(body: str) -> str:
    return "a script" if "<script>alert" in body else _plain(body)


def _csv(body: str) -> str:
    is_formula = re.search(r'(?m)(^|,)"?[=+@\t]', body)
    return "a formula" if is_formula else _plain(body)


def _json(body: str) -> str:
    json.loads(body)
    return ""


def _xml(body: str) -> str:
    ET.fromstring(body)  # noqa: S314  # our own
    return "a script" if "<script>" in body else ""


def _markdown(body: str) -> str:
    # Within marks of code nothing is HTML.
    shown = re.sub(r"(`+)[^`].*?\1", "", body)
    return "a script" if "<script>" in shown else _plain(body)


def _plain(body: str) -> str:
    lines = [line.strip() for line in body.split("\n") if set(STEERING) & set(line)]
    return f"steers: {lines[0][:200]}" if lines else ""


def _scripts(body: str) -> str:
    """Look for what the policy would have to let in."""
    found = [
        tag
        for tag in re.findall(r"<script\b[^>]*>", body)
        if "src=" not in tag and 'type="application/json"' not in tag
    ]
    found += re.findall(r"<[^>]*\s(?:on[a-z]+|style)=[^>]*>", body)
    found += re.findall(
        r'(?:src|href)="(?:javascript:|https?:[^"]*\.(?:js|css)")', body
    )
    return f"inline: {found[:3]}" if found else ""


_INERT = {
    "text/html": _html,
    "text/csv": _csv,
    "application/json": _json,
    "application/atom+xml": _xml,
    "text/markdown": _markdown,
}


def test_a_private_site_shows_nothing_to_whoever_is_not_logged_in(
    client, site: Site, settings
):
    settings.FRONTIERBOARD_LOGIN_REQUIRED = True
    for url in _urls(site):
        if url in OPEN:
            continue
        answer = client.get(url)
        assert answer.status_code in {302, 401}, url
        if answer.status_code == 302:
            assert answer["Location"].startswith("/login?"), url


@pytest.mark.parametrize("method", UNSAFE)
def test_no_write_is_taken_without_a_token_of_its_form(
    site: Site, method, django_user_model
):
    """403 even for a superuser; a method that no view takes is 405."""
    client = Client(enforce_csrf_checks=True)
    client.force_login(django_user_model.objects.create_superuser("root"))
    for address in public():
        if (address.route, method) in BY_SECRET or address.route == BY_TOKEN:
            continue
        for url in site.at(address):
            answer = client.generic(method, url, "{}", content_type="application/json")
            assert answer.status_code in {403, 405}, (url, answer.status_code)


@pytest.mark.parametrize("method", UNSAFE)
def test_a_session_opens_no_write_that_needs_a_secret(site: Site, method, settings):
    settings.GITHUB_WEBHOOK_SECRET = "a long secret of the webhook"  # noqa: S105
    client = Client()
    client.force_login(User.objects.create_superuser("root"))
    for route in ("/webhooks/github", "/api/v1/runs", BY_TOKEN):
        url = next(iter(site.at(Address(route))))
        answer = client.generic(method, url, "{}", content_type="application/json")
        assert answer.status_code in {401, 403, 405}, (url, answer.status_code)


def test_staff_pages_are_shown_to_staff_alone(client, db):
    client.force_login(User.objects.create_user("kim"))
    for address in every_address():
        if not address.route.startswith("/admin/"):
            continue
        url = address.at(
            object_id=1, app_label="dashboard", content_type_id=1, id=1, url="x"
        )
        answer = client.get(url)
        if address.route in {"/admin/login/", "/admin/logout/", "/admin/jsi18n/"}:
            continue
        assert answer.status_code == 302, url
        assert answer["Location"].startswith("/admin/login/?next="), url


def test_staff_pages_carry_strangers_text_inert(admin_client, site: Site):
    for address in every_address():
        if not re.fullmatch(r"/admin/dashboard/\w+/", address.route):
            continue
        answer = admin_client.get(address.route)
        assert answer.status_code == 200, address.route
        assert "<script>alert" not in answer.content.decode(), address.route
        assert "unsafe" not in answer["Content-Security-Policy"]


def test_the_walk_finds_the_addresses_that_are_known():
    routes = {address.route for address in public()}
    assert {"/", "/inference", "/webhooks/github", "/api/v1/runs"} <= routes
    assert len(routes) > 60
