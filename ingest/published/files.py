"""What the official dashboard publishes, by file, checked row by row; no tables."""

from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any

import orjson

MOST_BYTES = 256 << 20
LISTS = ("benchmarks", "benchmarks-history", "evaluations")
DAYS = ("availability", "reliability")
WORKFLOW = "workflow-info"
FILES = (*LISTS, *DAYS, WORKFLOW)

JsonObject = dict[str, Any]


class PublishedError(Exception):
    """Nothing that can be imported; the message is one line for a person."""


@dataclass(slots=True)
class Published:
    """Rows by the name of their file, as they came.

    ``runs`` and ``changelogs`` are those of the workflow file; ``configs`` are what it
    says was measured, by the day that they are of. ``problems`` are lines about what
    was left out.
    """

    rows: dict[str, list[JsonObject]] = field(default_factory=dict)
    runs: list[JsonObject] = field(default_factory=list)
    changelogs: list[JsonObject] = field(default_factory=list)
    configs: dict[str, list[JsonObject]] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)

    def take(self, name: str, value: object, day: str = "") -> None:
        """Add the content of a file; raises PublishedError where it is another."""
        if name == WORKFLOW:
            self._take_workflow(value, day)
            return
        known = self.rows.setdefault(name, [])
        known += self._dated(name, _objects(name, value))

    def _take_workflow(self, value: object, day: str) -> None:
        parts = value if isinstance(value, dict) else {}
        lists = {
            part: _objects(f"{WORKFLOW}: {part}", parts.get(part))
            for part in ("runs", "changelogs", "configs")
        }
        self.runs += self._dated(f"{WORKFLOW}: runs", lists["runs"])
        self.changelogs += lists["changelogs"]
        days = {day} if day else {run["date"] for run in self.runs}
        if len(days) == 1:
            self.configs.setdefault(days.pop(), []).extend(lists["configs"])
        elif lists["configs"]:
            self.problems.append(f"{WORKFLOW}: configs left out: of which day is open")

    def _dated(self, name: str, rows: list[JsonObject]) -> list[JsonObject]:
        """Return the rows that have a day; the others are told, once for all."""
        good = [row for row in rows if is_day(row.get("date"))]
        if len(good) < len(rows):
            left_out = len(rows) - len(good)
            self.problems.append(f"{name}: {left_out} rows left out: no date")
        return good


def is_day(value: object) -> bool:
    """Tell whether a value is a day as ``2026-08-01``."""
    try:
        return isinstance(value, str) and date.fromisoformat(value).isoformat() == value
    except ValueError:
        return False


def read_folder(folder: Path) -> Published:
    """Read the files of a folder; raises PublishedError where none is usable."""
    published = Published()
    found = [name for name in FILES if (folder / f"{name}.json").is_file()]
    if not found:
        names = ", ".join(f"{name}.json" for name in FILES)
        raise PublishedError(f"{folder}: holds none of {names}")
    for name in found:
        published.take(name, _json(folder / f"{name}.json"))
    return published


def parsed(name: str, data: bytes) -> object:
    """Parse strict JSON; raises PublishedError."""
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError as error:
        raise PublishedError(f"{name}: not JSON: {error}") from error


def _json(path: Path) -> object:
    try:
        if path.stat().st_size > MOST_BYTES:
            raise PublishedError(f"{path.name}: more than {MOST_BYTES:,} bytes")
        return parsed(path.name, path.read_bytes())
    except OSError as error:
        raise PublishedError(
            f"{path.name}: cannot be read: {error.strerror}"
        ) from error


def _objects(name: str, value: object) -> list[JsonObject]:
    if not isinstance(value, list) or not all(isinstance(row, dict) for row in value):
        raise PublishedError(f"{name}: not a list of objects")
    return value
