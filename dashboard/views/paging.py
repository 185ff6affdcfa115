"""Long lists by the page: a page that is not there is said, not passed over."""

from collections.abc import Sequence
from typing import Any

from django.core.paginator import Page, Paginator
from django.db.models.query import QuerySet

LONGEST_SHOWN = 20


def page_of(
    found: QuerySet[Any] | Sequence[Any], size: int, asked: int | str | None
) -> tuple[Page[Any], str]:
    """Return the page asked for, the nearest where there is none, and what to say.

    What to say is empty where the page is the one that was asked for.
    """
    page = Paginator(found, size).get_page(asked or 1)
    if not asked or str(page.number) == str(asked):
        return page, ""
    named = str(asked)
    cut = named if len(named) <= LONGEST_SHOWN else f"{named[:LONGEST_SHOWN]}…"
    last = page.paginator.num_pages
    return page, f"There is no page {cut}: this is page {page.number} of {last}."
