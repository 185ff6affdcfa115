"""What every page shares, and work that is followed, in a real browser."""

# mypy: allow-untyped-calls

from datetime import timedelta

import pytest
from django.utils import timezone
from playwright.sync_api import expect

from dashboard.models import IngestRequest
from tests import factories
from tests.browser.conftest import Visitor
from tests.browser.test_runs_pages import SCREENS, eventful_run

pytestmark = pytest.mark.django_db(transaction=True)


def eventful_site() -> IngestRequest:
    """Make something to say in every part of the first page; return running work."""
    run = eventful_run()
    for day, name in enumerate(("org/a", "org/b")):
        sweep = factories.SweepFactory(
            official=True,
            checkpoint=factories.CheckpointFactory(name=name),
            state="former" if day == 0 else "current",
            received_count=1,
            planned_count=2,
        )
        sweep.official_at += timedelta(days=day)
        sweep.save()
    factories.IngestRequestFactory(
        state="failed", error="the zip is cut off", finished_at=timezone.now()
    )
    active: IngestRequest = factories.IngestRequestFactory(
        state="running",
        step="reading",
        progress_done=12,
        progress_total=41,
        github_run_id=run.github_run_id,
        requested_by="kim",
        started_at=timezone.now(),
    )
    return active


@pytest.mark.parametrize("visitor", SCREENS, indirect=True)
def test_every_page_reads_well_on_every_screen(visitor: Visitor):
    asked = eventful_site()
    run = asked.github_run_id
    for path in (
        "/",
        "/runs?q=Sweep&has=incomplete&sort=-points",
        f"/runs/{run}/attempts/1",
        "/help",
        "/search?q=sweep",
        "/search?q=nothing",
        "/requests",
        f"/requests/{asked.pk}",
    ):
        page = visitor.open(path)
        wide = "document.documentElement.scrollWidth - innerWidth"
        assert page.evaluate(wide) <= 0, path
        assert visitor.accessibility() == [], path
    assert visitor.trouble() == []


@pytest.mark.parametrize("visitor", SCREENS[2:], indirect=True)
@pytest.mark.parametrize("path", ["/", "/runs", "/requests"])
def test_an_empty_site_reads_well(visitor: Visitor, path: str):
    page = visitor.open(path)
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
    assert visitor.accessibility() == []
    assert visitor.trouble() == []


@pytest.mark.parametrize("path", ["/", "/inference", "/runs", "/help"])
def test_slash_leads_to_the_search_from_any_page(visitor: Visitor, path: str):
    run = factories.RunFactory()
    page = visitor.open(path)
    page.keyboard.press("/")
    expect(page.locator("#site-search")).to_be_focused()
    page.keyboard.type(str(run.github_run_id))
    page.keyboard.press("Enter")
    page.wait_for_url(f"**/runs/{run.github_run_id}")
    assert visitor.trouble() == []


def test_slash_is_a_letter_inside_a_field(visitor: Visitor):
    page = visitor.open("/runs")
    field = page.get_by_label("Id, title, branch, PR or commit")
    field.focus()
    page.keyboard.type("a/b")
    assert field.input_value() == "a/b"


def test_tab_goes_from_the_skip_link_through_the_bar_to_the_content(visitor: Visitor):
    factories.RunFactory()
    page = visitor.open("/")
    bar = [
        *("Inference", "Calculator", "Evaluation", "Keys", "Runs"),
        *("Regressions", "Changes"),
        *("Help", "site-search"),
    ]
    expected = ["Skip to the content", "Frontierboard", *bar]
    stops = []
    for _ in range(len(expected) + 2):
        page.keyboard.press("Tab")
        stops.append(
            page.evaluate(
                "(document.activeElement.id || document.activeElement.innerText).trim()"
            )
        )
    assert stops[: len(expected)] == expected
    assert stops[-1] == "The frontiers"


def test_a_header_leads_to_its_explanation(visitor: Visitor):
    point = factories.PointFactory()
    page = visitor.open(point.sweep.run.get_absolute_url())
    page.get_by_role("link", name="Median time to first token").click()
    page.wait_for_url("**/help#metric-median_ttft")
    expect(page.locator("[id='metric-median_ttft']")).to_be_in_viewport()


def test_progress_is_followed_without_a_reload(visitor: Visitor):
    asked = eventful_site()
    page = visitor.open("/")
    page.evaluate("window.untouched = true")
    expect(page.get_by_text("reading, 12 of 41")).to_be_visible()
    row = IngestRequest.objects.filter(pk=asked.pk)
    row.update(progress_done=30)
    expect(page.get_by_text("reading, 30 of 41")).to_be_visible(timeout=10_000)
    row.update(state="done", finished_at=timezone.now(), counts={"points": 13})
    expect(page.get_by_text("13 points")).to_be_visible(timeout=10_000)
    expect(page.get_by_text("Reload the page to see what was stored")).to_be_visible()
    assert page.locator("[hx-trigger]").count() == 0
    assert page.evaluate("window.untouched") is True
    assert visitor.trouble() == []


def test_a_run_that_is_fetched_appears_when_it_is_stored(visitor: Visitor):
    asked = factories.IngestRequestFactory(
        github_run_id=555, state="running", step="listing"
    )
    page = visitor.open("/runs/555")
    expect(page.get_by_text("not stored yet")).to_be_visible()
    factories.RunFactory(github_run_id=555, title="Just stored")
    IngestRequest.objects.filter(pk=asked.pk).update(
        state="done", finished_at=timezone.now()
    )
    page.get_by_role("link", name="Reload the page").click(timeout=10_000)
    expect(page.get_by_role("heading", level=1)).to_have_text("Just stored")
    assert visitor.trouble() == []


def test_a_page_of_finished_work_asks_no_more(visitor: Visitor):
    asked = factories.IngestRequestFactory(state="running", step="reading")
    page = visitor.open(f"/requests/{asked.pk}")
    IngestRequest.objects.filter(pk=asked.pk).update(
        state="failed", error="the zip is cut off", finished_at=timezone.now()
    )
    expect(page.get_by_text("the zip is cut off")).to_be_visible(timeout=10_000)
    assert page.locator("[hx-get]").count() == 0


@pytest.mark.parametrize("visitor", [{"java_script_enabled": False}], indirect=True)
def test_without_script_a_link_reloads_and_filters_work(visitor: Visitor):
    asked = eventful_site()
    page = visitor.page
    page.goto(f"{visitor.address}/")
    IngestRequest.objects.filter(pk=asked.pk).update(progress_done=30)
    page.get_by_role("link", name="Reload to see how far it is").click()
    expect(page.get_by_text("reading, 30 of 41")).to_be_visible()
    page.goto(f"{visitor.address}/runs")
    page.get_by_text("More filters").click()
    page.get_by_label("missing points").check()
    page.get_by_role("button", name="Show").click()
    assert "has=incomplete" in page.url
    assert page.locator("tbody tr").count() == 1


def test_filters_make_a_short_address_and_back_undoes(visitor: Visitor):
    eventful_run()
    factories.RunFactory(title="Another one")
    page = visitor.open("/runs")
    page.get_by_text("More filters").click()
    page.get_by_label("Conclusion").select_option("cancelled")
    page.get_by_role("button", name="Show").click()
    page.wait_for_url("**/runs?conclusion=cancelled")
    assert page.locator("tbody tr").count() == 1
    page.get_by_role("link", name="Points", exact=True).click()
    page.wait_for_url("**/runs?conclusion=cancelled&sort=-points")
    page.go_back()
    page.go_back()
    assert page.locator("tbody tr").count() == 2
    assert page.get_by_label("Conclusion").is_enabled()
    assert visitor.trouble() == []
