"""The title of an axis: a metric with its unit, and beneath it what it rests on."""

from html import escape
from textwrap import wrap

from dashboard.vocabulary.metrics import METRICS

# So many letters of a note stand in a line; a chart is at least as long.
LINE = 60


def axis_title(name: str, note: str, line: int = LINE) -> str:
    """Return the title of a metric's axis, lines of ``note`` beneath it.

    Plain lines: a size of their own would be a style that the page's policy forbids.
    """
    return "<br>".join([METRICS[name].title, *noted_lines(note, line)])


def noted_lines(note: str, line: int = LINE) -> list[str]:
    """Return a note in lines of so many letters, as plotly takes text."""
    return [escape(part) for part in wrap(note, line, break_on_hyphens=False)]
