"""Requests for work: their list, one of them, and the parts that pages poll."""

# mypy: allow-untyped-calls

import pytest
from django.urls import reverse
from django.utils import timezone
from pytest_django.asserts import assertContains, assertNotContains

from dashboard.templatetags.requests import progress_text
from tests import factories

pytestmark = pytest.mark.django_db

POLLED = {"HX-Request": "true"}


@pytest.mark.parametrize(
    ("step", "written"),
    [
        ("artifacts", "12 of 41 artifacts"),
        ("parsing", "parsing, 12 of 41 artifacts"),
        ("mapping again", "mapping again, 12 of 41"),
    ],
)
def test_progress_says_of_what(step, written):
    request = factories.IngestRequestFactory(
        step=step, progress_done=12, progress_total=41
    )
    assert progress_text(request) == written


def test_list_without_requests_says_so(client):
    assertContains(client.get(reverse("ingest_requests")), "No work was asked for.")


def test_list_shows_progress_and_polls_while_work_goes_on(client):
    factories.IngestRequestFactory(
        state="running", step="reading", progress_done=12, progress_total=41
    )
    page = client.get(reverse("ingest_requests"))
    assertContains(page, "reading, 12 of 41")
    assertContains(page, 'hx-get="/requests" hx-trigger="every 2s"')
    assertContains(page, "Reload to see how far it is")


def test_finished_work_is_counted_and_not_polled(client):
    factories.IngestRequestFactory(
        state="partly",
        finished_at=timezone.now(),
        counts={"points": 13, "skips": {"failed_run": 2, "bad_json": 1}, "same": 0},
    )
    page = client.get(reverse("ingest_requests"))
    assertContains(page, "13 points, 3 skips")
    assertNotContains(page, "hx-get")


def test_polling_gets_the_part_alone_and_is_never_cached(client):
    factories.IngestRequestFactory(state="running")
    part = client.get(reverse("ingest_requests"), headers=POLLED)
    assertNotContains(part, "<html")
    assert "HX-Request" in part["Vary"]
    assert "no-store" in part["Cache-Control"]


def test_the_last_poll_leads_to_what_was_stored(client):
    factories.IngestRequestFactory(state="done")
    part = client.get(reverse("ingest_requests"), headers=POLLED)
    assertContains(part, "Reload the page to see what was stored")
    assertNotContains(part, "hx-trigger")


def test_list_narrows_to_a_run(client):
    factories.IngestRequestFactory(github_run_id=7, target="runs/alpha")
    factories.IngestRequestFactory(github_run_id=8, target="runs/beta")
    page = client.get(reverse("ingest_requests"), {"run": 7})
    assertContains(page, "runs/alpha")
    assertNotContains(page, "runs/beta")


@pytest.mark.parametrize(
    "query", [{"run": "x"}, {"run": "0"}, {"run": 10**30}, {"limit": "0"}]
)
def test_list_names_the_parameter_that_it_cannot_read(client, query):
    (name,) = query
    answer = client.get(reverse("ingest_requests"), query)
    assertContains(answer, f"{name}: ", status_code=400)


def test_one_request_has_a_page_with_its_error(client):
    asked = factories.IngestRequestFactory(
        state="failed", error="<b>cut off</b>", requested_by="kim"
    )
    page = client.get(asked.get_absolute_url())
    assertContains(page, "&lt;b&gt;cut off&lt;/b&gt;")
    assertContains(page, "by kim")
    assertNotContains(page, "hx-get")


def test_one_request_is_polled_at_its_own_address(client):
    asked = factories.IngestRequestFactory(state="queued")
    page = client.get(asked.get_absolute_url())
    assertContains(page, f'hx-get="/requests/{asked.pk}"')
    assertContains(page, "waits for a worker")


@pytest.mark.parametrize("pk", [0, 10**30])
def test_unknown_request_is_a_page_with_a_sentence(client, pk):
    answer = client.get(f"/requests/{pk}")
    assertContains(answer, f"There is no request {pk}.", status_code=404)


def test_list_asks_two_queries_for_many_requests(client, django_assert_num_queries):
    factories.IngestRequestFactory.create_batch(30, state="running")
    with django_assert_num_queries(2):  # requests, freshness
        client.get(reverse("ingest_requests"))
