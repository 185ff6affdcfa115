"""The table below the chart: it comes after the chart, and comes without one too."""

import pytest
from playwright.sync_api import Page, Route, expect

from tests.browser.conftest import Visitor
from tests.browser.test_inference_filters import settle
from tests.pages.builders import story

pytestmark = pytest.mark.django_db(transaction=True)

AXIS = """() => document.querySelector("[data-plot]")._fullLayout.xaxis.type"""
LOW = {"viewport": {"width": 1440, "height": 400}}


@pytest.mark.parametrize("visitor", [LOW], indirect=True)
def test_who_has_scrolled_to_the_table_stays_there_when_a_filter_changes(
    visitor: Visitor,
):
    story()
    page = visitor.open("/inference")
    settle(page)
    rows = page.locator("#points tbody tr")
    count = rows.count()
    rows.last.scroll_into_view_if_needed()
    before = page.evaluate("window.scrollY")
    assert before > 0
    page.evaluate("document.querySelector('#filter-logx').click()")
    page.wait_for_url("**logx**")
    settle(page)
    assert page.evaluate("window.scrollY") == pytest.approx(before, abs=40)
    expect(rows).to_have_count(count)
    rows.first.hover()
    page.wait_for_selector("[data-plot] .hovertext")
    assert not page.evaluate("document.getElementById('view').style.minHeight")


def test_the_table_is_there_where_the_script_of_the_chart_never_comes(
    visitor: Visitor,
):
    story()
    visitor.page.route("**/plotly*", lambda route: route.abort())
    visitor.page.goto(visitor.address + "/inference")
    expect(visitor.page.locator("#points tbody tr").first).to_be_visible()


def test_the_table_comes_with_a_filter_where_the_script_of_the_chart_never_came(
    visitor: Visitor,
):
    story()
    visitor.page.route("**/plotly*", lambda route: route.abort())
    page = visitor.page
    page.goto(visitor.address + "/inference")
    page.check("#filter-logx")
    page.wait_for_url("**logx**")
    expect(page.locator("#points tbody tr").first).to_be_visible()
    assert not page.evaluate("document.getElementById('view').style.minHeight")


# Changes something as soon as the view is in the page, long before its table is.
THEN = """([first, then]) => {
  const change = (selector) => {
    const element = document.querySelector(selector);
    if (element.type === "checkbox") element.click();
    else {
      element.value = 40;
      element.dispatchEvent(new Event("change", { bubbles: true }));
    }
  };
  document.addEventListener("htmx:afterSettle", () => change(then), { once: true });
  change(first);
}"""


@pytest.mark.parametrize(
    ("then", "asked"), [("#filter-logy", "logy=1"), ("#ranking-at", "at=40")]
)
def test_order_and_length_of_the_table_outlive_what_is_asked_before_it_is_there(
    visitor: Visitor, then: str, asked: str
):
    story()
    page = visitor.open("/inference?sort=-concurrency&rows=all")
    page.evaluate(THEN, ["#filter-logx", then])
    page.wait_for_url(f"**{asked}**")
    settle(page)
    assert "logx=1" in page.url
    assert "sort=-concurrency" in page.url
    assert "rows=all" in page.url
    expect(page.locator("#points")).to_have_count(1)
    expect(page.locator("input[name=sort]")).to_have_count(1)
    assert visitor.trouble() == []


def test_a_header_leaves_in_the_address_what_changed_since_the_table_came(
    visitor: Visitor,
):
    story()
    page = visitor.open("/inference")
    page.locator(".legend-item button").first.click()
    page.wait_for_url("**hide=**")
    page.fill("#ranking-at", "40")
    page.press("#ranking-at", "Enter")
    page.wait_for_url("**at=40**")
    page.click("#sort-concurrency")
    page.wait_for_url("**sort=concurrency**")
    settle(page)
    assert "hide=" in page.url
    assert "at=40" in page.url
    assert visitor.trouble() == []


def held_up(page: Page) -> list[Route]:
    """Hold up what is asked for from now on; the caller lets it go on."""
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    page.route("**/inference?*", hold)
    return held


def test_no_header_takes_back_a_filter_that_is_on_its_way(visitor: Visitor):
    story()
    page = visitor.open("/inference")
    held = held_up(page)
    page.check("#filter-logx")
    page.click("#sort-concurrency")
    page.wait_for_timeout(200)
    for route in list(held):
        route.continue_()
    page.wait_for_url("**logx=1**")
    settle(page)
    assert len(held) == 1
    assert visitor.trouble() == []


def test_a_ranking_does_not_take_the_place_of_a_filter_that_is_on_its_way(
    visitor: Visitor,
):
    story()
    page = visitor.open("/inference")
    held = held_up(page)
    page.check("#filter-logx")
    page.fill("#ranking-at", "40")
    page.press("#ranking-at", "Enter")
    page.wait_for_timeout(200)
    held[-1].continue_()
    page.wait_for_url("**at=40**")
    settle(page)
    assert "logx=1" in page.url
    assert page.evaluate(AXIS) == "log"
    expect(page.locator("[data-rank]").first).to_be_visible()


def test_the_table_comes_with_a_filter_where_drawing_fails(visitor: Visitor):
    story()
    page = visitor.open("/inference")
    page.evaluate(
        "() => { window.Plotly.react = () => Promise.reject(new Error('torn')); }"
    )
    with page.expect_event("pageerror") as told:
        page.check("#filter-logx")
    assert "torn" in str(told.value)
    expect(page.locator("#points tbody tr").first).to_be_visible()
