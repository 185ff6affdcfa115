"""Two runs held against each other, and verdicts, in a real browser."""

from typing import Any

import pytest

from tests.browser.conftest import Visitor
from tests.factories import ChangelogEntryFactory, EvalResultFactory
from tests.verdict_builders import official, unofficial

pytestmark = pytest.mark.django_db(transaction=True)
SIZES = [
    pytest.param({"viewport": {"width": 1440, "height": 900}}, id="wide"),
    pytest.param(
        {"viewport": {"width": 390, "height": 844}, "color_scheme": "dark"},
        id="narrow dark",
    ),
]


@pytest.fixture
def pair() -> tuple[int, int]:
    """An official run and a slower one of a pull request, with evals and changelog."""
    base, head = official(0, image="img:1"), unofficial(3, scale=0.9, image="img:2")
    for sweep in (base, head):
        EvalResultFactory(run=sweep.run, config_key=sweep.config_key)
    ChangelogEntryFactory(run=head.run)
    return base.run.github_run_id, head.run.github_run_id


def is_wider_than_the_window(visitor: Visitor) -> Any:
    return visitor.page.evaluate(
        "document.documentElement.scrollWidth > window.innerWidth"
    )


@pytest.mark.parametrize("visitor", SIZES, indirect=True)
def test_a_comparison_is_drawn_and_accessible(visitor: Visitor, pair) -> None:
    page = visitor.open("/compare?base={}&head={}".format(*pair))
    drawn = page.evaluate(
        "document.querySelector('[data-plot]').data.map((t) => t.meta.role)"
    )
    assert drawn == ["gap", *["frontier", "frontier points"] * 2]
    assert page.locator(".js-fill path, .js-fill").count()
    assert not is_wider_than_the_window(visitor)
    assert visitor.accessibility() == []
    assert visitor.trouble() == []


def test_the_sentence_is_copied(visitor: Visitor, pair) -> None:
    visitor.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page = visitor.open("/compare?base={}&head={}".format(*pair))
    sentence = page.locator("#sentence-0").inner_text()
    page.get_by_role("button", name="Copy", exact=True).click()
    page.get_by_role("button", name="Copied", exact=True).wait_for()
    assert page.evaluate("navigator.clipboard.readText()") == sentence
    assert sentence.startswith(f"run {pair[1]}, ")


def test_one_gets_from_the_banner_to_the_comparison_and_back(
    visitor: Visitor, pair
) -> None:
    page = visitor.open(f"/inference?unofficialRun={pair[1]}")
    verdict = page.locator(".asked-verdict")
    assert "image differs: -10.0 %" in verdict.inner_text()
    assert visitor.accessibility() == []
    verdict.get_by_role("link", name="Compare").click()
    page.wait_for_selector("[data-plot][data-drawn]")
    page.get_by_role("link", name="Swap base and head").click()
    page.wait_for_selector("[data-plot][data-drawn]")
    assert "improvement" in page.locator("#sentence-0").inner_text()
    assert visitor.trouble() == []


@pytest.mark.parametrize("visitor", SIZES, indirect=True)
def test_states_and_run_pages_are_accessible(visitor: Visitor, pair) -> None:
    for path in (
        "/compare",
        "/compare?base={0}&head={0}".format(*pair),
        f"/runs/{pair[1]}",
    ):
        visitor.open(path)
        assert visitor.accessibility() == []
        assert not is_wider_than_the_window(visitor)
    assert visitor.trouble() == []
