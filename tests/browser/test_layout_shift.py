"""Nothing that was seen moves while a page with charts comes."""

import pytest

from tests.browser.conftest import Visitor
from tests.factories import EvalResultFactory, RunFactory
from tests.pages.builders import curve, story

pytestmark = pytest.mark.django_db(transaction=True)

NARROW = {"viewport": {"width": 390, "height": 844}}
# How far parts of the page moved after they had been seen; 0 is not at all.
MOVED = """() => new Promise((done) => {
  let moved = 0;
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) moved += entry.value;
  }).observe({ type: "layout-shift", buffered: true });
  setTimeout(() => done(moved), 200);
})"""


@pytest.mark.parametrize("visitor", [{}, NARROW], indirect=True, ids=["wide", "narrow"])
@pytest.mark.parametrize("path", ["/inference", "/evaluation", "/calculator"])
def test_nothing_moves_once_it_is_seen(visitor: Visitor, path: str):
    for key in story():
        EvalResultFactory(run=RunFactory(official=True), config_key__key=key)
    for n in range(4):
        curve(f"one-more-key-{n}")
    visitor.page.goto(visitor.address + path, wait_until="load")
    visitor.page.wait_for_selector("[data-plot][data-drawn]")
    assert visitor.page.evaluate(MOVED) == pytest.approx(0, abs=0.0005)
