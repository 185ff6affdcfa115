"""Pages that were opened before the first run was stored: they fill by themselves."""

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Visitor
from tests.pages.builders import story

pytestmark = pytest.mark.django_db(transaction=True)

MARK = "window.unloaded = false"
REFRESHED_MS = 15_000


def test_a_frontier_appears_and_is_drawn_without_a_reload(visitor: Visitor):
    page = visitor.open("/inference")
    page.evaluate(MARK)
    expect(page.locator("#awaited")).to_contain_text("by themselves")
    assert visitor.accessibility() == []
    story()
    page.wait_for_selector("[data-plot][data-drawn]", timeout=REFRESHED_MS)
    expect(page.locator("[data-plot] .scatterlayer .js-line")).to_have_count(3)
    assert page.locator("#awaited").count() == 0
    assert page.evaluate("window.unloaded") is False
    assert visitor.trouble() == []


def test_the_first_page_fills_without_a_reload(visitor: Visitor):
    page = visitor.open("/")
    page.evaluate(MARK)
    expect(page.locator("#awaited")).to_contain_text("by itself")
    assert visitor.accessibility() == []
    story()
    expect(page.locator("#newest-runs")).to_be_visible(timeout=REFRESHED_MS)
    assert page.locator("#awaited").count() == 0
    assert page.evaluate("window.unloaded") is False
    assert visitor.trouble() == []
