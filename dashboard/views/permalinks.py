"""A link that shows the same later: what was taken from today is written into it."""

from collections.abc import Mapping
from datetime import date
from typing import NamedTuple

from django.http import HttpRequest
from django.utils import timezone

AS_OF = (
    "It is as of {}: later official runs are left out. An unofficial run shows what it "
    "holds when the link is opened, and corrections made later count."
)


class Permalink(NamedTuple):
    """The address with what was open pinned, and a sentence that says what that is."""

    address: str
    pinned: str


def permalink(
    request: HttpRequest, pins: Mapping[str, object], pinned: str
) -> Permalink:
    """Return the address of this page with ``pins`` in its query.

    An empty pin takes its parameter out; the page of a list is kept.
    """
    query = request.GET.copy()
    for name, value in pins.items():
        query.pop(name, None)
        if value not in ("", None):
            query[name] = str(value)
    asked = f"?{query.urlencode(safe='/:,')}" if query else ""
    return Permalink(request.build_absolute_uri(f"{request.path}{asked}"), pinned)


def until_today(request: HttpRequest, until: date | None) -> Permalink:
    """Return the address of a list with its last day: the one asked for, else today."""
    last = until or timezone.now().date()
    said = (
        f"It names the last day, {last} (UTC); what is stored later of days up to it "
        "still counts."
    )
    return permalink(request, {"to": last}, said)


def as_of_today(request: HttpRequest, today: date) -> Permalink:
    """Return the address with the day whose official runs and prices are shown."""
    said = (
        f"It is as of {today} (UTC), with the prices and power of that day: official "
        "runs of later days are left out, and corrections made later count."
    )
    return permalink(request, {"date": today, "asof_run": ""}, said)
