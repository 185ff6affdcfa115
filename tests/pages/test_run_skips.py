"""Everything of a run that was not taken: pages, reasons, download."""

# mypy: allow-untyped-calls

import csv
import io

import pytest
from django.urls import reverse
from pytest_django.asserts import assertContains, assertNotContains

from tests import factories
from tests.pages.test_runs import page_of, text_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def run():
    """Return a run with 15 failed rows of one artifact and an unread file."""
    run = factories.RunFactory()
    artifact = factories.ArtifactFactory(run=run, attempt=2)
    for n in range(15):
        factories.SkipFactory(
            run=run, artifact=artifact, index=n, detail=f"TP2/EP2 c{n}: 0 of 4"
        )
    factories.SkipFactory(run=run, reason="bad_json", detail="<b>cut off</b>")
    return run


def skips_of(client, run, **query):
    return client.get(reverse("run_skips", args=[run.github_run_id]), query)


def test_run_shows_the_first_and_links_to_all(client, run):
    page = page_of(client, run)
    path = f"/runs/{run.github_run_id}/skips"
    assertContains(page, f'href="{path}?reason=failed_run"')
    assertContains(page, f'href="{path}.csv"')
    assertNotContains(page, "TP2/EP2 c5:")


def test_all_are_listed_with_their_place(client, run):
    text = text_of(skips_of(client, run))
    for n in range(15):
        assert f"TP2/EP2 c{n}: 0 of 4" in text
    assert "&lt;b&gt;cut off" in text
    assert "All 16" in text


def test_one_reason_is_listed_alone(client, run):
    page = skips_of(client, run, reason="failed_run")
    assert page.context["page"].paginator.count == 15
    unknown = skips_of(client, run, reason="<x>")
    assertContains(unknown, "for the reason &lt;x&gt;")
    assert unknown.context["page"].paginator.count == 16


def test_long_lists_have_pages_that_keep_the_reason(client):
    run = factories.RunFactory()
    factories.SkipFactory.create_batch(101, run=run)
    page = skips_of(client, run, reason="failed_run", page=2)
    assertContains(page, "Page 2 of 2")
    assertContains(page, 'href="?reason=failed_run&amp;page=1"')
    for asked in ("9", "x", "-1", "9" * 50):
        assertContains(skips_of(client, run, page=asked), "There is no page")


def test_run_without_skips_says_so(client):
    page = skips_of(client, factories.RunFactory())
    assertContains(page, "Every record of this run was taken")


def test_download_holds_every_skip(client, run):
    factories.SkipFactory(run=run, reason="wrong_type", detail="=cmd()")
    answer = client.get(reverse("run_skips_file", args=[run.github_run_id, "csv"]))
    rows = list(csv.DictReader(io.StringIO(answer.getvalue().decode())))
    assert len(rows) == 17
    assert rows[-1]["detail"] == "'=cmd()"
    failed = [row for row in rows if row["reason"] == "failed_run"]
    assert {row["attempt"] for row in failed} == {"2"}


@pytest.mark.parametrize("path", ["/runs/123/skips", "/runs/123/skips.csv"])
def test_unknown_run_is_a_page_with_a_sentence(client, path):
    response = client.get(path)
    assertContains(response, "Run 123 is not stored here.", status_code=404)


@pytest.mark.parametrize("size", [1, 12])
def test_queries_do_not_grow_with_skips(client, django_assert_num_queries, size):
    run = factories.RunFactory()
    for _ in range(size):
        artifact = factories.ArtifactFactory(run=run)
        factories.SkipFactory(run=run, artifact=artifact)
    with django_assert_num_queries(5):
        skips_of(client, run)
