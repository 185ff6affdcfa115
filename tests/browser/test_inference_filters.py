"""The inference page under a reader's hands: filters, cursor, zoom, Back, files."""

import re

import pytest
from playwright.sync_api import Page, expect

from dashboard.models import Sweep
from tests.browser.conftest import Visitor
from tests.pages.builders import add_points, curve, official_sweep, story

pytestmark = pytest.mark.django_db(transaction=True)

NARROW = {"viewport": {"width": 390, "height": 844}}
SETTLED = """() => {
  const view = document.getElementById("view");
  const plot = view.querySelector("[data-plot]");
  return !view.querySelector("[aria-busy]") && !view.hasAttribute("aria-busy")
    && (!plot || plot.dataset.drawn !== undefined)
    && !view.querySelector("[data-later]");
}"""
# Where a value of x is on the screen, and the middle of the plot.
PLACE_OF = """(x) => {
  const plot = document.querySelector("[data-plot]");
  const { left, top } = plot.getBoundingClientRect();
  const { xaxis, yaxis } = plot._fullLayout;
  return [left + xaxis._offset + xaxis.d2p(x), top + yaxis._offset + yaxis._length / 4];
}"""
DRAWN = """() => document.querySelector("[data-plot]").data
  .filter((t) => t.visible !== false && t.meta.role === "frontier")
  .map((t) => t.meta.key).sort()"""
RANGE = """() => document.querySelector("[data-plot]")._fullLayout.xaxis.range"""


def settle(page: Page) -> None:
    """Wait until the answer to the last change is drawn."""
    page.wait_for_function(SETTLED)


def click_at(page: Page, x: float) -> None:
    left, top = page.evaluate(PLACE_OF, x)
    page.mouse.click(left, top)


def view_of(page: Page) -> tuple[object, ...]:
    """Return what one sees: title, lines, axes, rows, ranking."""
    return (
        page.locator("h1").inner_text(),
        page.evaluate(DRAWN) if page.locator("[data-plot]").count() else None,
        page.locator("#chart-title").all_inner_texts(),
        page.locator("#points tbody tr:visible").all_inner_texts(),
        page.locator("#ranking tbody tr").all_inner_texts(),
    )


def mixed() -> dict[str, Sweep]:
    sweeps = story()
    add_points(official_sweep("agentic-key", scenario="agentic-traces"))
    curve("other-model", key_fields={"model": "dsr1"})
    return sweeps


CHANGES = [
    ("Model", "DeepSeek-R1-0528", "model=DeepSeek-R1-0528"),
    ("Scenario", "agentic-traces", "scenario=agentic-traces"),
    ("Across", "median_ttft", "x=median_ttft"),
    ("Up", "output_tput_per_gpu", "y=output_tput_per_gpu"),
    ("KV offload", "without", "offload=without"),
]
CHECKS = [
    ("AMD", "vendor=AMD"),
    ("B200", "hardware=b200"),
    ("SGLang", "framework=sglang"),
    ("fp8", "precision=fp8"),
    ("mtp", "spec=mtp"),
    ("disaggregated", "deployment=disaggregated"),
    ("only frontier", "optimal=1"),
    ("former sweep", "ghost=1"),
    ("log x", "logx=1"),
    ("log y", "logy=1"),
]


@pytest.mark.parametrize(("label", "value", "query"), CHANGES)
def test_a_choice_is_in_the_address_back_undoes_and_a_copy_shows_the_same(
    visitor: Visitor, label: str, value: str, query: str
):
    mixed()
    page = visitor.open("/inference?model=qwen3.5&scenario=8k/1k")
    before = view_of(page)
    page.get_by_label(label, exact=True).select_option(value)
    page.wait_for_url(f"**{query}*")
    settle(page)
    after = view_of(page)
    _check_back_and_copy(visitor, before, after)


@pytest.mark.parametrize(("label", "query"), CHECKS)
def test_a_check_box_is_in_the_address_back_undoes_and_a_copy_shows_the_same(
    visitor: Visitor, label: str, query: str
):
    mixed()
    page = visitor.open("/inference?model=qwen3.5&scenario=8k/1k")
    before = view_of(page)
    page.locator("#filters").get_by_label(label, exact=True).check()
    page.wait_for_url(f"**{query}*")
    settle(page)
    after = view_of(page)
    _check_back_and_copy(visitor, before, after)


def _check_back_and_copy(
    visitor: Visitor, before: tuple[object, ...], after: tuple[object, ...]
) -> None:
    page = visitor.page
    copied = page.url.removeprefix(visitor.address)
    page.go_back()
    page.wait_for_url("**/inference?model=qwen3.5&scenario=8k/1k")
    settle(page)
    page.wait_for_timeout(50)
    settle(page)
    assert view_of(page) == before
    visitor.open(copied)
    assert view_of(page) == after
    assert visitor.trouble() == []


def test_a_filter_changes_without_leaving_the_page(visitor: Visitor):
    story()
    page = visitor.open("/inference")
    page.evaluate("window.stayed = true")
    page.locator("#filters").get_by_label("AMD").check()
    page.wait_for_url("**vendor=AMD*")
    settle(page)
    assert page.evaluate("window.stayed")
    assert page.evaluate(DRAWN) == ["qwen3.5-fp4-mi355x-sglang"]
    assert page.title().startswith("Qwen-3.5-397B-A17B 8k/1k")


def test_keys_are_found_and_chosen(visitor: Visitor):
    story()
    for n in range(6):
        curve(f"more-{n}")
    page = visitor.open("/inference")
    page.locator("[data-key-filter] > summary").click()
    page.get_by_label("Find a key to filter by").fill("more-3")
    expect(page.locator(".key-list .check:visible")).to_have_count(1)
    page.locator("#filter-key-more-3").check()
    page.wait_for_url("**key=more-3*")
    settle(page)
    assert page.evaluate(DRAWN) == ["more-3"]


def test_a_date_is_chosen_and_a_refusal_is_shown_in_place(visitor: Visitor):
    story()
    page = visitor.open("/inference")
    page.get_by_label("As of", exact=True).fill("2026-12-31")
    page.wait_for_url("**date=2026-12-31*")
    settle(page)
    assert "on 2026-12-31" in page.locator(".lede").inner_text()
    page.get_by_label("Official since").fill("2027-12-31")
    page.wait_for_url("**from=2027-12-31*")
    expect(page.get_by_role("alert")).to_contain_text("from: later than")
    page.go_back()
    page.wait_for_selector("[data-plot][data-drawn]")
    assert [t for t in visitor.trouble() if "400" not in t] == []


def test_a_click_into_the_chart_ranks_the_keys_there(visitor: Visitor):
    story()
    page = visitor.open("/inference")
    click_at(page, 50)
    page.wait_for_url("**at=*")
    expect(page.locator("[data-rank]")).to_have_count(3)
    at = float(page.locator("#ranking-at").input_value())
    assert at == pytest.approx(50, rel=0.03)
    assert page.locator("[data-cursor]").get_attribute("aria-valuenow") == f"{at:g}"
    copied = page.url.removeprefix(visitor.address)
    before = view_of(page)
    visitor.open(copied)
    assert view_of(page) == before
    assert visitor.trouble() == []


def test_the_cursor_is_dragged_typed_and_stepped(visitor: Visitor):
    story()
    page = visitor.open("/inference?at=50")
    left, top = page.evaluate(PLACE_OF, 50)
    page.mouse.move(left, top)
    page.mouse.down()
    target, _ = page.evaluate(PLACE_OF, 150)
    page.mouse.move((left + target) / 2, top)
    page.mouse.move(target, top)
    page.mouse.up()
    page.wait_for_url(re.compile(r"at=1[45]\d"))
    settle(page)
    expect(page.locator("[data-rank]")).to_have_count(3)
    page.locator("#ranking-at").fill("200")
    page.locator("#ranking-at").press("Enter")
    page.wait_for_url("**at=200*")
    settle(page)
    expect(page.locator("[data-rank]")).to_have_count(1)
    cursor = page.locator("[data-cursor]")
    cursor.focus()
    cursor.press("ArrowRight")
    page.wait_for_url(re.compile(r"at=20[1-9]"))
    settle(page)
    assert visitor.trouble() == []


def test_hidden_keys_leave_chart_table_and_ranking_and_stay_in_the_address(
    visitor: Visitor,
):
    story()
    page = visitor.open("/inference?at=50")
    page.get_by_role("button", name="qwen3.5-fp4-b200-trt-mtp").click()
    expect(page.locator("[data-rank]")).to_have_count(2)
    assert "hide=qwen3.5-fp4-b200-trt-mtp" in page.url
    assert len(page.evaluate(DRAWN)) == 2
    before = view_of(page)
    visitor.open(page.url.removeprefix(visitor.address))
    assert view_of(page) == before
    page.get_by_role("button", name="Show all").click()
    expect(page.locator("[data-rank]")).to_have_count(3)
    assert "hide=" not in page.url
    assert visitor.trouble() == []


def test_the_zoom_outlives_a_filter_and_a_copied_address(visitor: Visitor):
    story()
    page = visitor.open("/inference")
    left, top = page.evaluate(PLACE_OF, 40)
    right, _ = page.evaluate(PLACE_OF, 140)
    page.mouse.move(left, top)
    page.mouse.down()
    page.mouse.move((left + right) / 2, top + 100)
    page.mouse.move(right, top + 200)
    page.mouse.up()
    page.wait_for_url("**zoom=*")
    zoomed = page.evaluate(RANGE)
    assert zoomed == pytest.approx([40, 140], abs=3)
    page.locator("#filters").get_by_label("AMD").check()
    page.wait_for_url("**vendor=AMD*")
    settle(page)
    assert page.evaluate(RANGE) == pytest.approx(zoomed, rel=0.001)
    visitor.open(page.url.removeprefix(visitor.address))
    assert page.evaluate(RANGE) == pytest.approx(zoomed, rel=0.001)
    page.get_by_role("button", name="Reset zoom").click()
    page.wait_for_function(f"({RANGE})()[0] < 20")
    assert "zoom=" not in page.url
    assert "at=" not in page.url
    page.get_by_label("Up", exact=True).select_option("median_ttft")
    page.wait_for_url("**y=median_ttft*")
    settle(page)
    assert "zoom=" not in page.url
    assert visitor.trouble() == []


def test_a_header_sorts_the_table_alone(visitor: Visitor):
    story()
    page = visitor.open("/inference")
    page.evaluate("document.querySelector('[data-plot]').kept = true")
    page.get_by_role("link", name="Concurrency", exact=True).click()
    page.wait_for_url("**sort=concurrency*")
    header = page.locator("#points th[aria-sort]")
    expect(header).to_have_attribute("aria-sort", "ascending")
    header.get_by_role("link", name="Concurrency", exact=True).click()
    page.wait_for_url("**sort=-concurrency*")
    expect(page.locator("#points tbody tr").first).to_contain_text("2048")
    assert page.evaluate("document.querySelector('[data-plot]').kept")
    page.locator("#filters").get_by_label("AMD").check()
    page.wait_for_url("**vendor=AMD*")
    settle(page)
    assert "sort=-concurrency" in page.url
    page.locator("#points tbody tr").last.hover()
    page.wait_for_selector("[data-plot] .hovertext")
    assert visitor.trouble() == []


def test_a_failing_server_is_said_and_the_view_stays(visitor: Visitor):
    story()
    page = visitor.open("/inference")
    page.route("**/inference?*", lambda route: route.fulfill(status=503, body="busy"))
    page.locator("#filters").get_by_label("AMD").check()
    expect(page.locator("[data-failed]")).to_contain_text("It said 503.")
    assert len(page.evaluate(DRAWN)) == 3
    assert visitor.accessibility() == []
    page.unroute("**/inference?*")
    page.get_by_role("button", name="Try again").click()
    page.wait_for_url("**vendor=AMD*")
    settle(page)
    expect(page.locator("[data-failed]")).to_be_hidden()
    assert len(page.evaluate(DRAWN)) == 1


def test_waiting_is_said_and_shown(visitor: Visitor):
    story()
    page = visitor.open("/inference")
    page.route("**/inference?*", lambda _route: None)
    page.locator("#filters").get_by_label("AMD").check()
    expect(page.locator("#view")).to_have_attribute("aria-busy", "true")
    page.wait_for_selector("#view.is-late")
    page.unroute_all(behavior="ignoreErrors")


def test_the_keyboard_alone_finds_ranks_and_hides(visitor: Visitor):
    story()
    page = visitor.open("/inference")
    keys = page.keyboard
    keys.press("Tab")
    keys.press("Enter")  # the skip link
    reached: list[str] = []
    for _ in range(60):
        keys.press("Tab")
        reached.append(page.evaluate("document.activeElement.id"))
        if reached[-1] == "ranking-at":
            break
    assert {"filter-model", "filter-x", "filter-optimal"} <= set(reached)
    keys.type("50")
    keys.press("Enter")
    page.wait_for_url("**at=50*")
    settle(page)
    expect(page.locator("[data-rank]")).to_have_count(3)
    assert page.evaluate("document.activeElement.id") == "ranking-at"
    page.locator("#filter-optimal").focus()
    keys.press("Space")
    page.wait_for_url("**optimal=1*")
    settle(page)
    assert page.evaluate("document.activeElement.id") == "filter-optimal"
    page.locator(".legend-key").first.focus()
    keys.press("Enter")
    expect(page.locator("[data-rank]")).to_have_count(2)
    assert visitor.trouble() == []


def test_from_the_first_page_to_the_best_run_in_under_five_clicks(visitor: Visitor):
    sweeps = mixed()
    page = visitor.open("/")
    page.get_by_role("navigation").get_by_role("link", name="Inference").click()  # 1
    page.wait_for_selector("[data-plot][data-drawn]")
    page.get_by_label("Model", exact=True).select_option("Qwen-3.5-397B-A17B")  # 2
    settle(page)
    page.get_by_label("at which keys are ranked").first.fill("50")  # 3
    page.keyboard.press("Enter")
    page.wait_for_url("**at=50*")
    settle(page)
    answer = page.locator(".ranking-answer")
    expect(answer).to_contain_text("1,800 tok/s/GPU")
    answer.get_by_role("link").click()  # 4
    page.wait_for_url("**/runs/*")
    runs = {str(sweep.run.github_run_id) for sweep in sweeps.values()}
    assert page.url.rsplit("/", 1)[-1] in runs


@pytest.mark.parametrize("visitor", [{"java_script_enabled": False}], indirect=True)
def test_without_script_ranking_and_sorting_work(visitor: Visitor):
    story()
    page = visitor.page
    page.goto(f"{visitor.address}/inference?vendor=NVIDIA")
    page.locator("#ranking-at").fill("50")
    page.get_by_role("button", name="Rank").click()
    assert {"at=50", "vendor=NVIDIA"} <= set(page.url.split("?")[1].split("&"))
    assert page.locator("[data-rank]").count() == 2
    page.get_by_role("link", name="Concurrency", exact=True).click()
    assert {"at=50", "sort=concurrency"} <= set(page.url.split("?")[1].split("&"))


@pytest.mark.parametrize(
    "visitor",
    [{}, NARROW | {"color_scheme": "dark"}],
    indirect=True,
    ids=["wide-light", "narrow-dark"],
)
@pytest.mark.parametrize(
    "path",
    ["/inference?at=50&ghost=1&sort=gpus", "/inference?precision=bf16", "/inference"],
)
def test_axe_finds_nothing_in_any_state(visitor: Visitor, path: str):
    story()
    page = visitor.open(path)
    for summary in page.locator(".why > summary").all():
        summary.click()
    assert visitor.accessibility() == []
    overflow = "document.documentElement.scrollWidth - window.innerWidth"
    assert page.evaluate(overflow) <= 0
