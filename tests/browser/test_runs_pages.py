"""The run pages in a real browser: readable on any screen, quiet, accessible."""

# mypy: allow-untyped-calls

import pytest
from playwright.sync_api import expect

from dashboard.models import Run
from tests import factories
from tests.browser.conftest import Visitor

pytestmark = pytest.mark.django_db(transaction=True)

SCREENS = [
    {"viewport": {"width": 1440, "height": 900}, "color_scheme": "light"},
    {"viewport": {"width": 1440, "height": 900}, "color_scheme": "dark"},
    {"viewport": {"width": 390, "height": 844}, "color_scheme": "light"},
    {"viewport": {"width": 390, "height": 844}, "color_scheme": "dark"},
]


def eventful_run() -> Run:
    """Make a run that has something to say in every part of its page."""
    run: Run = factories.RunFactory(
        conclusion="cancelled",
        received_count=1,
        planned_count=3,
        attempt=2,
        reuse_source_run_id=777,
    )
    for attempt in (1, 2):
        factories.RunAttemptFactory(run=run, attempt=attempt, conclusion="cancelled")
    sweep = factories.SweepFactory(
        run=run,
        received_count=1,
        planned=[["TP2", 64], ["TP2", 512], ["TP4", 4]],
        planned_count=3,
        acceptance_source="synthetic_by_policy",
        acceptance_length=3.39,
        mapping_candidates=["key-a", "key-b"],
    )
    factories.PointFactory(sweep=sweep, attempt=1, is_current=False)
    factories.PointFactory(
        sweep=sweep, attempt=2, is_out=True, flags=[["littles_law", "16 x too high"]]
    )
    factories.JobFactory(run=run, conclusion="failure")
    factories.EvalResultFactory(run=run, flexible=None)
    factories.SkipFactory.create_batch(7, run=run)
    factories.ArtifactFactory(run=run, state="rejected", reason="cut off")
    factories.ArtifactFactory(run=run, state="expired", expired=True)
    factories.ChangelogEntryFactory(run=run)
    factories.ChangelogEntryFactory(
        run=run, pr_link="PR_LINK_PLACEHOLDER", link_state="placeholder"
    )
    factories.RunStatFactory(run=run)
    factories.CorrectionFactory(run=run)
    return run


@pytest.mark.parametrize("visitor", SCREENS, indirect=True)
def test_run_list_reads_well_on_every_screen(visitor: Visitor):
    eventful_run()
    page = visitor.open("/runs")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert visitor.accessibility() == []
    assert visitor.trouble() == []


@pytest.mark.parametrize("visitor", SCREENS, indirect=True)
def test_run_reads_well_on_every_screen(visitor: Visitor):
    run = eventful_run()
    page = visitor.open(f"/runs/{run.github_run_id}")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert visitor.accessibility() == []
    assert visitor.trouble() == []


@pytest.mark.parametrize("visitor", SCREENS[2:3], indirect=True)
def test_a_wide_plan_scrolls_inside_its_own_box(visitor: Visitor):
    places = [["TP2/EP2 offload=dram:hicache mtp", 2 * n + 1] for n in range(40)]
    sweep = factories.SweepFactory(planned=places, planned_count=40)
    factories.SkipFactory.create_batch(7, run=sweep.run, detail="x" * 300)
    run_id = sweep.run.github_run_id
    page = visitor.open(f"/runs/{run_id}")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    box = page.get_by_role("group", name="Coverage of")
    assert box.evaluate("e => e.scrollWidth > e.clientWidth")
    page = visitor.open(f"/runs/{run_id}/skips")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert visitor.accessibility() == []
    assert visitor.trouble() == []


@pytest.mark.parametrize("visitor", SCREENS[2:3], indirect=True)
@pytest.mark.parametrize(
    ("path", "table", "columns"),
    [
        ("", "Evals", ("Result", "Strict")),
        ("/runs", "Runs", ("Conclusion", "Points")),
    ],
)
def test_what_matters_is_seen_first_on_a_phone(
    visitor: Visitor, path: str, table: str, columns: tuple[str, ...]
):
    run = eventful_run()
    page = visitor.open(path or f"/runs/{run.github_run_id}")
    box = page.locator(
        f".table-scroll[aria-label='{table}'], .table-scroll[aria-labelledby='evals']"
    )
    for name in columns:
        header = box.get_by_role("columnheader", name=name).first
        place = header.bounding_box()
        assert place is not None, name
        assert place["x"] + place["width"] <= 390, name


def test_first_screen_answers_what_how_far_and_whether_it_finished(visitor: Visitor):
    run = eventful_run()
    page = visitor.open(f"/runs/{run.github_run_id}")
    height = page.evaluate("innerHeight")
    for text in (run.title, "cancelled, 2 missing", "Did it finish", "Points received"):
        box = page.get_by_text(text).first.bounding_box()
        assert box is not None, text
        assert box["y"] + box["height"] < height, text


def test_a_reader_finds_a_run_by_its_title_and_comes_back(visitor: Visitor):
    run = eventful_run()
    factories.RunFactory(title="Another one")
    page = visitor.open("/runs")
    page.get_by_label("Id, title, branch, PR or commit").fill(run.title)
    page.get_by_role("button", name="Show").click()
    assert page.get_by_text("Another one").count() == 0
    page.get_by_role("link", name=str(run.github_run_id)).click()
    expect(page.get_by_role("heading", level=1)).to_have_text(run.title)
    page.go_back()
    assert (
        page.get_by_label("Id, title, branch, PR or commit").input_value() == run.title
    )
    assert visitor.trouble() == []
