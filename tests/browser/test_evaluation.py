"""The evaluation page and its samples in a real browser: drawn, quiet, accessible."""

from typing import Any

import pytest
from playwright.sync_api import Page, Route, expect

from tests.browser.conftest import Visitor
from tests.factories import (
    DeploymentFactory,
    EvalResultFactory,
    EvalSampleFactory,
)
from tests.verdict_builders import official, unofficial

pytestmark = pytest.mark.django_db(transaction=True)

NARROW = {"viewport": {"width": 390, "height": 844}}
DARK = {"color_scheme": "dark"}
FIGURE = '[data-figure="evaluation-figure"]'
PLACE = """(place) => {
  const plot = document.querySelector('[data-figure="evaluation-figure"] [data-plot]');
  const { left, top } = plot.getBoundingClientRect();
  const { xaxis, yaxis } = plot._fullLayout;
  const trace = plot.data.find((t) => t.meta.role === "eval");
  return [
    left + xaxis._offset + xaxis.d2p(trace.x[place]),
    top + yaxis._offset + yaxis.d2p(trace.y[place]),
  ];
}"""


def evals() -> Any:
    """Two official sweeps, a run of a link, and samples of the newest official eval."""
    base, newest, mine = official(0), official(1), unofficial(2)
    where = {"deployment": DeploymentFactory(tp=2), "config_key": base.config_key}
    for sweep, strict in ((base, 0.9697), (newest, 0.9545), (mine, 0.8947)):
        for concurrency in (64, 256):
            result = EvalResultFactory(
                run=sweep.run,
                scenario=sweep.scenario,
                concurrency=concurrency,
                strict=strict,
                flexible=strict,
                **where,
            )
            if sweep != mine:
                for doc, name in ((1, "strict-match"), (1, "flexible-extract")):
                    EvalSampleFactory(
                        eval=result,
                        doc_id=doc,
                        filter=name,
                        passed=sweep == base,
                        prompt="how many?",
                        answer="<b>four</b>",
                    )
    return mine


def opened(visitor: Visitor, query: str = "") -> Page:
    page = visitor.open(f"/evaluation{query}")
    expect(page.locator("[data-plot][data-drawn]")).to_have_count(1)
    return page


def test_a_hovered_dot_says_its_score_and_lights_its_row(visitor: Visitor):
    evals()
    page = opened(visitor)
    page.locator(FIGURE).scroll_into_view_if_needed()
    x, y = page.evaluate(PLACE, 0)
    page.mouse.move(x - 40, y)
    page.mouse.move(x, y)
    page.wait_for_selector(f"{FIGURE} .hovertext")
    text = page.locator(f"{FIGURE} .hovertext").text_content() or ""
    assert "gsm8k strict 0.9545" in text
    assert "worse" in text
    lit = page.locator('[data-rows="evaluation-figure"] tr.is-lit')
    expect(lit).to_contain_text("-1.52 pp")
    expect(page.locator(f"{FIGURE} .annotation-text")).to_have_text("floor 0.94")
    assert visitor.trouble() == []


def test_samples_open_beside_the_list_and_give_the_focus_back(visitor: Visitor):
    evals()
    page = opened(visitor)
    link = page.get_by_role("link", name="Samples of gsm8k TP2 c64")
    link.click()
    drawer = page.locator("#drawer")
    expect(drawer.locator("li.sample")).to_have_count(1)
    expect(drawer).to_contain_text("1 lost, 0 won")
    drawer.locator("summary", has_text="Answer").click()
    expect(drawer.locator("pre", has_text="four")).to_have_text("<b>four</b>")
    assert visitor.accessibility() == []
    drawer.get_by_label("Show").select_option("failed")
    drawer.get_by_role("button", name="Show").click()
    expect(drawer.locator("li.sample")).to_have_count(1)
    page.keyboard.press("Escape")
    expect(drawer).to_be_hidden()
    expect(link).to_be_focused()
    assert visitor.trouble() == []


def test_an_answer_after_the_drawer_was_closed_does_not_open_it(visitor: Visitor):
    evals()
    page = opened(visitor)
    page.get_by_role("link", name="Samples of gsm8k TP2 c64").click()
    drawer = page.locator("#drawer")
    expect(drawer.locator("li.sample")).to_have_count(1)
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    page.route("**/evaluation/samples/**", hold)
    with page.expect_request("**/evaluation/samples/**"):
        drawer.get_by_role("button", name="Show").click()
    page.keyboard.press("Escape")
    expect(drawer).to_be_hidden()
    with page.expect_response("**/evaluation/samples/**") as answered:
        held[0].continue_()
    answered.value.finished()
    page.evaluate("() => new Promise(requestAnimationFrame)")
    expect(drawer).to_be_hidden()
    assert visitor.trouble() == []


@pytest.mark.parametrize("visitor", [{}, DARK, NARROW | DARK], indirect=True)
def test_axe_finds_nothing_and_nothing_scrolls_sideways(visitor: Visitor):
    mine = evals()
    for query in ("", f"?unofficialRun={mine.run.github_run_id}", "?state=fail"):
        page = visitor.open(f"/evaluation{query}")
        assert visitor.accessibility() == []
        overflow = "document.documentElement.scrollWidth - window.innerWidth"
        assert page.evaluate(overflow) <= 0
    assert visitor.trouble() == []


def test_pictures_have_the_floor_and_the_source(visitor: Visitor):
    evals()
    page = opened(visitor)
    with page.expect_download() as waiting:
        page.get_by_role("button", name="SVG").click()
    text = waiting.value.path().read_text()
    for expected in ("floor 0.94", "Source: Frontierboard", "TP2 c64"):
        assert expected in text


@pytest.mark.parametrize(
    ("visitor", "ground"),
    [({}, "rgb(255, 255, 255)"), (DARK, "rgb(21, 27, 33)")],
    indirect=["visitor"],
)
def test_ring_and_dot_of_what_passed_are_of_the_ground(visitor: Visitor, ground: str):
    evals()
    page = opened(visitor)
    ring = "() => getComputedStyle(document.querySelector('.scatter .point')).stroke"
    assert page.evaluate(ring) == ground
