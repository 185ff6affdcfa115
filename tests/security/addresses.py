"""Every address of the site, found by walking what the resolver knows."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from django.urls import URLPattern, URLResolver, get_resolver

_PLACE = re.compile(r"<(?:\w+:)?(?P<name>\w+)>")
_NAMED_GROUP = re.compile(r"\(\?P<(?P<name>\w+)>(?:\[[^]]*\]|[^()])*\)")


@dataclass(frozen=True, slots=True)
class Address:
    """A route as it is written, with a slash in front."""

    route: str

    def at(self, **values: object) -> str:
        """Fill the places of the route; an unknown one is a KeyError by its name."""
        text = _PLACE.sub(lambda found: str(values[found["name"]]), self.route)
        return re.sub(r"[\^$]|\\Z", "", text)


def every_address() -> list[Address]:
    """Return all addresses, those of the staff pages included."""
    return sorted(set(_walk(get_resolver().url_patterns, "/")), key=lambda a: a.route)


def _walk(patterns: list[URLPattern | URLResolver], before: str) -> Iterator[Address]:
    for pattern in patterns:
        own = _NAMED_GROUP.sub(r"<\g<name>>", str(pattern.pattern))
        route = before + own.removeprefix("^")
        if isinstance(pattern, URLResolver):
            yield from _walk(pattern.url_patterns, route)
        else:
            yield Address(route)
