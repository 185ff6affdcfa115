"""Markup that a page repeats hundreds of times, written by one call."""

from collections.abc import Iterable
from functools import cache
from html import escape

from django.urls import reverse
from django.utils.safestring import SafeString


def written(markup: str, *parts: object) -> SafeString:
    """Return markup with its parts escaped, as ``format_html`` does.

    It does not ask of each part whether it is a promise, which takes longer than all
    the rest where a table has thousands of cells.
    """
    return SafeString(
        markup.format(
            *(p if isinstance(p, SafeString) else escape(str(p)) for p in parts)
        )
    )


def joined(parts: Iterable[SafeString], between: str = "") -> SafeString:
    """Return pieces of markup as one; a space ``between`` them lets lines break."""
    return SafeString(between.join(parts))


def run_path(run_id: int) -> str:
    """Return the address of a run's page."""
    return f"{_path('run')}{run_id}"


def point_path(point_id: int) -> str:
    """Return the address of a point's page."""
    return f"{_path('point')}{point_id}"


@cache
def _path(name: str) -> str:
    """Return what stands before the number in the address of such a page."""
    return reverse(name, args=[0]).removesuffix("0")
