"""The pages of keys in a real browser: drawn, zoomable, quiet, accessible."""

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Visitor
from tests.factories import ConfigKeyFactory, EvalResultFactory
from tests.pages.key_builders import KEY, add_sweep, derive, two_swaps

pytestmark = pytest.mark.django_db(transaction=True)

NARROW = {"viewport": {"width": 390, "height": 844}}
DARK = {"color_scheme": "dark"}
HISTORY = '[data-figure="history-figure"]'
FRONTIER = '[data-figure="frontier-figure"]'
PLACE = """([series, index]) => {
  const plot = document.querySelector('[data-figure="history-figure"] [data-plot]');
  const { left, top } = plot.getBoundingClientRect();
  const { xaxis, yaxis } = plot._fullLayout;
  const trace = plot.data.filter((t) => t.meta.role === "series")[series];
  return [
    left + xaxis._offset + xaxis.d2p(trace.x[index]),
    top + yaxis._offset + yaxis.d2p(trace.y[index]),
  ];
}"""


def opened(visitor: Visitor, query: str = "") -> Page:
    """Open the page of the key and wait until all its charts are drawn."""
    page = visitor.open(f"/keys/{KEY}{query}")
    charts = page.locator("[data-plot]").count()
    expect(page.locator("[data-plot][data-drawn]")).to_have_count(charts)
    return page


def test_two_swaps_are_ruled_and_named_and_no_line_crosses_them(visitor: Visitor):
    two_swaps()
    page = opened(visitor, "?at=50,100")
    history = page.locator(HISTORY)
    expect(history.locator(".shapelayer path")).to_have_count(2)
    names = history.locator(".annotation-text")
    said = " ".join(names.all_text_contents())
    for expected in ("swap: Model-FP4", "org-a/Model-FP4-V2", "org-b/Model-FP4-V2"):
        assert expected in said
    # Two series in three segments each.
    expect(history.locator(".scatterlayer .js-line")).to_have_count(6)
    expect(page.locator(f"{FRONTIER} .scatterlayer .js-line")).to_have_count(3)
    assert visitor.trouble() == []


def test_a_hovered_sweep_says_what_it_is_and_lights_its_row(visitor: Visitor):
    sweeps = two_swaps()
    page = opened(visitor, "?at=50")
    x, y = page.evaluate(PLACE, [0, 1])
    page.mouse.move(x - 30, y)
    page.mouse.move(x, y)
    page.wait_for_selector(f"{HISTORY} .hovertext")
    text = page.locator(f"{HISTORY} .hovertext").text_content() or ""
    for expected in (
        f"run {sweeps[6].run.github_run_id}",
        "2026-08-06",
        "org-b/Model-FP4-V2",
        "img:3",
        "TP2 c64",
    ):
        assert expected in text
    lit = page.locator('[data-rows="history-figure"] tr.is-lit')
    expect(lit).to_contain_text(str(sweeps[6].run.github_run_id))
    assert visitor.trouble() == []


def test_the_history_is_zoomed_and_reset(visitor: Visitor):
    two_swaps()
    page = opened(visitor)
    plot = page.locator(f"{HISTORY} [data-plot]")
    range_now = "(plot) => plot._fullLayout.xaxis.range.join()"
    whole = plot.evaluate(range_now)
    x, y = page.evaluate(PLACE, [0, 0])
    # Below the line: the words of the swaps stand above it.
    page.mouse.move(x - 60, y + 20)
    page.mouse.down()
    page.mouse.move(x + 40, y + 80, steps=4)
    page.mouse.up()
    reset = page.locator(".key-history [data-reset-zoom]")
    expect(reset).to_be_visible()
    assert plot.evaluate(range_now) != whole
    expect(page.locator(f"{HISTORY} .annotation-text").first).to_contain_text("swap")
    reset.click()
    expect(reset).to_be_hidden()
    assert plot.evaluate(range_now) == whole
    assert visitor.trouble() == []


def test_the_form_asks_only_what_the_chosen_history_needs(visitor: Visitor):
    two_swaps()
    page = opened(visitor)
    expect(page.get_by_label("Metric")).to_be_hidden()
    page.get_by_label("Show", exact=True).select_option("point")
    page.get_by_label("Metric").select_option("median_ttft")
    page.get_by_label("Concurrency").select_option("64")
    page.locator(".key-ask").get_by_role("button", name="Show").click()
    page.wait_for_url("**metric=median_ttft**")
    assert "at=" not in page.url
    expect(page.locator("#history-title")).to_contain_text("TP2 c64")
    assert visitor.trouble() == []


def test_both_charts_are_saved_as_pictures(visitor: Visitor, tmp_path: Path):
    two_swaps()
    page = opened(visitor)
    for part, name, kind in (
        (FRONTIER, "frontier", "svg"),
        (".key-history", "history", "svg"),
        (".key-history", "history", "png"),
    ):
        with page.expect_download() as saved:
            page.locator(part).get_by_role("button", name=kind.upper()).click()
        file = f"{name}-qwen35-fp4-mi355x-sglang.{kind}"
        assert saved.value.suggested_filename == file
        saved.value.save_as(tmp_path / file)
        if kind == "svg":
            assert "Source: Frontierboard, http" in (tmp_path / file).read_text()
    drawn = tmp_path / "history-qwen35-fp4-mi355x-sglang.svg"
    assert "swap: Model-FP4" in drawn.read_text()
    assert visitor.trouble() == []


@pytest.mark.parametrize("visitor", [NARROW], indirect=True)
def test_words_of_a_swap_stay_off_the_title_of_the_axis(visitor: Visitor):
    for day, end in ((0, "FP4"), (6, "FP4"), (12, "FP4-V2"), (15, "FP4-V2")):
        add_sweep(
            day,
            checkpoint=f"org/A-model-with-a-name-of-very-nearly-fifty-letters-{end}",
        )
    derive()
    page = opened(visitor, "?at=50")
    words = page.locator(f"{HISTORY} .annotation-text")
    expect(words).to_contain_text("swap")
    named, title = words.bounding_box(), page.locator(f"{HISTORY} .ytitle")
    beside = title.bounding_box()
    assert named
    assert beside
    assert named["x"] > beside["x"] + beside["width"]
    assert named["x"] + named["width"] < 390


def test_one_sweep_is_a_point_that_one_sees(visitor: Visitor):
    add_sweep(0)
    derive()
    page = opened(visitor, "?at=50")
    points = page.locator(f"{HISTORY} .scatterlayer .point")
    expect(points).to_have_count(1)
    box = points.bounding_box()
    assert box is not None
    assert box["width"] > 4
    expect(page.locator(f"{HISTORY} figcaption")).to_contain_text("One sweep")
    expect(page.locator(f"{HISTORY} .shapelayer path")).to_have_count(0)
    assert visitor.trouble() == []


def test_a_key_without_a_sweep_says_so(visitor: Visitor):
    ConfigKeyFactory(key=KEY)
    page = visitor.open(f"/keys/{KEY}")
    expect(page.locator("[data-plot]")).to_have_count(0)
    expect(page.locator(".empty").first).to_contain_text("No official sweep")
    assert visitor.accessibility() == []
    assert visitor.trouble() == []


@pytest.mark.parametrize(
    ("visitor", "path"),
    [
        ({}, f"/keys/{KEY}?show=evals"),
        (DARK, f"/keys/{KEY}?show=evals"),
        (NARROW, f"/keys/{KEY}?show=evals"),
        (NARROW | DARK, f"/keys/{KEY}?show=evals"),
        ({}, "/keys"),
        (NARROW | DARK, "/keys"),
        ({}, "/keys/unknown"),
    ],
    indirect=["visitor"],
)
def test_axe_finds_nothing_and_nothing_scrolls_sideways(visitor: Visitor, path: str):
    for sweep in two_swaps():
        EvalResultFactory(run=sweep.run, config_key=sweep.config_key)
    page = visitor.open(path)
    assert visitor.accessibility() == []
    overflow = "document.documentElement.scrollWidth - window.innerWidth"
    assert page.evaluate(overflow) <= 0


def test_the_theme_repaints_both_charts(visitor: Visitor):
    two_swaps()
    page = opened(visitor)
    colours = "[...document.querySelectorAll('.js-line')].map((l) => l.style.stroke)"
    rules = "document.querySelector('.shapelayer path').style.stroke"
    before, ruled = page.evaluate(colours), page.evaluate(rules)
    page.get_by_role("button", name="Use dark colours").click()
    page.wait_for_function(f"(before) => {rules} !== before", arg=ruled)
    page.wait_for_function(
        f"(before) => {colours}.every((c) => !before.includes(c))", arg=before
    )
    assert visitor.trouble() == []


def test_everything_is_reached_with_the_keyboard(visitor: Visitor):
    two_swaps()
    page = opened(visitor)
    page.locator(FRONTIER).get_by_role("button", name="SVG").focus()
    reached = []
    for _ in range(12):
        page.keyboard.press("Tab")
        reached.append(page.evaluate("document.activeElement.id"))
    assert [name for name in reached if name.startswith("id_")] == ["id_show", "id_at"]
    page.locator("#id_at").fill("75")
    page.locator("#id_at").press("Enter")
    page.wait_for_url("**at=75**")


@pytest.mark.parametrize("visitor", [{"java_script_enabled": False}], indirect=True)
def test_without_script_forms_and_tables_still_work(visitor: Visitor):
    two_swaps()
    page = visitor.page
    page.goto(f"{visitor.address}/keys/{KEY}")
    page.get_by_label("Show", exact=True).select_option("area")
    page.locator(".key-ask").get_by_role("button", name="Show").click()
    assert "show=area" in page.url
    assert page.locator('[data-rows="history-figure"] tbody tr').count() == 9


def test_the_catalogue_leads_to_a_key(visitor: Visitor):
    two_swaps()
    page = visitor.open("/")
    page.get_by_role("link", name="Keys", exact=True).click()
    page.get_by_label("Has a swap").select_option("yes")
    page.get_by_role("button", name="Show").click()
    assert page.url.endswith("/keys?swap=yes")
    page.get_by_role("link", name=KEY).click()
    expect(page.locator("h1")).to_contain_text(KEY)
    assert visitor.trouble() == []
