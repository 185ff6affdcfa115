"""A held sweep is published from the page of its run, in a real browser."""

# mypy: allow-untyped-calls

import pytest
from django.contrib.auth.models import Group
from playwright.sync_api import expect

from ingest.pipeline import derive_run
from tests import factories
from tests.browser.conftest import Visitor
from tests.pages.builders import add_points

pytestmark = pytest.mark.django_db(transaction=True)

SCREENS = [
    {"viewport": {"width": 1440, "height": 900}, "java_script_enabled": False},
    {"viewport": {"width": 390, "height": 844}, "color_scheme": "dark"},
]


@pytest.fixture
def held(django_user_model):
    """Return a held sweep; kim is a member of the group, and no staff."""
    kim = django_user_model.objects.create_user("kim", password="long enough 5")  # noqa: S106
    kim.groups.add(Group.objects.get_or_create(name="triage")[0])
    former = factories.SweepFactory(official=True)
    add_points(former)
    sweep = factories.SweepFactory(
        config_key=former.config_key,
        run=factories.RunFactory(official=True, repository=former.run.repository),
        planned=[["TP2", 4], ["TP2", 512]],
        planned_count=9,
    )
    add_points(sweep)
    factories.CorrectionFactory(run=sweep.run, action="exclude", concurrency=16)
    derive_run(sweep.run)
    return sweep


@pytest.mark.parametrize("visitor", SCREENS, indirect=True)
def test_a_held_sweep_is_published_with_a_reason(visitor: Visitor, held):
    page = visitor.open(f"/runs/{held.run.github_run_id}")
    page.get_by_role("link", name="Log in").click()
    page.get_by_label("Username").fill("kim")
    page.get_by_label("Password").fill("long enough 5")
    page.get_by_label("Password").press("Enter")
    page.locator("summary", has_text="Hold or publish").press("Enter")
    row = page.get_by_role("row").filter(has=page.get_by_text("Publish", exact=True))
    row.get_by_label("Reason").fill("the rest was never to be measured")
    row.get_by_role("button", name="Publish").press("Enter")
    expect(page.get_by_role("status").first).to_contain_text("Stored. The worker")
    expect(page.get_by_text("publish the sweep").first).to_be_visible()
    made = held.run.corrections.get(action="publish")
    assert (made.author, made.config_key) == ("kim", held.config_key)
    assert visitor.trouble() == []


@pytest.mark.parametrize("visitor", SCREENS[1:], indirect=True)
def test_the_forms_read_well_on_a_narrow_screen(visitor: Visitor, held):
    page = visitor.open("/login")
    assert visitor.accessibility() == []
    page.get_by_label("Username").fill("kim")
    page.get_by_label("Password").fill("long enough 5")
    page.get_by_label("Password").press("Enter")
    page.wait_for_url(f"{visitor.address}/")
    page = visitor.open(f"/runs/{held.run.github_run_id}")
    for summary in page.locator("summary", has_text="Hold or publish").all():
        summary.click()
    page.locator("summary", has_text="Undo").click()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert visitor.accessibility() == []
    assert visitor.trouble() == []
