"""Runs of a link in a real browser: drawn, followed while fetched, dismissed."""

from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone
from playwright.sync_api import Route, expect

from dashboard.models import IngestRequest
from tests.browser.conftest import Visitor
from tests.factories import EvalResultFactory, IngestRequestFactory
from tests.ingest import golden
from tests.pages.builders import curve
from tests.pages.test_unofficial import overlaid

pytestmark = pytest.mark.django_db(transaction=True)

NARROW = {"viewport": {"width": 390, "height": 844}}
KEY = "qwen3.5-fp4-mi355x-sglang"
OVERLAY_TRACES = """() => document.querySelector("[data-plot]").data
  .filter((trace) => trace.meta.role === "overlay")
  .map((trace) => ({
    key: trace.meta.key, symbol: trace.marker.symbol, dash: trace.line.dash,
    color: trace.line.color, x: trace.x,
  }))"""
FAILED, CANCELLED, AGENTIC = 33484262630, 33588417338, 31900000004


def overlays(page: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = page.evaluate(OVERLAY_TRACES)
    return found


def test_run_of_the_link_is_drawn_dashed_and_marked_with_x(visitor: Visitor):
    curve(KEY)
    run = overlaid(run_fields={"branch": "feature/<i>fast</i>"})
    page = visitor.open(f"/inference?unofficialRun={run.github_run_id}")
    (line,) = overlays(page)
    assert line["symbol"] == "x"
    assert "px" in line["dash"]
    assert page.locator("[data-plot] .js-line").count() == 2
    banner = page.locator(f'[data-run="{run.github_run_id}"]')
    expect(banner).to_contain_text("feature/<i>fast</i>")
    expect(banner).to_contain_text("3 of 3 points")
    assert page.locator("tbody tr").count() == 7
    page.locator("tbody tr").first.hover()
    expect(page.locator(".hovertext").first).to_be_visible()
    assert visitor.trouble() == []


def test_dismissing_one_and_all(visitor: Visitor):
    curve(KEY)
    first, second = overlaid(), overlaid()
    page = visitor.open(
        f"/inference?unofficialRun={first.github_run_id},{second.github_run_id}"
    )
    assert len({line["color"] for line in overlays(page)}) == 2
    page.get_by_role("link", name=f"Dismiss run {first.github_run_id}").click()
    page.wait_for_selector("[data-plot][data-drawn]")
    assert f"unofficialruns={second.github_run_id}" in page.url
    assert len(overlays(page)) == 1
    page.get_by_role("link", name=f"Dismiss run {second.github_run_id}").click()
    page.wait_for_selector("[data-plot][data-drawn]")
    assert overlays(page) == []
    assert visitor.trouble() == []


def test_filters_and_legend_keep_the_run(visitor: Visitor):
    curve(KEY)
    run = overlaid()
    page = visitor.open(f"/inference?unofficialRun={run.github_run_id}")
    page.get_by_label("Up").select_option("output_tput_per_gpu")
    page.wait_for_url("**unofficialruns=**")
    page.wait_for_selector("[data-plot][data-drawn]")
    assert len(overlays(page)) == 1
    page.locator(".legend-key").first.click()
    expect(page.locator("[data-plot] .js-line")).to_have_count(1)
    page.locator(".legend-overlay").hover()
    assert visitor.trouble() == []


def test_progress_turns_into_the_overlay_without_a_reload(visitor: Visitor):
    curve(KEY)
    asked = IngestRequestFactory(
        kind="run",
        github_run_id=555,
        repository="SemiAnalysisAI/InferenceX",
        state="queued",
    )
    page = visitor.open("/inference?unofficialRun=555")
    page.evaluate("() => { window.isSamePage = true; }")
    banner = page.locator('[data-run="555"]')
    expect(banner).to_contain_text("queued")
    rows = IngestRequest.objects.filter(pk=asked.pk)
    rows.update(state="running", step="listing")
    expect(banner).to_contain_text("listing")
    rows.update(step="artifacts", progress_done=12, progress_total=41)
    expect(banner).to_contain_text("12 of 41 artifacts")
    overlaid(run_fields={"github_run_id": 555})
    rows.update(state="done", finished_at=timezone.now())
    expect(banner).to_contain_text("3 of 3 points")
    page.wait_for_selector("[data-plot][data-drawn]")
    page.wait_for_function(
        "document.querySelector('[data-plot]').data.some("
        "(t) => t.meta.role === 'overlay')"
    )
    assert page.evaluate("window.isSamePage")
    assert page.locator("#asked[hx-trigger]").count() == 0
    assert visitor.trouble() == []


def test_first_link_of_an_empty_site_is_followed(visitor: Visitor):
    asked = IngestRequestFactory(
        kind="run",
        github_run_id=555,
        repository="SemiAnalysisAI/InferenceX",
        state="queued",
    )
    page = visitor.open("/inference?unofficialRun=555")
    # It would bring the news as well.
    page.locator("#awaited").evaluate("(awaited) => awaited.remove()")
    banner = page.locator('[data-run="555"]')
    expect(banner).to_contain_text("queued")
    IngestRequest.objects.filter(pk=asked.pk).update(state="running", step="listing")
    expect(banner).to_contain_text("listing")
    assert visitor.trouble() == []


def test_slow_answer_about_the_run_does_not_lose_its_place(visitor: Visitor):
    """An empty page asks for data as well, and replaces what asks for the run."""
    asked = IngestRequestFactory(
        kind="run",
        github_run_id=555,
        repository="SemiAnalysisAI/InferenceX",
        state="queued",
    )
    page = visitor.open("/inference?unofficialRun=555")
    expect(page.locator("#awaited")).to_contain_text("is being fetched")
    held: list[Route] = []

    def hold(route: Route) -> None:
        if route.request.headers.get("hx-target") == "asked" and not held:
            held.append(route)
        else:
            route.continue_()

    page.route("**/inference?*", hold)
    for _ in range(400):  # of 50 ms
        if held:
            break
        page.wait_for_timeout(50)
    page.wait_for_timeout(3500)  # #awaited asks every three seconds
    overlaid(run_fields={"github_run_id": 555})
    IngestRequest.objects.filter(pk=asked.pk).update(
        state="done", finished_at=timezone.now()
    )
    held[0].continue_()
    expect(page.locator('[data-run="555"]')).to_contain_text("3 of 3 points")
    assert visitor.trouble() == []


def test_evaluation_turns_as_well(visitor: Visitor):
    asked = IngestRequestFactory(
        kind="run",
        github_run_id=555,
        repository="SemiAnalysisAI/InferenceX",
        state="running",
        step="parsing",
    )
    page = visitor.open("/evaluation?unofficialRun=555")
    expect(page.locator('[data-run="555"]')).to_contain_text("parsing")
    EvalResultFactory(run=overlaid(run_fields={"github_run_id": 555}))
    IngestRequest.objects.filter(pk=asked.pk).update(
        state="done", finished_at=timezone.now()
    )
    expect(page.locator("tbody tr")).to_contain_text(["gsm8k"])
    assert visitor.trouble() == []


@pytest.mark.parametrize(
    "visitor",
    [{}, {"color_scheme": "dark"}, NARROW, NARROW | {"color_scheme": "dark"}],
    indirect=True,
    ids=["wide-light", "wide-dark", "narrow-light", "narrow-dark"],
)
@pytest.mark.parametrize("path", ["/inference", "/evaluation"])
def test_axe_finds_nothing(visitor: Visitor, path: str):
    curve(KEY)
    run = overlaid()
    EvalResultFactory(run=run)
    IngestRequestFactory(
        kind="run",
        github_run_id=555,
        repository="SemiAnalysisAI/InferenceX",
        state="running",
        step="artifacts",
        progress_done=12,
        progress_total=41,
    )
    page = visitor.open(f"{path}?unofficialRun={run.github_run_id},555,abc")
    assert visitor.accessibility() == []
    overflow = "document.documentElement.scrollWidth - window.innerWidth"
    assert page.evaluate(overflow) <= 0


def test_recorded_runs_are_drawn(visitor: Visitor, shared_data: Path):
    golden.import_masters(shared_data)
    for run_id in (AGENTIC, FAILED, CANCELLED):
        golden.ingest(shared_data, run_id)
    page = visitor.open(f"/inference?unofficialRun={CANCELLED}")
    expect(page.locator("h1")).to_contain_text("Agentic")
    assert [line["key"] for line in overlays(page)] == [
        f"{golden.AGENTIC} of run {CANCELLED}"
    ]
    assert page.locator("[data-plot] .js-line").count() == 2
    expect(page.locator("#asked")).to_contain_text("cancelled, 8 missing")
    page = visitor.open(f"/inference?unofficialRun={FAILED}")
    assert len(overlays(page)) == 2
    expect(page.locator("#asked")).to_contain_text("13 of 19 points")
    page = visitor.open(f"/runs/{FAILED}")
    jobs = page.locator('section[aria-labelledby="jobs"] tbody tr')
    assert jobs.count() == 6
    assert all("tp4" in text.lower() for text in jobs.all_inner_texts())
    assert visitor.trouble() == []
