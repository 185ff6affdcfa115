"""Regressions in a real browser: found in three clicks, worked through by keyboard."""

# mypy: allow-untyped-calls

import pytest
from django.contrib.auth.models import Group
from playwright.sync_api import Page, Route, expect

from dashboard.models import Regression
from tests import factories
from tests.browser.conftest import Visitor
from tests.ingest import golden
from tests.pages.test_regressions import judged, worse

pytestmark = pytest.mark.django_db(transaction=True)

SCREENS = [
    {"viewport": {"width": 1440, "height": 900}, "color_scheme": "light"},
    {"viewport": {"width": 390, "height": 844}, "color_scheme": "dark"},
]
RUNS = (33100000001, 33300000002, 33598359757, 33700000003, 33500000006)


@pytest.fixture
def recorded(shared_data):
    """Ingest the recorded runs up to the one that got worse."""
    golden.import_masters(shared_data)
    for run_id in RUNS:
        golden.ingest(shared_data, run_id)


@pytest.fixture
def kim(django_user_model):
    user = django_user_model.objects.create_user("kim", password="long enough 5")  # noqa: S106
    user.groups.add(Group.objects.get_or_create(name="triage")[0])
    return user


def log_in(visitor: Visitor, path: str) -> Page:
    page = visitor.open(f"/login?next={path}")
    page.get_by_label("Username").fill("kim")
    page.get_by_label("Password").fill("long enough 5")
    page.get_by_label("Password").press("Enter")
    page.wait_for_url(f"**{path}")
    return page


def some_regressions() -> list[Regression]:
    first = worse("key-a")
    rows = [first, worse("key-b", run=first.run), worse("key-c", state="noise")]
    for row, change in zip(rows, (-0.08, -0.082, -0.01), strict=True):
        judged(row, change)
    return rows


def test_the_suspect_of_the_recorded_regression_is_three_clicks_away(
    visitor: Visitor, recorded
):
    page = visitor.open("/")
    page.get_by_role("link", name="Regressions 1 open").click()
    expect(page).to_have_url(f"{visitor.address}/regressions")
    page.get_by_role("link", name=golden.SGLANG, exact=True).click()
    page.wait_for_selector("[data-plot][data-drawn]")
    suspect = page.get_by_role("link", name="PR #2833")
    expect(suspect).to_have_attribute(
        "href", "https://github.com/SemiAnalysisAI/InferenceX/pull/2833"
    )
    asked: list[str] = []

    def answer(route: Route) -> None:
        asked.append(route.request.url)
        route.fulfill(body="a pull request")

    page.context.route("https://github.com/**", answer)
    suspect.click()
    page.wait_for_url("https://github.com/SemiAnalysisAI/InferenceX/pull/2833")
    assert asked == ["https://github.com/SemiAnalysisAI/InferenceX/pull/2833"]


@pytest.mark.parametrize("visitor", SCREENS, indirect=True)
def test_both_pages_read_well_on_every_screen(visitor: Visitor, kim):
    row = some_regressions()[0]
    log_in(visitor, "/regressions")
    for path in ("/regressions?owner=nobody", row.get_absolute_url()):
        page = visitor.open(path)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert visitor.accessibility() == []
    assert visitor.trouble() == []


def test_the_list_is_worked_through_with_the_keyboard(visitor: Visitor, kim):
    second = some_regressions()[1]
    page = log_in(visitor, "/regressions")
    focused = page.locator("[data-row]:focus")
    page.keyboard.press("j")
    expect(focused).to_contain_text("key-a")
    page.keyboard.press("x")
    page.keyboard.press("j")
    page.keyboard.press("x")
    expect(page.get_by_role("button", name="Store for 2 selected")).to_be_visible()
    page.keyboard.press("i")
    expect(page.get_by_label("Note")).to_be_focused()
    page.keyboard.press("Escape")
    expect(focused).to_contain_text("key-b")
    page.keyboard.press("i")
    page.keyboard.type("jk: host 7 was hot")
    page.keyboard.press("Enter")
    said = page.get_by_role("status").filter(has_text="Stored: 2 changed.")
    expect(said).to_be_visible()
    states = Regression.objects.order_by("pk").values_list("state", flat=True)
    assert list(states) == ["investigating", "investigating", "noise"]
    assert second.events.get().note == "jk: host 7 was hot"
    for _ in range(4):
        page.keyboard.press("j")
    expect(focused).to_contain_text("key-c")
    page.keyboard.press("k")
    page.keyboard.press("Enter")
    page.wait_for_url(f"**{second.get_absolute_url()}")
    assert visitor.trouble() == []


def test_a_reader_moves_by_keyboard_and_decides_nothing(visitor: Visitor):
    some_regressions()
    page = visitor.open("/regressions")
    expect(page.get_by_text("Store for")).to_have_count(0)
    for key in "jxi":
        page.keyboard.press(key)
    expect(page.locator("[data-row]:focus")).to_contain_text("key-a")
    assert visitor.trouble() == []


@pytest.mark.parametrize(
    "visitor", [{**SCREENS[0], "java_script_enabled": False}], indirect=True
)
def test_without_a_script_boxes_and_the_form_do_the_same(visitor: Visitor, kim):
    first, *_ = some_regressions()
    page = log_in(visitor, "/regressions")
    expect(page.get_by_text("next and previous")).to_be_hidden()
    page.get_by_label("Select key-a, performance").check()
    form = page.locator("#decide")
    form.get_by_label("State").select_option("expected")
    form.get_by_role("button").click()
    said = page.get_by_role("status").filter(has_text="Stored: 1 changed.")
    expect(said).to_be_visible()
    first.refresh_from_db()
    assert first.state == "expected"


def test_an_empty_list_reads_well(visitor: Visitor):
    visitor.open("/regressions")
    assert visitor.accessibility() == []
    factories.JudgementFactory()
    visitor.open("/regressions?show=improvements")
    assert visitor.accessibility() == []
    assert visitor.trouble() == []
