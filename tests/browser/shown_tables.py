"""Tables of a page as a reader sees them: what cells show and what titles say."""

from typing import NamedTuple

import pytest
from playwright.sync_api import Page

from tests.browser.published_figures import Place, place

METRICS = (
    *("Total throughput per GPU", "Output throughput per GPU"),
    *("Median interactivity", "Median time to first token"),
)
TABLE = """(id) => {
  const table = document.querySelector(`section[aria-labelledby="${id}"] table`);
  if (!table) return [];
  const names = [...table.tHead.rows[0].cells].map((cell) =>
    cell.innerText.split("\\n")[0].trim());
  return [...table.tBodies[0].rows].map((row) => Object.fromEntries(
    [...row.cells].map((cell, n) => [names[n], [cell.innerText.trim(), cell.title,
      [...cell.childNodes].map((node) => node.nodeType === 3 ||
        node.nodeName === "A" ? node.textContent : "").join("").trim()]])));
}"""


class Cell(NamedTuple):
    """What a cell of a table shows, what its title says, and its text less marks."""

    text: str
    title: str
    bare: str

    def figures(self) -> tuple[float, float]:
        """Return the figure shown and the exact one; what was stored comes last."""
        shown, exact = self.text.split()[-1], self.title.split()[-1]
        return float(shown.replace(",", "")), float(exact)


def table(page: Page, section: str) -> list[dict[str, Cell]]:
    """Return the rows of a section's table, each a dictionary by header."""
    rows = page.evaluate(TABLE, section)
    return [{name: Cell(*cell) for name, cell in row.items()} for row in rows]


def words(page: Page, selector: str = "main") -> str:
    """Return what stands on a part of the page, in one line."""
    return " ".join(page.locator(selector).inner_text().split())


def place_of(row: dict[str, Cell]) -> Place:
    point = f"{row['Deployment'].bare} c{row['Concurrency'].text}"
    return place(row["Config key"].bare.split()[0], point)


def figures_of(row: dict[str, Cell], written: list[str]) -> list[str]:
    """Return a point's figures with as many digits as the README has.

    What the cell shows, in four digits, must be the figure that its title has.
    """
    found = []
    for name, text in zip(METRICS, written, strict=True):
        shown, exact = row[name].figures()
        assert shown == pytest.approx(exact, rel=6e-4), (name, row[name])
        found.append(as_written(exact, text))
    return found


def as_written(value: float, text: str) -> str:
    """Return a value rounded as a text is; of two that are as near, the text."""
    digits = len(text.partition(".")[2])
    is_it = abs(value - float(text)) <= 0.5 * 10**-digits * (1 + 1e-6)
    return text if is_it else f"{value:.{digits}f}"
