"""The page of changes in a real browser: filtered, paged, quiet, accessible."""

# mypy: allow-untyped-calls

import pytest
from playwright.sync_api import expect

from dashboard.models import FileDefect
from tests import factories
from tests.browser.conftest import Visitor
from tests.browser.test_runs_pages import SCREENS
from tests.pages.builders import add_points
from tests.pages.changes import KEY, config_change, entry_of_file, swapped

pytestmark = pytest.mark.django_db(transaction=True)


def eventful() -> None:
    """Make something for every list of the page."""
    before, after = swapped()
    add_points(before)
    add_points(after)
    factories.EvalResultFactory(run=after.run, config_key=after.config_key)
    factories.ChangelogEntryFactory(link_state="placeholder", pr_link="XXX")
    entry_of_file(
        raw_keys=["gone", "qwen*"],
        expanded_keys=[KEY],
        retired_keys=["gone"],
        unknown_keys=["no key"],
    )
    factories.SweepFactory(
        config_key=before.config_key,
        scenario="1k/1k",
        official=True,
        segment=2,
        previous=before,
        breaks=[{"kind": "precision", "from": "fp8", "to": "fp4"}],
    )
    for number in range(30):
        config_change(config_key=f"old-{number}", kind="removed")
    config_change(kind="model", before="a/x", after="b/x", is_swap=True)
    FileDefect.objects.create(repository="a/b", name="x.yaml", text="not YAML")


@pytest.mark.parametrize("visitor", SCREENS, indirect=True)
def test_the_page_is_quiet_accessible_and_fits_the_screen(visitor: Visitor):
    eventful()
    page = visitor.open("/changes?kind=swap&kind=changelog&kind=removed&kind=precision")
    expect(page.get_by_role("heading", name="Checkpoint swaps")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert visitor.accessibility() == []
    visitor.open("/changes")
    assert visitor.accessibility() == []
    assert visitor.trouble() == []


def test_filters_and_pages_are_the_address(visitor: Visitor):
    eventful()
    page = visitor.open("/changes")
    page.get_by_label("Config key").fill("old-")
    page.get_by_role("button", name="Show", exact=True).click()
    page.wait_for_url("**/changes?key=old-")
    heading = page.get_by_role("heading", name="Imported history of the configs")
    expect(heading).to_contain_text("30")
    page.get_by_role("navigation", name="Pages of the history").get_by_role(
        "link", name="Next"
    ).click()
    page.wait_for_url("**/changes?key=old-&configs_page=2#configs")
    expect(page.get_by_text("Page 2 of 2")).to_be_visible()
    page.go_back()
    expect(page.get_by_text("Page 1 of 2")).to_be_visible()
