"""Answers that are kept: for whom, until when, and what becomes of many who ask."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.contrib.auth.models import User
from django.core.cache import cache
from django.db import connection
from django.http import HttpResponse
from django.middleware.csrf import get_token
from django.test import Client, RequestFactory
from django.test.utils import CaptureQueriesContext
from django.views.decorators.cache import never_cache

from dashboard import kept as module
from dashboard.kept import SLOTS, kept
from dashboard.models import ConfigKey, Generation, IngestRequest
from tests.factories import ConfigKeyFactory, SweepFactory
from tests.pages.builders import curve

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _keeping(settings):
    settings.FRONTIERBOARD_KEPT_SECONDS = 60


def asked(path="/keys", **headers):
    return Client(headers={"Accept-Encoding": "gzip", **headers}).get(path)


def request_of(view, path="/page", method="GET", **headers):
    """Ask a view of our own, as the middleware would have prepared the request."""
    request = RequestFactory(headers=headers).generic(method, path)
    request.session = Client().session
    request.session.modified = False
    return view(request)


@pytest.mark.parametrize("path", ["/inference", "/calculator", "/reliability"])
def test_a_kept_answer_is_the_one_that_was_made_and_asks_only_for_the_generation(path):
    curve()
    first = asked(path)
    with CaptureQueriesContext(connection) as queries:
        again = asked(path)
    assert again.content == first.content
    assert again["Content-Type"] == first["Content-Type"]
    assert again["Content-Encoding"] == "gzip"
    assert len(queries) == 1


def test_a_new_generation_is_shown_at_once():
    ConfigKeyFactory(key="first-key")
    assert b"second-key" not in asked(**{"Accept-Encoding": "identity"}).content
    ConfigKeyFactory(key="second-key")
    Generation.bump()
    assert b"second-key" in asked(**{"Accept-Encoding": "identity"}).content


def test_who_is_logged_in_gets_an_answer_of_their_own_and_leaves_none():
    User.objects.create(username="somebody")
    reader = Client(headers={"Accept-Encoding": "identity"})
    reader.force_login(User.objects.get())
    assert b"somebody" in reader.get("/keys").content
    assert b"somebody" not in asked(**{"Accept-Encoding": "identity"}).content
    assert b"somebody" in reader.get("/keys").content


def test_an_answer_with_a_csrf_token_is_never_kept():
    view = kept()(lambda request: HttpResponse(get_token(request)))
    assert request_of(view).content != request_of(view).content


def test_an_answer_with_a_cookie_is_never_kept():
    made = []

    def view(_request):
        made.append(1)
        response = HttpResponse("x")
        response.set_cookie("own", "1")
        return response

    request_of(kept()(view))
    request_of(kept()(view))
    assert len(made) == 2


def test_what_a_view_forbids_to_cache_is_never_kept():
    made = []

    @never_cache
    def view(_request):
        made.append(1)
        return HttpResponse("x")

    request_of(kept()(view))
    request_of(kept()(view))
    assert len(made) == 2


@pytest.mark.parametrize(
    "headers",
    [
        {"HX-Request": "true"},
        {"HX-Request": "true", "HX-Target": "view"},
        {"Host": "127.0.0.1"},
        {"Accept-Encoding": "br"},
    ],
)
def test_whatever_shapes_an_answer_names_it(headers):
    view = kept()(lambda request: HttpResponse(repr(dict(request.headers)) * 9))
    plain = request_of(view, Host="localhost")
    other = request_of(view, **{"Host": "localhost", **headers})
    assert plain.content != other.content


def test_one_readers_host_is_not_shown_to_another():
    curve()
    plain = {"Accept-Encoding": "identity"}
    asked("/inference", host="127.0.0.1", **plain)
    assert b"127.0.0.1" not in asked("/inference", host="localhost", **plain).content


def test_an_unchanged_answer_is_not_sent_again():
    etag = asked()["ETag"]
    again = asked(**{"If-None-Match": etag})
    assert again.status_code == 304
    assert not again.content


def test_caches_on_the_way_ask_again_and_tell_readers_apart():
    answer = asked()
    assert answer["Cache-Control"] == "no-cache"
    assert {"Cookie", "Accept-Encoding"} <= set(answer["Vary"].split(", "))


def test_made_up_addresses_fill_no_more_than_the_slots(redis_client):
    view = kept()(lambda _request: HttpResponse("x"))
    for number in range(3 * SLOTS):
        request_of(view, f"/page?made-up={number}")
    names = [n for n in redis_client.scan_iter("*", count=5000) if b":page:" in n]
    assert 0 < len(names) <= SLOTS


def test_too_large_an_answer_is_sent_and_not_kept(monkeypatch):
    monkeypatch.setattr(module, "MOST_BYTES", 10)
    view = kept()(lambda _request: HttpResponse("x" * 1000))
    request_of(view)
    assert request_of(view).content == b"x" * 1000
    assert not any(cache.get(f"page:{slot}") for slot in range(SLOTS))


def test_another_answer_in_the_slot_is_never_taken(monkeypatch):
    monkeypatch.setattr(module, "SLOTS", 1)
    view = kept()(lambda request: HttpResponse(request.get_full_path()))
    for path in ("/a", "/b", "/a"):
        assert request_of(view, path).content == path.encode()


def test_a_request_that_began_changes_the_first_page(client):
    SweepFactory()
    before = client.get("/").content
    IngestRequest.objects.create(kind="run", target="77", github_run_id=77)
    assert client.get("/").content != before


def test_without_redis_pages_are_made_each_time(settings):
    settings.CACHES = {
        "default": {
            **settings.CACHES["default"],
            "LOCATION": "redis://127.0.0.1:1/0",
        }
    }
    ConfigKeyFactory(key="a-key")
    assert asked().status_code == 200
    ConfigKey.objects.update(key="b-key")
    assert b"b-key" in asked(**{"Accept-Encoding": "identity"}).content


@pytest.mark.django_db(transaction=True)
def test_of_many_who_ask_one_makes_the_answer():
    made, begun = [], threading.Barrier(8)

    def view(_request):
        made.append(1)
        threading.Event().wait(0.2)
        return HttpResponse("made once")

    def ask(_number):
        begun.wait()
        try:
            return request_of(kept()(view)).content
        finally:
            connection.close()

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(ask, range(8)))
    assert answers == [b"made once"] * 8
    assert len(made) == 1


@pytest.mark.django_db(transaction=True)
def test_who_waits_for_an_answer_that_is_not_kept_makes_their_own():
    begun = threading.Barrier(2)

    @never_cache
    def view(_request):
        threading.Event().wait(0.05)
        return HttpResponse(str(threading.get_ident()))

    def ask(_number):
        begun.wait()
        try:
            return request_of(kept()(view)).content
        finally:
            connection.close()

    with ThreadPoolExecutor(2) as pool:
        first, second = pool.map(ask, range(2))
    assert first != second


def test_nothing_is_kept_where_the_settings_say_so(settings):
    settings.FRONTIERBOARD_KEPT_SECONDS = 0
    ConfigKeyFactory(key="a-key")
    asked()
    ConfigKey.objects.update(key="b-key")
    assert b"b-key" in asked(**{"Accept-Encoding": "identity"}).content


def test_head_tells_of_the_kept_answer_and_keeps_none():
    curve()
    unmade = Client(headers={"Accept-Encoding": "gzip"}).head("/keys")
    assert unmade["ETag"] == asked()["ETag"]
    with CaptureQueriesContext(connection) as queries:
        head = Client(headers={"Accept-Encoding": "gzip"}).head("/keys")
    assert (head.content, head["ETag"]) == (b"", unmade["ETag"])
    assert len(queries) == 1
    etag = {"If-None-Match": head["ETag"]}
    assert (
        Client(headers={"Accept-Encoding": "gzip", **etag}).head("/keys").status_code
        == 304
    )


def test_what_was_made_for_head_is_not_the_page_of_others():
    views = kept()(lambda request: HttpResponse(request.method))
    assert request_of(views, method="HEAD").content == b"HEAD"
    assert request_of(views).content == b"GET"
    assert request_of(views, method="HEAD").content == b"GET"  # the server sends none
