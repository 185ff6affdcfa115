"""What a reader's browser sees of the inference page: times, and bytes on the wire."""

from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.pages import BROWSERS, CHANGE, FLAGS, WATCH

OPENINGS, CHANGES = 7, 15
FIRST_MS, CHANGE_MS, MOST_KB = 900, 150, 500
FILTER = "#filter-logx"


def browser_figures(
    address: str, path: str
) -> Iterator[tuple[str, float, float | None, str]]:
    """Yield (name, figure, budget if it has one, unit) of Chromium at 1440 x 900."""
    from playwright.sync_api import sync_playwright  # noqa: PLC0415  only for these

    chromium = next(found for found in BROWSERS if Path(found).exists())
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        opened = [_opened(browser, address + path) for _ in range(OPENINGS + 1)][1:]
        shown, drawn, sizes = zip(*opened, strict=True)
        yield (
            "browser: first frontiers shown, empty cache",
            median(shown),
            FIRST_MS,
            "ms",
        )
        yield "browser: first chart of plotly drawn", median(drawn), None, "ms"
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        page.goto(address + path)
        page.wait_for_selector("[data-plot][data-drawn]")
        for _ in range(2):
            page.evaluate(CHANGE, FILTER)
        changes = [page.evaluate(CHANGE, FILTER) for _ in range(CHANGES)]
        shown, drawn = zip(*changes, strict=True)
        yield "browser: filter change to new frontiers", median(shown), CHANGE_MS, "ms"
        yield "browser: filter change to the chart of plotly", median(drawn), None, "ms"
        yield "browser: all bytes to the first chart", median(sizes), MOST_KB, "kB"
        browser.close()


def _opened(browser: Any, url: str) -> tuple[float, float, float]:
    """Open the page in a fresh profile.

    Return ms until frontiers were shown and until plotly had drawn them, and kB.
    """
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    context.add_init_script(WATCH)
    page = context.new_page()
    session = context.new_cdp_session(page)
    session.send("Network.enable")
    sizes: list[float] = []
    session.on(
        "Network.loadingFinished",
        lambda event: sizes.append(event["encodedDataLength"]),
    )
    page.goto(url)
    page.wait_for_function("window.firstDrawn !== undefined")
    shown, drawn = page.evaluate("[window.firstFrontier, window.firstDrawn]")
    context.close()
    return shown, drawn, sum(sizes) / 1000
