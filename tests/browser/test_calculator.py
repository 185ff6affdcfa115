"""The calculator in a real browser: drawn, quiet, accessible, read by keyboard."""

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Visitor
from tests.pages.builders import story

pytestmark = pytest.mark.django_db(transaction=True)

SIZES = [
    {"viewport": {"width": 1440, "height": 900}},
    {"viewport": {"width": 390, "height": 844}, "color_scheme": "dark"},
]


@pytest.mark.parametrize("visitor", SIZES, indirect=True)
def test_bars_are_drawn_quiet_and_accessible(visitor: Visitor):
    story()
    page = visitor.open("/calculator")
    page.wait_for_selector("[data-plot][data-drawn]")
    assert visitor.accessibility() == []
    assert visitor.trouble() == []
    width = page.evaluate("document.documentElement.scrollWidth")
    assert width <= page.evaluate("innerWidth")


def test_a_target_is_typed_and_the_address_says_it(visitor: Visitor):
    story()
    page = visitor.open("/calculator")
    target = page.locator("input[name=at]")
    target.focus()
    page.keyboard.press("Control+A")
    page.keyboard.type("30")
    page.keyboard.press("Enter")
    page.wait_for_url("**at=30**")
    page.wait_for_selector("[data-plot][data-drawn]")
    expect(page.locator("input[name=at]")).to_have_value("30")
    assert visitor.trouble() == []


@pytest.mark.parametrize("visitor", SIZES, indirect=True)
def test_no_number_or_title_of_a_bar_chart_is_cut_off(visitor: Visitor):
    story()
    page = visitor.open("/calculator")
    page.wait_for_selector("[data-plot][data-drawn] .bartext")
    beyond = page.evaluate(
        """() => [...document.querySelectorAll("[data-plot]")].flatMap((plot) => {
          const { left, right } = plot.getBoundingClientRect();
          return [...plot.querySelectorAll(".bartext, .xtitle")].filter((text) => {
            const at = text.getBoundingClientRect();
            return at.left < left || at.right > right;
          }).map((text) => text.textContent);
        })"""
    )
    assert beyond == []
