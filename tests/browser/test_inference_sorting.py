"""Sorting the table of the inference page by keyboard."""

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Visitor
from tests.pages.builders import story

pytestmark = pytest.mark.django_db(transaction=True)


def test_focus_stays_on_the_header_that_sorted(visitor: Visitor):
    story()
    page = visitor.open("/inference?at=50")
    expect(page.locator(".ranking-answer")).to_contain_text("measured at 60.00 tok/s")
    header = page.locator("#sort-concurrency")
    for order in ("ascending", "descending"):
        header.focus()
        page.keyboard.press("Enter")
        expect(page.locator(f"th[aria-sort={order}] #sort-concurrency")).to_be_focused()
    assert visitor.accessibility() == []
    assert visitor.trouble() == []


def test_back_gives_the_focus_back_to_the_header(visitor: Visitor):
    story()
    page = visitor.open("/inference")
    for name in ("concurrency", "gpus"):
        page.locator(f"#sort-{name}").focus()
        page.keyboard.press("Enter")
        expect(page.locator(f"th[aria-sort=ascending] #sort-{name}")).to_be_focused()
    page.go_back()
    expect(page.locator("th[aria-sort=ascending] #sort-concurrency")).to_be_visible()
    # It stays where it was: on the header that was used last.
    expect(page.locator("#sort-gpus")).to_be_focused()
    assert visitor.trouble() == []
