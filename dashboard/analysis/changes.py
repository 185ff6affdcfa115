"""Breaks and markers in words: the same on every page. What they are: segments.py."""

from collections.abc import Iterable

from dashboard.analysis import segments
from dashboard.analysis.segments import Change
from dashboard.vocabulary.changes import grid_text

_TITLES = {
    segments.CHECKPOINT: "checkpoint swapped",
    segments.PRECISION: "precision changed",
    segments.SPEC_METHOD: "speculative method changed",
    segments.ACCEPTANCE: "acceptance length changed",
    segments.HARNESS: "harness changed",
    segments.RECIPE: "recipe changed",
    segments.GRID: "grid changed",
    segments.RUNNER: "runner pool changed",
}
# What a line whose history broke is called, in a badge.
_BADGES = {
    segments.CHECKPOINT: "swap",
    segments.PRECISION: "other precision",
    segments.SPEC_METHOD: "other speculative method",
    segments.ACCEPTANCE: "other acceptance length",
    segments.HARNESS: "other harness",
    segments.NOTICE: "break by staff",
}


def title(change: Change) -> str:
    """Return what changed, without from what to what."""
    kind = change["kind"]
    if kind == segments.IMAGE:
        return _image_title(change["from"], change["to"])
    return _TITLES.get(kind, "said by staff")


def badge(breaks: Iterable[Change]) -> str:
    """Return in a few words why a history broke: ``swap, other precision``."""
    return ", ".join(_BADGES.get(change["kind"], "break") for change in breaks)


def sentence(change: Change) -> str:
    """Return a break or marker in one line: what changed, from what, to what."""
    kind = change["kind"]
    if kind == segments.NOTICE:
        return f"{title(change)}: {change['text']}"
    if kind == segments.GRID:
        return f"{title(change)}: {grid_text(change)}"
    return f"{title(change)} from {change['from']} to {change['to']}"


def _image_title(before: str, after: str) -> str:
    """Say whether tag or digest is another: a tag may be pushed again."""
    is_same_tag = before.partition("@")[0] == after.partition("@")[0]
    return "image changed under the same tag" if is_same_tag else "image changed"
