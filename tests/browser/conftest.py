"""A real Chromium on the served pages; it notes everything that went wrong."""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import monotonic
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import (
    Browser,
    ConsoleMessage,
    Page,
    expect,
    sync_playwright,
)

FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
PATIENCE_MS = 20_000  # the machine may be busy with other things
WATCH = """
window.violations = [];
document.addEventListener("securitypolicyviolation", (event) =>
  window.violations.push(`${event.violatedDirective}: ${event.blockedURI}`));
"""


@dataclass
class Visitor:
    """One reader: a page, and what its console and its policy complained about."""

    page: Page
    address: str
    complaints: list[str] = field(default_factory=list)

    def open(self, path: str) -> Page:
        """Go to a path of the site and wait until its figure, if any, is drawn."""
        self.page.goto(self.address + path, wait_until="load")
        if self.page.locator("[data-plot]").count():
            self.page.wait_for_selector("[data-plot][data-drawn]")
        return self.page

    def hear(self, message: ConsoleMessage) -> None:
        """Keep a console message that is an error or a warning."""
        if message.type in {"error", "warning"}:
            self.complaints.append(message.text)

    def trouble(self) -> list[str]:
        """Return all complaints so far."""
        violations: list[str] = self.page.evaluate("window.violations")
        return self.complaints + violations

    def accessibility(self) -> list[str]:
        """Return what axe finds wrong with the page as it is now."""
        found = Axe().run(self.page).response["violations"]
        return [
            f"{rule['id']}: {node['html'][:200]} {node['failureSummary'][:300]}"
            for rule in found
            for node in rule["nodes"]
        ]


@pytest.fixture(scope="session")
def browser(chromium: str) -> Iterator[Browser]:
    """Chromium with a profile of its own, for all browser tests."""
    # Playwright's loop runs in this thread, and so does the ORM of the tests.
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"
    expect.set_options(timeout=PATIENCE_MS)
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        yield started
        started.close()
    del os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"]


@contextmanager
def visiting(browser: Browser, address: str, **options: Any) -> Iterator[Visitor]:
    """Open a page of 1440 x 900 px, unless the context's options say otherwise."""
    usual = {"viewport": {"width": 1440, "height": 900}, "color_scheme": "light"}
    context = browser.new_context(**{**usual, **options})
    context.add_init_script(WATCH)
    page = context.new_page()
    visit = Visitor(page, address)
    page.on("console", visit.hear)
    page.on("pageerror", lambda error: visit.complaints.append(str(error)))
    try:
        yield visit
    finally:
        context.close()


@pytest.fixture
def visitor(browser: Browser, live_server: Any, request: Any) -> Iterator[Visitor]:
    """A visitor of the tests' own site; parametrize indirectly with context options."""
    options = getattr(request, "param", {})
    with visiting(browser, live_server.url, **options) as visit:
        yield visit
    answered()


def answered() -> None:
    """Wait until the site has answered what a closed page still asked.

    A poll that is answered after the tables were emptied would leave its rows to the
    next test.
    """
    until = monotonic() + 10
    for thread in threading.enumerate():
        if "process_request_thread" in thread.name:
            thread.join(max(until - monotonic(), 0))
