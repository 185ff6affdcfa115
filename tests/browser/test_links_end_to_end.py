"""From the bot's link to every published figure: GitHub, broker, worker, browser.

The recorded runs are served as GitHub serves them. Readers open their links, which is
all that asks for them; a real worker fetches them through a real broker, and every
figure of the runs' README is read from the pages that Chromium shows.
"""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import requests
from django.conf import settings
from django.core.management import call_command
from django.test import override_settings
from playwright.sync_api import Browser, Page, expect
from pytest_django.live_server_helper import LiveServer

from dashboard.models import IngestRequest
from tests.browser.conftest import Visitor, visiting
from tests.browser.published_figures import Place, Published
from tests.browser.shown_tables import figures_of, place_of, table, words
from tests.github.conftest import serve_recorded
from tests.github_server import TOKEN, Asked, FakeGitHub, Reply
from tests.ingest import golden
from tests.worker.crew import (
    PATIENCE,
    Crew,
    progress_held,
    wait_for,
    wait_until_blocked,
    wait_until_ended,
)

# What the pages show was committed for the module: the tests only read.
pytestmark = pytest.mark.django_db

NOTHING_USABLE, FAILED, CANCELLED = 31544080186, 33484262630, 33588417338
DISCOVERY, MULTINODE = 31560100623, 33400000005
SOURCE, MERGE = 33598359757, 33700000003
TOGETHER = [r for r in golden.RUN_IDS if r not in (FAILED, DISCOVERY)]
MOST_AT_ONCE, OPENINGS = 8, 50
FAILED_PARTS = (
    "p3.000 | qwen3.5 fp4 mi355x sgl TP4",
    "p3.750 | qwen3.5 fp4 mi355x sgl TP4 mtp",
)
CRASH = "gemm_a8w8_bpreshuffle failed for shape M=7237, N=32, K=4096"
TRACES = """() => document.querySelector("[data-plot]").data.map((trace) => ({
  key: trace.meta.key, role: trace.meta.role, points: trace.x.length,
}))"""


class PausedGitHub(FakeGitHub):
    """Lists no jobs before it is told to."""

    def __init__(self) -> None:
        super().__init__()
        self.goes_on = threading.Event()

    def _jobs(self, asked: Asked, repository: str, run_id: str) -> Reply:
        assert self.goes_on.wait(PATIENCE)
        return super()._jobs(asked, repository, run_id)


@dataclass
class Arrived:
    """The site once all runs came by their links, and what was seen meanwhile."""

    address: str
    github: FakeGitHub
    published: Published
    is_same_page: bool = False
    crowd: tuple[list[str], list[str]] = ([], [])


@pytest.fixture(scope="module")
def arrived(
    shared_data: Path,
    browser: Browser,
    django_db_setup: None,
    django_db_blocker: Any,
) -> Iterator[Arrived]:
    """All recorded runs, asked for by nothing but their links.

    They are stored once for the module, so its tests only read.
    """
    with ExitStack() as stack:
        stack.enter_context(django_db_blocker.unblock())
        stack.callback(call_command, "flush", interactive=False, verbosity=0)
        github = stack.enter_context(closing(PausedGitHub()))
        serve_recorded(github, shared_data)
        golden.import_masters(shared_data)
        crew = Crew(Path(settings.DATA))  # shared, for the logs that pages show
        crew.env |= {"GITHUB_API_URL": github.url, "GITHUB_TOKEN": TOKEN}
        stack.callback(crew.stop)
        stack.enter_context(override_settings(GITHUB_TOKEN=TOKEN))
        server = LiveServer("localhost")
        stack.callback(server.stop)
        site = Arrived(server.url, github, Published(shared_data))
        with visiting(browser, server.url) as visit:
            open_together(visit, crew, github)
            follow(visit, crew, github, site)
            assert visit.trouble() == []
        site.crowd = open_fifty_times(server.url)
        yield site
        assert github.leaks == []


def open_together(visit: Visitor, crew: Crew, github: PausedGitHub) -> None:
    """Open links of many runs; each is whole once no page waits any more."""
    github.goes_on.set()
    crew.start()
    for page_name, run_ids in (
        ("inference", TOGETHER[:MOST_AT_ONCE]),
        ("evaluation", TOGETHER[MOST_AT_ONCE:]),
    ):
        page = visit.open(f"/{page_name}?unofficialRun={','.join(map(str, run_ids))}")
        wait_until_all_came(page)
        expect(page.locator("[data-run] h2 a")).to_have_count(len(run_ids))


def wait_until_all_came(page: Page) -> None:
    waiting = page.locator("#asked[hx-trigger]")
    wait_for(lambda: not waiting.count(), "a run of the link never came")


def follow(visit: Visitor, crew: Crew, github: PausedGitHub, site: Arrived) -> None:
    """Follow one run from the moment it is asked for until it is drawn."""
    crew.kill()  # so that the link finds nobody at work
    github.goes_on.clear()
    page = visit.open(f"/inference?unofficialRun={FAILED}")
    page.evaluate("() => { window.isSamePage = true; }")
    banner = page.locator(f'[data-run="{FAILED}"]')
    expect(banner).to_contain_text("queued")
    crew.start()
    wait_for(lambda: "listing" in banner.inner_text(), "the run was never listed")
    with progress_held("artifacts", 12):
        github.goes_on.set()
        wait_until_blocked()
        expect(banner).to_contain_text(f"11 of {len(github.items(FAILED))} artifacts")
    wait_until_all_came(page)
    expect(banner).to_contain_text("13 of 19 points")
    page.wait_for_selector("[data-plot][data-drawn]")
    assert points_drawn(page, FAILED) == {golden.SGLANG: 7, golden.MTP: 6}
    site.is_same_page = page.evaluate("window.isSamePage === true")


def open_fifty_times(address: str) -> tuple[list[str], list[str]]:
    """Open one unknown link fifty times at once; return the pages, and what follows."""
    url = f"{address}/inference?unofficialRun={DISCOVERY}"
    looks = {"HX-Request": "true", "HX-Target": "asked", "X-Waiting": str(DISCOVERY)}
    start = threading.Barrier(OPENINGS)

    def opened(headers: dict[str, str]) -> str:
        start.wait()
        answer = requests.get(url, headers=headers, timeout=PATIENCE)
        answer.raise_for_status()
        return answer.text

    with ThreadPoolExecutor(OPENINGS) as crowd:
        first = list(crowd.map(opened, [{}] * OPENINGS))
        wait_until_ended(IngestRequest.objects.get(github_run_id=DISCOVERY))
        then = list(crowd.map(opened, [looks] * OPENINGS))
    return first, then


@pytest.fixture
def reader(arrived: Arrived, browser: Browser) -> Iterator[Visitor]:
    with visiting(browser, arrived.address) as visit:
        yield visit
        assert visit.trouble() == []


def points_drawn(page: Page, run_id: int) -> dict[str, int]:
    """Return how many points of an unofficial run the chart has, by key."""
    counted: dict[str, int] = {}
    for trace in page.evaluate(TRACES):
        key, _, run = trace["key"].partition(" of run ")
        if run == str(run_id):
            counted[key] = counted.get(key, 0) + trace["points"]
    return counted


# One run at a time


@pytest.mark.parametrize("run_id", golden.RUN_IDS)
def test_run_page_shows_every_published_figure(
    arrived: Arrived, reader: Visitor, run_id: int
) -> None:
    page = reader.open(f"/runs/{run_id}")
    check_points(page, arrived.published.points(run_id))
    check_evals(page, arrived.published.evals(run_id))
    check_sweeps(page, run_id, arrived.published.sweeps(run_id))
    story = arrived.published.story(run_id)
    assert story.event in words(page, ".lede")
    created = page.locator(".lede time").get_attribute("datetime") or ""
    assert created.startswith(story.day)
    assert story.conclusion in words(page, ".stats")
    assert len(table(page, "attempts")) == story.attempts


def check_points(page: Page, published: dict[Place, list[str]]) -> None:
    rows = [r for r in table(page, "points") if r["Counts as"].text == "current"]
    assert {place_of(row) for row in rows} == set(published)
    for row in rows:
        written = published[place_of(row)]
        assert figures_of(row, written) == written, place_of(row)


def check_evals(page: Page, published: dict[Place, list[str]]) -> None:
    shown = {
        place_of(row): [
            row["Strict"].text,
            row["Flexible"].text
            if row["Flexible"].title != "not measured"
            else "absent",
        ]
        for row in table(page, "evals")
    }
    assert shown == published


def check_sweeps(page: Page, run_id: int, published: dict[str, dict[str, str]]) -> None:
    rows = {row["Config key"].text.split()[0]: row for row in table(page, "sweeps")}
    expected, _, skips = golden.EXPECTED[run_id]
    assert rows.keys() == expected.keys() == published.keys()
    for key, (received, planned, checkpoint) in expected.items():
        assert rows[key]["Received"].text == f"{received} of {planned}"
        assert published[key]["usable points"] == str(received)
        assert published[key]["checkpoint (master config)"] == checkpoint
        served = rows[key]["Checkpoint and image"].text.split("\n")
        # Images are those of points.
        image = published[key]["image"] if received else "image unknown"
        assert served[:2] == [checkpoint, image]
    not_taken = page.locator(".stat", has_text="Not taken").locator(".stat-value")
    assert not_taken.inner_text() == str(sum(skips.values()))


# The stories


def test_link_is_followed_live_until_it_is_drawn(arrived: Arrived) -> None:
    assert arrived.is_same_page


def test_no_artifact_was_downloaded_twice(arrived: Arrived) -> None:
    downloads = arrived.github.downloads
    assert len(downloads) > 150
    assert len(downloads) == len(set(downloads))


def test_fifty_openings_at_once_are_one_fetch_and_fifty_right_pages(
    arrived: Arrived,
) -> None:
    first, then = arrived.crowd
    assert arrived.github.count(f"/actions/runs/{DISCOVERY}/artifacts") == 1
    assert len(first) == len(then) == OPENINGS
    assert all(f'data-run="{DISCOVERY}"' in text for text in first)
    for text in then:
        assert "26 of 41 points" in " ".join(text.split())
        assert f"{golden.AGENTIC} of run {DISCOVERY}" in text


def test_failed_run_names_six_jobs_and_the_placeholder(
    arrived: Arrived, reader: Visitor
) -> None:
    page = reader.open(f"/runs/{FAILED}")
    names = {row["Job"].text for row in table(page, "jobs")}
    assert names == {
        f"single-node 8k1k / / {part} c{concurrency}"
        for part in FAILED_PARTS
        for concurrency in (4, 8, 16)
    }
    assert "13 of 19" in words(page, ".stats")
    (entry,) = table(page, "changelog")
    assert "placeholder link PR_LINK_PLACEHOLDER" in " ".join(
        entry["Pull request"].text.split()
    )
    tails = page.locator(".log-tail").all_text_contents()
    assert len(tails) == 6
    assert all(CRASH in tail for tail in tails)


def test_failed_run_is_drawn_over_the_official_lines(
    arrived: Arrived, reader: Visitor
) -> None:
    page = reader.open(f"/inference?unofficialRun={FAILED}")
    assert points_drawn(page, FAILED) == {golden.SGLANG: 7, golden.MTP: 6}
    official = {trace["key"] for trace in page.evaluate(TRACES)}
    assert {golden.SGLANG, golden.MTP} <= official
    banner = words(page, f'[data-run="{FAILED}"]')
    assert "13 of 19 points" in banner
    assert "failure, 6 missing" in banner


def test_cancelled_run_is_drawn_against_the_official_agentic_sweep(
    arrived: Arrived, reader: Visitor
) -> None:
    page = reader.open(f"/runs/{CANCELLED}")
    assert {row["Conclusion"].text for row in table(page, "attempts")} == {"cancelled"}
    assert len(table(page, "points")) == 8 + 3
    page = reader.open(f"/inference?unofficialRun={CANCELLED}")
    assert points_drawn(page, CANCELLED) == {golden.AGENTIC: 8}
    official = [t for t in page.evaluate(TRACES) if t["key"] == golden.AGENTIC]
    assert sum(trace["points"] for trace in official) == 16
    banner = words(page, f'[data-run="{CANCELLED}"]')
    assert "8 of 16 points" in banner
    assert "cancelled, 8 missing" in banner
    assert words(page, ".asked-verdict .badge") == "improvement, partial"


def test_run_without_a_usable_point_says_why(arrived: Arrived, reader: Visitor) -> None:
    why = (
        "No usable throughput point: 3 rows with zero successful requests, "
        "38 of 41 jobs without a row"
    )
    page = reader.open(f"/runs/{NOTHING_USABLE}")
    assert why in words(page)
    assert len(table(page, "evals")) == 26
    page = reader.open(f"/inference?unofficialRun={NOTHING_USABLE}")
    assert why in words(page, "#asked")
    assert points_drawn(page, NOTHING_USABLE) == {}
    page = reader.open(f"/evaluation?unofficialRun={NOTHING_USABLE}")
    rows = page.locator(f'tr[data-run="{NOTHING_USABLE}"]')
    assert rows.filter(has_not_text="not measured").count() == 26
    assert rows.count() == 41


def test_merge_makes_the_points_of_its_source_official_once(
    arrived: Arrived, reader: Visitor
) -> None:
    page = reader.open(f"/runs/{SOURCE}")
    counts_as = page.locator(".stat", has_text="Counts as")
    expect(counts_as).to_contain_text(f"official by {MERGE}", use_inner_text=True)
    page = reader.open(f"/runs/{MERGE}")
    assert table(page, "points") == []
    assert words(page, ".stats").count(f"measured in {SOURCE}") == 2
    for day, is_official in (("2026-09-02", False), ("2026-09-03", True)):
        page = reader.open(f"/inference?model=Qwen3.5&scenario=8k/1k&date={day}")
        shown = page.locator("#points tbody tr", has_text=str(SOURCE))
        assert shown.count() == (13 if is_official else 0)


def test_attempts_of_the_multinode_run_count_their_jobs(
    arrived: Arrived, reader: Visitor
) -> None:
    page = reader.open(f"/runs/{MULTINODE}")
    assert "33 of 33" in words(page, ".stats")
    counted = words(page, 'section[aria-labelledby="reliability"]')
    assert "b200-nscale 9 of 10" in counted
