"""Tables into the clipboard, links that last, pictures of charts, by real clicks."""

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Visitor
from tests.factories import (
    BenchmarkJobFactory,
    EvalResultFactory,
    RunFactory,
    RunStatFactory,
)
from tests.pages.builders import story
from tests.pages.key_builders import KEY, START, two_swaps

pytestmark = pytest.mark.django_db(transaction=True)

# Of a file that is made while the machine does much else.
PATIENCE_MS = 30_000

NARROW = {"viewport": {"width": 390, "height": 844}}
DARK = {"color_scheme": "dark"}
CLIPBOARD = {"permissions": ["clipboard-read", "clipboard-write"]}
SIGNATURES = {"png": b"\x89PNG\r\n", "svg": b"<svg"}


def reliable() -> None:
    for day, failed in enumerate((0, 1, 2)):
        at = START.replace(day=1 + day)
        run = RunFactory(official=True, created_at=at, github_run_id=7001 + day)
        BenchmarkJobFactory.create_batch(6, run=run)
        place = {"run": run, "hardware": "h200", "cluster": "h200-cw"}
        BenchmarkJobFactory.create_batch(failed, outcome="failed", **place)
        BenchmarkJobFactory(is_after_retry=True, attempt=2, failed_attempts=1, **place)
        RunStatFactory(run=run)


def clipboard(page: Page) -> str:
    return str(page.evaluate("navigator.clipboard.readText()"))


@pytest.mark.parametrize("visitor", [CLIPBOARD], indirect=True)
def test_a_table_is_copied_as_markdown_and_it_is_said(visitor: Visitor):
    reliable()
    page = visitor.open("/reliability")
    button = page.get_by_role("button", name="Copy as Markdown of the jobs by group")
    button.focus()
    page.keyboard.press("Enter")
    said = page.get_by_role("status").filter(has_text="Table copied")
    expect(said).to_have_count(1, timeout=PATIENCE_MS)
    text = clipboard(page)
    assert text.startswith("| hardware | succeeded | failed | n |")
    assert "| h200 | 3 | 3 | 6 | 0.5 |" in text
    assert "Source: <http" in text
    # The label comes back.
    expect(button).to_be_visible()
    assert visitor.trouble() == []


@pytest.mark.parametrize("visitor", [CLIPBOARD], indirect=True)
def test_a_copied_table_follows_what_a_script_changed(visitor: Visitor):
    story()
    page = visitor.open("/inference")
    page.get_by_role("button", name="qwen3.5-fp4-b200-trt-mtp").click()
    page.get_by_role("button", name="Copy as Markdown of the points").click()
    expect(page.get_by_role("status").filter(has_text="Table copied")).to_have_count(
        1, timeout=PATIENCE_MS
    )
    assert "hide=qwen3.5-fp4-b200-trt-mtp" in clipboard(page)


@pytest.mark.parametrize("visitor", [CLIPBOARD], indirect=True)
def test_a_table_that_cannot_be_had_is_said(visitor: Visitor):
    reliable()
    page = visitor.open("/reliability")
    page.route("**/reliability.md*", lambda route: route.abort())
    page.get_by_role("button", name="Copy as Markdown of the jobs by group").click()
    said = page.get_by_role("status").filter(has_text="Not copied: open the link")
    expect(said).to_have_count(1, timeout=PATIENCE_MS)


@pytest.mark.parametrize("visitor", [CLIPBOARD], indirect=True)
def test_a_permalink_is_copied_and_says_what_it_pins(visitor: Visitor):
    reliable()
    page = visitor.open("/reliability?by=cluster")
    expect(page.get_by_text("It names the first and the last day.")).to_be_visible()
    page.get_by_role("button", name="Copy link").click()
    expect(page.get_by_role("status").filter(has_text="Link copied")).to_have_count(
        1, timeout=PATIENCE_MS
    )
    assert clipboard(page).endswith("?by=cluster&from=2026-07-01&to=2026-07-03")


@pytest.mark.parametrize("visitor", [{"java_script_enabled": False}], indirect=True)
def test_without_a_script_the_links_are_there_and_no_button(visitor: Visitor):
    reliable()
    page = visitor.page
    page.goto(f"{visitor.address}/reliability")
    expect(
        page.get_by_role("link", name="Markdown of the jobs by group")
    ).to_be_visible()
    expect(page.locator("[data-copy-table]").first).to_be_hidden()
    expect(page.get_by_role("row").filter(has_text="H200").first).to_be_visible()


@pytest.mark.parametrize("form", ["png", "svg"])
def test_every_chart_is_saved_with_title_and_source(
    visitor: Visitor, tmp_path: Path, form: str
):
    reliable()
    sweeps = two_swaps()
    newest = sweeps[-1]
    for sweep in sweeps:
        EvalResultFactory(run=sweep.run, config_key=sweep.config_key)
    base, head = (s.run.github_run_id for s in (sweeps[-2], newest))
    pages = {
        "/inference": 1,
        "/evaluation": 1,
        f"/keys/{KEY}": 2,
        f"/compare?base={base}&head={head}": 1,
        "/reliability": 1,
    }
    for path, charts in pages.items():
        page = visitor.open(path)
        drawn = page.locator("[data-plot][data-drawn]")
        expect(drawn, path).to_have_count(charts, timeout=PATIENCE_MS)
        buttons = page.locator(f'[data-export="{form}"]')
        expect(buttons).to_have_count(charts)
        for place in range(charts):
            with page.expect_download() as saved:
                buttons.nth(place).click()
            file = tmp_path / f"chart-{place}.{form}"
            saved.value.save_as(file)
            content = file.read_bytes()
            assert content.startswith(SIGNATURES[form]), path
            if form == "svg":
                assert "Source: Frontierboard, http" in content.decode(), path
                assert 'class="gtitle"' in content.decode(), path
    assert visitor.trouble() == []


@pytest.mark.parametrize("visitor", [{}, DARK, NARROW], indirect=True)
def test_the_page_of_reliability_is_accessible_and_quiet(visitor: Visitor):
    reliable()
    page = visitor.open("/reliability")
    expect(page.locator(".scatterlayer .trace")).to_have_count(3)
    assert visitor.accessibility() == []
    wide = page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
    assert wide <= 0
    assert visitor.trouble() == []


def test_a_group_is_followed_to_its_runs_by_the_keyboard(visitor: Visitor):
    reliable()
    page = visitor.open("/reliability")
    link = page.get_by_role("link", name="H200", exact=True)
    link.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Job success on H200")).to_be_visible()
    row = page.get_by_role("row").filter(has_text="7003")
    expect(row.first).to_be_visible()
