"""Logging in and out from the pages, for accounts that are no staff."""

# mypy: allow-untyped-calls

import pytest
from pytest_django.asserts import assertContains, assertNotContains

pytestmark = pytest.mark.django_db
KIM = {"username": "kim", "password": "long enough 5"}


@pytest.fixture
def kim(django_user_model):
    return django_user_model.objects.create_user(**KIM)


@pytest.fixture
def private(settings) -> None:
    settings.FRONTIERBOARD_LOGIN_REQUIRED = True


def test_every_page_leads_to_the_login_and_back(client, kim):
    assertContains(client.get("/runs?q=a&event=push"), "/login?next=/runs%3Fq%3Da")
    page = client.get("/login", {"next": "/runs?q=a"})
    assertContains(page, '<input type="hidden" name="next" value="/runs?q=a">')
    answer = client.post("/login", {**KIM, "next": "/runs?q=a"})
    assert answer["Location"] == "/runs?q=a"
    assertContains(client.get("/runs"), "Log out")


def test_logging_out_leads_to_the_first_page(client, kim):
    client.force_login(kim)
    assert client.get("/logout").status_code == 405
    assert client.post("/logout")["Location"] == "/"
    assertContains(client.get("/runs"), "Log in")


def test_a_wrong_password_says_so_and_keeps_the_aim(client, kim):
    page = client.post("/login", {**KIM, "password": "x", "next": "/runs"})
    assertContains(page, "Please enter a correct username and password", count=1)
    assertContains(page, 'value="/runs"')
    assert "sessionid" not in client.cookies


@pytest.mark.parametrize("aim", ["https://example.org/", "//example.org", "/\\x.org"])
def test_the_login_leads_to_no_other_site(client, kim, aim):
    assert client.post("/login", {**KIM, "next": aim})["Location"] == "/"


def test_the_login_of_a_private_site_tells_nothing_of_its_runs(client, private):
    page = client.get("/login")
    assertContains(page, "Log in")
    assertNotContains(page, "Newest run")
    assertNotContains(page, "No run is stored")


def test_a_private_site_leads_back_to_the_page_and_not_to_a_form(client, private):
    host = "http://testserver"
    answer = client.post("/corrections/5/undo", headers={"referer": f"{host}/runs/5"})
    assert answer["Location"] == "/login?next=/runs/5"
    foreign = client.post("/corrections/5/undo", headers={"referer": "http://x.org/a"})
    assert foreign["Location"] == "/login?next=/"


def test_a_polled_part_without_a_session_is_told_to_leave_the_page(client, private):
    headers = {"hx-request": "true", "hx-current-url": "http://testserver/runs/5?a=b"}
    answer = client.get("/requests?run=5", headers=headers)
    assert answer.status_code == 401
    assert answer["HX-Redirect"] == "/login?next=/runs/5%3Fa%3Db"
    assert answer.content == b"Log in first."


def test_the_staff_pages_ask_for_staff_at_their_own_login(client, private, kim):
    for _ in range(2):
        assert client.get("/admin/")["Location"] == "/admin/login/?next=/admin/"
        client.force_login(kim)
