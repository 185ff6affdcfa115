"""The run list: order, filters, pages, and what it refuses."""

# mypy: allow-untyped-calls

import pytest
from django.urls import reverse
from pytest_django.asserts import assertContains, assertNotContains

from tests import factories

pytestmark = pytest.mark.django_db


def text_of(response):
    """Return what a reader sees, roughly: one blank for each run of white space."""
    return " ".join(response.content.decode().split())


def test_list_says_that_nothing_is_stored(client):
    assertContains(client.get(reverse("runs")), "No run is stored yet")


def test_list_shows_newest_first_with_received_of_planned(client):
    old = factories.RunFactory(received_count=13, planned_count=19)
    new = factories.RunFactory(received_count=0, planned_count=None)
    page = text_of(client.get(reverse("runs")))
    assert page.index(str(new.github_run_id)) < page.index(str(old.github_run_id))
    assert "13 of 19" in page
    assert "of an unknown plan" in page


def test_list_counts_a_run_with_a_held_sweep_as_held(client):
    sweep = factories.SweepFactory(official=True, state="held")
    other = factories.SweepFactory(official=True, scenario="1k/1k")
    page = client.get(reverse("runs"), {"publication": "held"})
    assertContains(page, sweep.run.github_run_id)
    assertNotContains(page, other.run.github_run_id)
    assertContains(page, '<span class="badge badge-warn">held</span>', html=True)


def test_list_filters_by_publication(client):
    official = factories.RunFactory(official=True)
    unofficial = factories.RunFactory()
    page = client.get(reverse("runs"), {"publication": "official"})
    assertContains(page, official.github_run_id)
    assertNotContains(page, unofficial.github_run_id)


@pytest.mark.parametrize("text", ["88", "#88", "fused", "FLAG-X", "123456", " 88 "])
def test_list_finds_by_pull_request_title_branch_and_id(client, text):
    factories.RunFactory(
        github_run_id=123456, pr_number=88, title="Try fused", branch="x/flag-x"
    )
    factories.RunFactory(pr_number=501, title="Other", github_run_id=70000)
    page = client.get(reverse("runs"), {"q": text})
    assertContains(page, "Try fused")
    assertNotContains(page, ">70000<")


def test_list_says_that_nothing_matches(client):
    factories.RunFactory()
    assertContains(client.get(reverse("runs"), {"q": "none"}), "No run matches")


@pytest.mark.parametrize(
    "query",
    [{"publication": "x"}, {"q": "a\x00b"}, {"q": "x" * 201}, {"page": "x"}],
)
def test_list_refuses_what_it_cannot_read(client, query):
    response = client.get(reverse("runs"), query)
    assert response.status_code == 400
    assertContains(response, 'class="error"', status_code=400)


@pytest.mark.parametrize("text", ["9" * 40, "%", "_", "²", "-1"])
def test_list_takes_odd_search_texts(client, text):
    factories.RunFactory()
    assertContains(client.get(reverse("runs"), {"q": text}), "No run matches")


def test_list_pages_keep_the_filters(client):
    factories.RunFactory.create_batch(51)
    page = client.get(reverse("runs"), {"q": "Sweep", "page": 2})
    assertContains(page, "Page 2 of 2")
    assertContains(page, 'href="?q=Sweep&amp;page=1"')


def test_list_asks_the_same_number_of_queries_for_many_runs(
    client, django_assert_num_queries
):
    factories.SweepFactory(official=True)
    for _ in range(30):
        factories.PointFactory(sweep=factories.SweepFactory())
    with django_assert_num_queries(3):  # freshness, count, page
        client.get(reverse("runs"))
