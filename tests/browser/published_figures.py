"""The figures that the README of the recorded runs publishes, read from its tables."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

Row = dict[str, str]
# Key, topology without expert parallelism, speculative decoding, concurrency.
Place = tuple[str, str, str, int]


class Story(NamedTuple):
    """What the README's first table says of a run, as text."""

    event: str
    conclusion: str
    day: str
    attempts: int


class Published:
    """The tables of the README; figures stay texts, so that their digits are known."""

    def __init__(self, shared: Path) -> None:
        text = (shared / "runs" / "README.md").read_text()
        parts = re.split(r"^#{2,3} (.+)$", text, flags=re.MULTILINE)
        self._tables = {
            title: list(_rows(body))
            for title, body in zip(parts[1::2], parts[2::2], strict=True)
        }

    def story(self, run_id: int) -> Story:
        """Return what is said of the run itself."""
        (row,) = self._of("The runs", run_id)
        at, event, conclusion, attempts = row["date (UTC), event, conclusion"].split(
            ", "
        )
        return Story(event, conclusion, at[:10], int(attempts.split()[0]))

    def sweeps(self, run_id: int) -> dict[str, Row]:
        """Return usable points, checkpoint and image by key."""
        rows = self._of("Points per config key, checkpoint, image", run_id)
        return {row["config key"]: row for row in rows if row["image"]}

    def points(self, run_id: int) -> dict[Place, list[str]]:
        """Return total, output, interactivity and TTFT of each usable point."""
        rows = self._tables.get(str(run_id), [])
        names = ("total", "output", "interactivity", "TTFT")
        return {place(r["key"], r["point"]): [r[n] for n in names] for r in rows}

    def evals(self, run_id: int) -> dict[Place, list[str]]:
        """Return strict and flexible of each score."""
        (title,) = (title for title in self._tables if title.startswith("Evals"))
        found = {}
        for row in self._of(title, run_id):
            for text in row["topology, conc: strict / flexible"].split("; "):
                if scored := re.fullmatch(r"(.+ c\d+) (\S+) / (\S+)", text):
                    found[place(row["key"], scored[1])] = [scored[2], scored[3]]
        return found

    def _of(self, title: str, run_id: int) -> list[Row]:
        return [row for row in self._tables[title] if row["run"] == str(run_id)]


def place(key: str, point: str) -> Place:
    """Return the place of a point, written as in the README or on a page.

    The README names the speculative decoding only where a key has points with and
    without, and expert parallelism only of some.
    """
    found = re.fullmatch(r"(.+?)(?: (mtp|none))? c(\d+)", point)
    assert found is not None, point
    spec = found[2] or ("mtp" if key.endswith("-mtp") else "none")
    shape = re.sub(r"/EP\d+|\sDPA\b", "", found[1])
    return key, shape, spec, int(found[3])


def _rows(body: str) -> Iterator[Row]:
    lines = [line for line in body.splitlines() if line.startswith("|")]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    for row in cells[2:]:
        yield dict(zip(cells[0], row, strict=True))
