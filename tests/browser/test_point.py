"""The page of a point in a real browser: drawn, asked, quiet, accessible."""

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from dashboard.models import IngestRequest, Point
from ingest.progress import silent
from ingest.traces import read_trace
from tests import factories
from tests.browser.conftest import Visitor
from tests.traces import agentic_point, lines, record, warm_up

pytestmark = pytest.mark.django_db(transaction=True)

NARROW = {"viewport": {"width": 390, "height": 844}}
DARK = {"color_scheme": "dark"}
# The part is polled every two seconds, and draws seven charts when it is there.
PATIENCE_MS = 30_000
METRICS = {
    **{f"{s}_ttft": v for s, v in (("median", 0.5), ("p90", 0.9), ("p99", 2.0))},
    **{f"{s}_itl": v for s, v in (("median", 0.01), ("p90", 0.02))},
    **{f"{s}_intvty": v for s, v in (("median", 100.0), ("p90", 50.0))},
    "server_gpu_cache_hit_rate": 0.9,
    "gpu_kv_cache_usage_pct": 0.4,
    "tput_per_gpu": 100.0,
}


def replay(content: bytes | None = None, **given: Any) -> Point:
    requests = [
        record(n, float(n), metadata={"conversation_id": f"t{n % 7}"})
        for n in range(60)
    ]
    body = content or lines(
        warm_up(), *requests, record(error={"type": "reset"}), b"no json"
    )
    return agentic_point(body, metrics=METRICS, **given)


def opened(visitor: Visitor, point: Point, charts: int) -> Page:
    page = visitor.open(f"/points/{point.pk}")
    expect(page.locator("[data-plot][data-drawn]")).to_have_count(charts)
    return page


def test_requests_are_asked_for_and_come_without_a_reload(visitor: Visitor):
    point = replay()
    page = opened(visitor, point, 4)
    page.get_by_role("button", name="Read the requests").click()
    expect(page.locator("#requests")).to_contain_text("waits for a worker")
    read_trace(point.pk, silent)
    IngestRequest.objects.update(state="done")
    shown = page.locator("#requests")
    expect(shown).to_contain_text("Showing all 62 requests", timeout=PATIENCE_MS)
    drawn = page.locator("[data-plot][data-drawn]")
    expect(drawn).to_have_count(11, timeout=PATIENCE_MS)
    lanes = page.evaluate(
        """() => document.querySelector('[data-figure="figure-requests"] [data-plot]')
          ._fullLayout.yaxis.ticktext.length"""
    )
    assert lanes == 8
    assert visitor.accessibility() == []
    assert visitor.trouble() == []


@pytest.mark.parametrize("visitor", [{}, DARK, NARROW | DARK], indirect=True)
def test_axe_finds_nothing_and_nothing_scrolls_sideways(visitor: Visitor):
    whole = replay()
    read_trace(whole.pk, silent)
    bare = factories.PointFactory(
        sweep=factories.SweepFactory(official=True), metrics={}
    )
    for point in (whole, bare):
        page = visitor.open(f"/points/{point.pk}")
        assert visitor.accessibility() == []
        overflow = "document.documentElement.scrollWidth - window.innerWidth"
        assert page.evaluate(overflow) <= 0
    assert visitor.trouble() == []


@pytest.mark.parametrize("visitor", [{"java_script_enabled": False}], indirect=True)
def test_without_a_script_the_tables_say_it_all(visitor: Visitor):
    point = replay()
    read_trace(point.pk, silent)
    page = visitor.page
    page.goto(f"{visitor.address}/points/{point.pk}")
    expect(page.locator("#requests")).to_contain_text("Showing all 62 requests")
    page.get_by_text("As a table; the files hold all 62").click()
    row = page.locator("#requests tbody tr", has_text="t2").first
    expect(row).to_be_visible()
    expect(row).to_contain_text("measured")


def test_a_click_on_a_drawn_point_opens_its_page(visitor: Visitor):
    sweep = factories.SweepFactory(official=True)
    point = factories.PointFactory(sweep=sweep)
    page = visitor.open("/inference")
    x, y = page.evaluate(
        """() => {
          const plot = document.querySelector("[data-plot]");
          const { left, top } = plot.getBoundingClientRect();
          const { xaxis, yaxis } = plot._fullLayout;
          const [trace] = plot.data;
          return [
            left + xaxis._offset + xaxis.d2p(trace.x[0]),
            top + yaxis._offset + yaxis.d2p(trace.y[0]),
          ];
        }"""
    )
    page.mouse.move(x - 30, y)
    page.mouse.move(x, y)
    page.wait_for_selector(".hovertext")
    page.mouse.click(x, y)
    page.wait_for_url(f"**/points/{point.pk}")
    assert visitor.trouble() == []
