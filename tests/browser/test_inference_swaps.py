"""A swap on the inference page in a real browser: mark, ghost with its name, list."""

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Visitor
from tests.pages.test_inference_swaps import NEW, OLD, history

pytestmark = pytest.mark.django_db(transaction=True)

# The day shown is that of the story, whatever day it is.
PATH = "/inference?date=2026-08-10"


def test_before_the_swap_is_a_named_ghost_that_no_line_joins(visitor: Visitor):
    history()
    page = visitor.open(PATH)
    lines = page.locator("[data-plot] .scatterlayer .trace .js-line")
    expect(lines).to_have_count(2)
    names = page.locator("[data-plot] .line-labels text")
    expect(names.filter(has_text="before the swap")).to_have_count(1)
    legend = page.locator(".legend-item")
    expect(legend).to_contain_text(f"checkpoint swapped from {OLD} to {NEW}")
    page.get_by_role("link", name="leave it out").click()
    page.wait_for_url("**ghost=0*")
    page.wait_for_selector("[data-plot][data-drawn]")
    expect(lines).to_have_count(1)
    assert visitor.trouble() == []


def test_axe_finds_nothing_in_marks_and_list(visitor: Visitor):
    history()
    page = visitor.open(PATH)
    expect(page.get_by_role("heading", name="Swaps of")).to_be_visible()
    assert visitor.accessibility() == []
