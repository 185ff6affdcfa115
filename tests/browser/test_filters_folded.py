"""The filters: one line before the answer on a phone, all there beside it elsewhere."""

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Visitor
from tests.browser.test_inference_filters import settle
from tests.pages.builders import curve, story

pytestmark = pytest.mark.django_db(transaction=True)

NARROW = {"viewport": {"width": 390, "height": 844}}
ONE_LINE_PX = 60


def top(page: Page, selector: str) -> float:
    return float(
        page.locator(selector).first.evaluate("(e) => e.getBoundingClientRect().top")
    )


@pytest.mark.parametrize("visitor", [NARROW], indirect=True)
def test_a_phone_shows_the_chart_without_scrolling(visitor: Visitor):
    curve("qwen3.5-fp4-mi355x-sglang")
    page = visitor.open("/inference?precision=fp4&logx=1")
    settle(page)
    fold = page.locator("[data-fold]")
    expect(fold.locator("> summary")).to_have_text("Filters precision fp4; log x")
    box = fold.bounding_box()
    assert box
    assert box["height"] <= ONE_LINE_PX
    expect(page.locator("#filter-model")).to_be_hidden()
    assert top(page, "[data-plot]") < 844 / 2 + ONE_LINE_PX


@pytest.mark.parametrize("visitor", [NARROW], indirect=True)
def test_filters_open_by_keyboard_and_stay_open_while_they_are_chosen(
    visitor: Visitor,
):
    story()
    page = visitor.open("/inference")
    page.locator("[data-fold] > summary").focus()
    page.keyboard.press("Enter")
    page.locator("#filter-logx").focus()
    page.keyboard.press("Space")
    page.wait_for_url("**logx**")
    settle(page)
    expect(page.locator("#filter-logx")).to_be_focused()
    expect(page.locator("#filter-logx")).to_be_visible()
    assert visitor.trouble() == []
    assert visitor.accessibility() == []


@pytest.mark.parametrize(
    "visitor", [NARROW | {"java_script_enabled": False}], indirect=True
)
@pytest.mark.parametrize("path", ["/inference", "/evaluation"])
def test_without_script_they_open_as_well(visitor: Visitor, path: str):
    story()
    page = visitor.page
    page.goto(visitor.address + path)
    expect(page.locator("#filter-model")).to_be_hidden()
    page.locator("[data-fold] > summary").click()
    expect(page.locator("#filter-model")).to_be_visible()


@pytest.mark.parametrize("path", ["/inference", "/evaluation"])
def test_a_wide_page_has_them_open_without_a_line_to_open_them(
    visitor: Visitor, path: str
):
    story()
    page = visitor.page
    page.goto(visitor.address + path)
    expect(page.locator("#filter-model")).to_be_visible()
    expect(page.locator("[data-fold] > summary")).to_be_hidden()


def test_the_table_follows_the_chart_however_high_the_filters_are(visitor: Visitor):
    story()
    page = visitor.open("/inference")
    settle(page)
    chart = page.locator(".workbench-main").bounding_box()
    rail = page.locator("[data-fold]").bounding_box()
    assert chart
    assert rail
    end = chart["y"] + chart["height"]
    assert rail["y"] + rail["height"] > end + 100
    assert 0 < top(page, "#points") - end < 40
