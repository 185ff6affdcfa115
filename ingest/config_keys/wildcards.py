"""Config keys as a changelog names them: whole keys, or patterns with ``*``."""

from collections.abc import Iterable, Sequence


def matches(pattern: str, key: str) -> bool:
    """Tell whether a whole key fits; ``*`` stands for any run of characters.

    Each part is looked for once, left to right, so the time is bounded by
    pattern length times key length whatever the pattern.
    """
    first, *rest = pattern.split("*")
    if not rest:
        return pattern == key
    last = rest.pop()
    if len(key) < len(first) + len(last):
        return False
    if not (key.startswith(first) and key.endswith(last)):
        return False
    start, end = len(first), len(key) - len(last)
    for part in rest:
        found = key.find(part, start, end)
        if found < 0:
            return False
        start = found + len(part)
    return True


def expand_wildcards(
    patterns: Iterable[str], keys: Sequence[str]
) -> tuple[list[str], list[str]]:
    """Return the named keys in file order, and the patterns that name none.

    ``keys`` are those of all masters at that revision, in file order. A key named
    twice is returned once; an unknown name is returned once, in the order given.
    """
    known = set(keys)
    named: set[str] = set()
    unknown: dict[str, None] = {}
    for pattern in dict.fromkeys(patterns):
        found = _named_by(pattern, keys, known)
        named.update(found)
        if not found:
            unknown[pattern] = None
    return [key for key in dict.fromkeys(keys) if key in named], list(unknown)


def _named_by(pattern: str, keys: Sequence[str], known: set[str]) -> list[str]:
    if "*" not in pattern:
        return [pattern] if pattern in known else []
    return [key for key in keys if matches(pattern, key)]
