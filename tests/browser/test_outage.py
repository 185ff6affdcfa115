"""The page that says the database is away, in a real browser."""

# mypy: allow-untyped-calls

import pytest
from django.template.loader import render_to_string
from playwright.sync_api import Route

from dashboard.views.outage import TEXT
from tests.browser.conftest import Visitor

pytestmark = pytest.mark.django_db(transaction=True)
NARROW = {"viewport": {"width": 390, "height": 844}}


@pytest.mark.parametrize(
    "visitor", [{}, NARROW | {"color_scheme": "dark"}], indirect=True
)
def test_the_page_of_an_outage_can_be_read(visitor: Visitor):
    # Its address answers with it as it would without a database.
    def away(route: Route) -> None:
        body = render_to_string("503.html", {"text": TEXT})
        route.fulfill(status=503, content_type="text/html", body=body)

    visitor.page.route("**/keys", away)
    page = visitor.open("/keys")
    assert page.locator("main").inner_text().startswith("The database is away")
    assert visitor.accessibility() == []
    overflow = "document.documentElement.scrollWidth - window.innerWidth"
    assert page.evaluate(overflow) <= 0
