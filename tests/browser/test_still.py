"""The still picture: there before the script draws, and where the plot will be."""

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Visitor
from tests.browser.test_inference_filters import settle
from tests.pages.builders import story

pytestmark = pytest.mark.django_db(transaction=True)

# Where the ends of the lines are on the screen, by the still picture and by plotly.
STILL = """() => [...document.querySelectorAll("[data-still] [data-role=frontier]")]
  .map((path) => [0, path.getTotalLength()].map((at) => {
    const { x, y } = path.getPointAtLength(at).matrixTransform(path.getScreenCTM());
    return [x, y];
  }))"""
PLOTTED = """() => {
  const plot = document.querySelector("[data-plot]");
  const { left, top } = plot.getBoundingClientRect();
  const { xaxis, yaxis } = plot._fullLayout;
  const place = (x, y) => [
    left + xaxis._offset + xaxis.d2p(x), top + yaxis._offset + yaxis.d2p(y)];
  return plot.data.filter((trace) => trace.meta.role === "frontier")
    .map(({ x, y }) => [place(x[0], y[0]), place(x.at(-1), y.at(-1))]);
}"""
# As near as its axes are to plotly's, which knows how large markers are.
NEAR_PX = 12


def without_plotly(page: Page, url: str) -> None:
    page.route("**/plotly*", lambda route: route.abort())
    page.goto(url)
    expect(page.locator("[data-still]")).to_be_visible()
    page.unroute("**/plotly*")


@pytest.mark.parametrize(
    "visitor",
    [{}, {"viewport": {"width": 390, "height": 844}, "color_scheme": "dark"}],
    indirect=True,
)
@pytest.mark.parametrize("query", ["", "?logx=1&logy=1"])
def test_the_picture_is_where_the_plot_comes(visitor: Visitor, query: str):
    story()
    url = f"{visitor.address}/inference{query}"
    without_plotly(visitor.page, url)
    still = visitor.page.evaluate(STILL)
    colour = visitor.page.evaluate(
        "() => getComputedStyle(document.querySelector('[data-role]')).stroke"
    )
    assert colour.startswith("rgb"), "light-dark() has no effect"
    page = visitor.open(f"/inference{query}")
    plotted = page.evaluate(PLOTTED)
    assert len(still) == len(plotted) >= 2
    for ends in zip(still, plotted, strict=True):
        assert near(*ends), ends


def near(still: Any, plotted: Any) -> bool:
    return all(
        abs(one - other) <= NEAR_PX
        for place, real in zip(still, plotted, strict=True)
        for one, other in zip(place, real, strict=True)
    )


def test_the_picture_goes_when_the_chart_is_drawn_also_after_a_change(
    visitor: Visitor,
):
    story()
    page = visitor.open("/inference")
    assert page.locator("[data-still]").count() == 0
    page.check("#filter-logx")
    page.wait_for_url("**logx**")
    settle(page)
    assert page.locator("[data-still]").count() == 0
    assert visitor.trouble() == []


@pytest.mark.parametrize("visitor", [{"java_script_enabled": False}], indirect=True)
def test_without_script_the_picture_stays_and_says_what_it_is(visitor: Visitor):
    story()
    visitor.page.goto(f"{visitor.address}/inference")
    expect(visitor.page.locator("[data-still]")).to_be_visible()
    said = visitor.page.get_by_text("the chart is a still picture")
    expect(said).to_be_visible()
    expect(said).to_contain_text("Median interactivity (tok/s/user) across")
    expect(said).to_contain_text("Total throughput per GPU (tok/s/GPU) up")
    # Each point is its marker, not a dot.
    expect(visitor.page.locator(".still-marks use").first).to_be_visible()
    expect(visitor.page.locator(".still-dots").first).to_have_css("display", "none")


def test_until_the_plot_comes_points_are_dots_which_are_quick(visitor: Visitor):
    story()
    without_plotly(visitor.page, f"{visitor.address}/inference")
    expect(visitor.page.locator(".still-dots").first).to_have_css("display", "inline")
    expect(visitor.page.locator(".still-marks")).to_have_count(0)
