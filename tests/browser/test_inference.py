"""The inference page in a real browser: drawn, readable, quiet, accessible."""

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Visitor
from tests.pages.builders import story

pytestmark = pytest.mark.django_db(transaction=True)

NARROW = {"viewport": {"width": 390, "height": 844}}
KEYS = 3
PLACE_OF_FLAGGED = """() => {
  const plot = document.querySelector("[data-plot]");
  const { left, top } = plot.getBoundingClientRect();
  const { xaxis, yaxis } = plot._fullLayout;
  const [trace] = plot.data.filter((t) => t.meta.role === "out");
  return [
    left + xaxis._offset + xaxis.d2p(trace.x[0]),
    top + yaxis._offset + yaxis.d2p(trace.y[0]),
  ];
}"""


def test_every_frontier_is_drawn_and_nothing_complains(visitor: Visitor):
    story()
    page = visitor.open("/inference")
    lines = page.locator("[data-plot] .scatterlayer .trace .js-line")
    expect(lines).to_have_count(KEYS)
    expect(page.locator("[data-plot] .xtitle")).to_contain_text("(tok/s/user)")
    expect(page.locator("[data-plot] .ytitle")).to_contain_text("(tok/s/GPU)")
    assert page.locator(".legend-item").count() == KEYS
    assert visitor.trouble() == []


def test_a_hovered_point_says_what_it_is_and_lights_its_row(visitor: Visitor):
    sweeps = story()
    page = visitor.open("/inference")
    x, y = page.evaluate(PLACE_OF_FLAGGED)
    page.mouse.move(x - 40, y)
    page.mouse.move(x, y)
    page.wait_for_selector("[data-plot] .hovertext")
    text = page.locator("[data-plot] .hovertext").text_content() or ""
    for expected in (
        "qwen3.5-fp4-mi355x-sglang",
        "org-a/Model-397B-FP4",
        "img/sglang:1",
        "TP2, concurrency 512",
        f"run {sweeps['sglang'].run.github_run_id}",
        "more requests in flight",
    ):
        assert expected in text
    assert page.locator("tr.is-lit").count() == 1
    assert visitor.trouble() == []


def test_names_of_lines_outlive_a_rectangle_too_small_to_zoom_to(visitor: Visitor):
    story()
    page = visitor.open("/inference")
    names = page.locator("[data-plot] .line-labels text")
    expect(names).to_have_count(1)
    x, y = page.evaluate(PLACE_OF_FLAGGED)
    page.mouse.move(x + 40, y)
    page.mouse.down()
    page.mouse.move(x + 42, y + 2)
    page.mouse.move(x + 44, y + 4)
    page.mouse.up()
    page.evaluate("() => new Promise(requestAnimationFrame)")
    expect(names).to_have_count(1)
    assert visitor.trouble() == []


@pytest.mark.parametrize("kind", ["png", "svg"])
def test_the_chart_is_saved_as_a_picture(visitor: Visitor, kind: str):
    story()
    page = visitor.open("/inference")
    with page.expect_download() as saved:
        page.get_by_role("button", name=kind.upper()).click()
    assert saved.value.suggested_filename == (
        f"frontiers-Qwen-3.5-397B-A17B-8k_1k.{kind}"
    )
    assert visitor.trouble() == []


def test_the_legend_hides_isolates_and_finds(visitor: Visitor):
    story()
    page = visitor.open("/inference")
    lines = page.locator("[data-plot] .scatterlayer .trace .js-line")
    first = page.locator(".legend-key").first
    first.click()
    assert first.get_attribute("aria-pressed") == "false"
    expect(lines).to_have_count(KEYS - 1)
    page.locator("[data-show-all]").click()
    expect(lines).to_have_count(KEYS)
    first.dblclick()
    expect(lines).to_have_count(1)
    assert visitor.trouble() == []


def test_the_toggle_is_remembered_and_repaints_the_chart(visitor: Visitor):
    story()
    page = visitor.open("/inference")
    line = page.locator("[data-plot] .scatterlayer .trace .js-line").first
    before = line.evaluate("(path) => path.style.stroke")
    page.get_by_role("button", name="Use dark colours").click()
    page.wait_for_function(
        "(before) => document.querySelector('.js-line').style.stroke !== before",
        arg=before,
    )
    visitor.open("/inference")
    assert page.locator("html").get_attribute("data-theme") == "dark"
    assert visitor.trouble() == []


@pytest.mark.parametrize(
    "visitor",
    [{}, {"color_scheme": "dark"}, NARROW, NARROW | {"color_scheme": "dark"}],
    indirect=True,
    ids=["wide-light", "wide-dark", "narrow-light", "narrow-dark"],
)
@pytest.mark.parametrize("path", ["/inference", "/inference?x=no", "/"])
def test_axe_finds_nothing(visitor: Visitor, path: str):
    story()
    visitor.open(path)
    assert visitor.accessibility() == []


@pytest.mark.parametrize("visitor", [NARROW], indirect=True)
def test_a_phone_never_scrolls_sideways(visitor: Visitor):
    story()
    page = visitor.open("/inference")
    overflow = "document.documentElement.scrollWidth - window.innerWidth"
    assert page.evaluate(overflow) <= 0


@pytest.mark.parametrize(
    ("visitor", "lines"), [({}, 2), (NARROW, 1)], indirect=["visitor"]
)
def test_notes_of_axes_stand_only_where_there_is_room(visitor: Visitor, lines: int):
    story()
    page = visitor.open("/inference")
    title = page.locator("[data-plot] .ytitle")
    expect(title).to_contain_text("Total throughput per GPU (tok/s/GPU)")
    assert title.locator("tspan").count() == (lines if lines > 1 else 0)
    note = "Total throughput per GPU: disaggregated points: over all GPUs"
    expect(page.get_by_text(note)).to_be_visible()


@pytest.mark.parametrize("visitor", [{"java_script_enabled": False}], indirect=True)
def test_without_script_the_form_and_the_table_still_work(visitor: Visitor):
    story()
    page = visitor.page
    page.goto(f"{visitor.address}/inference")
    page.get_by_label("Up").select_option("median_ttft")
    page.get_by_role("button", name="Show").click()
    assert "y=median_ttft" in page.url
    assert page.locator("tbody tr").count() == 17


def test_no_data_is_a_designed_state(visitor: Visitor):
    page = visitor.open("/inference")
    assert "manage.py ingest_path" in page.locator(".empty").inner_text()
    assert visitor.accessibility() == []
    assert visitor.trouble() == []
