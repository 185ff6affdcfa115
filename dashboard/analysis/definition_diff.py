"""Two versions of a config entry side by side: only the fields that differ."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class FieldChange:
    """One field of the entry, as lines of text; no line where it was not there."""

    field: str
    before: tuple[str, ...]
    after: tuple[str, ...]


def field_changes(
    before: Mapping[str, Any], after: Mapping[str, Any]
) -> list[FieldChange]:
    """Return the fields that differ, in the order of the newer version.

    Nested mappings are named by their path. Of a list only the items that one side
    has alone are given: a search space is long, and usually one line of it changed.
    """
    old, new = dict(_flat(before)), dict(_flat(after))
    names = dict.fromkeys([*new, *old])
    return [
        FieldChange(name, *_sides(old.get(name, ()), new.get(name, ())))
        for name in names
        if old.get(name, ()) != new.get(name, ())
    ]


def _flat(
    entry: Mapping[str, Any], path: str = ""
) -> Iterator[tuple[str, tuple[str, ...]]]:
    for name, value in entry.items():
        here = f"{path}{name}"
        if isinstance(value, Mapping) and value:
            yield from _flat(value, f"{here}.")
        elif isinstance(value, Sequence) and not isinstance(value, str):
            yield from _listed(value, here)
        else:
            yield here, (_written(value),)


def _listed(items: Sequence[Any], path: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield a list as lines; one of mappings that hold lists, mapping by mapping."""
    holds_lists = items and all(
        isinstance(item, Mapping) and any(isinstance(v, list) for v in item.values())
        for item in items
    )
    if not holds_lists:
        yield path, tuple(map(_written, items))
        return
    for place, item in enumerate(items, start=1):
        yield from _flat(item, f"{path}[{place}].")


def _sides(
    old: tuple[str, ...], new: tuple[str, ...]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    gone = tuple(line for line in old if line not in new)
    come = tuple(line for line in new if line not in old)
    # The same items in another order, or one of them twice.
    return (gone, come) if gone or come else (old, new)


def _written(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{name}: {_written(v)}" for name, v in value.items())
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
