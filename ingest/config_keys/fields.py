"""Readers of single fields of a master config, each refusing with one clear line."""

import re
from collections.abc import Mapping, Sequence
from typing import cast

# The largest real value is a concurrency of 16,384.
MAX_INTEGER = 10_000_000
MAX_TEXT = 1_000
_ODD = re.compile("[\0\ud800-\udfff]")


class MalformedError(ValueError):
    """A field, or what stands around it, is not what the generator accepts."""


def text(
    source: Mapping[str, object],
    name: str,
    default: str | None = None,
    *,
    longest: int = MAX_TEXT,
) -> str:
    """Return a non-empty text of at most ``longest`` characters."""
    value = source.get(name, default)
    if not isinstance(value, str) or not value.strip():
        raise MalformedError(f"{name} must be a text, not {shown(value)}")
    if len(value) > longest:
        raise MalformedError(f"{name} has more than {longest} characters")
    return value


def refuse_odd_characters(value: object) -> None:
    """Raise MalformedError where a text holds NUL or half a character.

    YAML can write both as escapes; the database holds neither.
    """
    if isinstance(value, Mapping):
        for name, inner in value.items():
            refuse_odd_characters(name)
            refuse_odd_characters(inner)
    elif isinstance(value, list):
        for inner in value:
            refuse_odd_characters(inner)
    elif isinstance(value, str) and _ODD.search(value):
        raise MalformedError("a text holds a character that cannot be stored")


def integer(
    source: Mapping[str, object], name: str, default: int | None = None, least: int = 1
) -> int:
    """Return an integer of at least ``least``; true and false are not integers."""
    return checked_integer(source.get(name, default), name, least)


def checked_integer(value: object, name: str, least: int = 1) -> int:
    """Return the value itself where it is an integer within bounds."""
    if not isinstance(value, int) or isinstance(value, bool):
        raise MalformedError(f"{name} must be an integer, not {shown(value)}")
    if not least <= value <= MAX_INTEGER:
        raise MalformedError(f"{name} {shown(value)} is out of range")
    return value


def flag(
    source: Mapping[str, object], name: str, *, default: bool | None = None
) -> bool:
    """Return a true or false; nothing else counts."""
    value = source.get(name, default)
    if not isinstance(value, bool):
        raise MalformedError(f"{name} must be true or false, not {shown(value)}")
    return value


def mapping(value: object, name: str) -> Mapping[str, object]:
    """Return the value itself where it is a mapping."""
    if not isinstance(value, Mapping):
        raise MalformedError(f"{name} must be a mapping, not {shown(value)}")
    return cast("Mapping[str, object]", value)


def items(value: object, name: str) -> Sequence[object]:
    """Return the value itself where it is a list with something in it."""
    if not isinstance(value, list) or not value:
        raise MalformedError(f"{name} must be a list that is not empty")
    return value


def shown(value: object) -> str:
    """Write a value for a message, cut to a length that fits a line."""
    return "nothing" if value is None else repr(value)[:60]
