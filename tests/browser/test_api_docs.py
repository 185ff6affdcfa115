"""The page of the interface in a real browser: readable, and without a script."""

# mypy: allow-untyped-calls

import pytest

from tests.browser.conftest import visiting

pytestmark = pytest.mark.django_db(transaction=True)
PATH = "/api/v1/docs"
NARROW = {"viewport": {"width": 390, "height": 844}}


@pytest.mark.parametrize(
    "visitor",
    [{}, {"color_scheme": "dark"}, NARROW],
    indirect=True,
    ids=["light", "dark", "narrow"],
)
def test_the_page_of_the_interface_has_no_violation(visitor):
    page = visitor.open(PATH)
    assert page.locator("h1").inner_text() == "API"
    page.locator("details summary").first.click()
    assert visitor.accessibility() == []
    assert visitor.trouble() == []
    width = page.evaluate("document.documentElement.scrollWidth")
    assert width <= page.viewport_size["width"]


def test_every_operation_is_there_without_a_script(browser, live_server):
    with visiting(browser, live_server.url, java_script_enabled=False) as visit:
        visit.page.goto(live_server.url + PATH)
        text = visit.page.locator("main").inner_text()
    for path in ("GET /api/v1/points", "PATCH /api/v1/regressions/{pk}"):
        assert path in text
