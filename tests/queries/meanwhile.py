"""Lets something happen between two queries of one answer."""

from collections.abc import Callable
from typing import Any


def after(query: int, happens: Callable[[], object]) -> Callable[..., Any]:
    """Return what lets something happen once so many queries were answered."""
    seen = [0]

    def wrapper(execute: Any, *args: Any) -> Any:
        found = execute(*args)
        seen[0] += 1
        if seen[0] == query:
            happens()
        return found

    return wrapper
