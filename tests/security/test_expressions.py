"""Every regular expression over outside text ends soon, whatever the text."""

import importlib
import pkgutil
import re
from collections.abc import Iterator
from itertools import chain, product
from typing import Any

import pytest

import dashboard
import ingest
from ingest.config_keys.wildcards import matches
from tests.fuzzing.checking import within

# re._parser: what an expression is made of is told nowhere else.
PARSER: Any = importlib.import_module("re._parser")
LENGTH = 1500
# A thousand times what a text of this length takes where time grows with the length;
# where it doubles with each letter no time would be enough.
MOST_S = 2.0
ALWAYS = ("a", "0", " ", "-", "\n")
# What Django imports by its own rules, or imports Django's settings anew.
LEFT_OUT = ("migrations", "management", "settings", "wsgi", "celery")


def modules() -> Iterator[Any]:
    for package in (dashboard, ingest):
        for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if not any(part in LEFT_OUT for part in found.name.split(".")):
                yield importlib.import_module(found.name)


def expressions() -> list[re.Pattern[Any]]:
    """Return the compiled expressions of all modules."""
    found = {
        value.pattern: value
        for module in modules()
        for value in vars(module).values()
        if isinstance(value, re.Pattern)
    }
    return list(found.values())


def letters(tree: Any) -> Iterator[str]:
    """Yield a letter for each part of an expression."""
    if isinstance(tree, PARSER.SubPattern):
        for part in tree.data:
            yield from letters(part)
    elif isinstance(tree, tuple | list):
        if len(tree) == 2 and str(tree[0]) in {"LITERAL", "NOT_LITERAL"}:
            yield chr(tree[1])
        elif len(tree) == 2 and str(tree[0]) == "RANGE":
            yield chr(tree[1][0])
        else:
            for part in tree:
                yield from letters(part)


def attacks(pattern: re.Pattern[Any]) -> Iterator[str]:
    """Yield long texts of the expression's own letters that end in a mismatch."""
    text = pattern.pattern
    tree = PARSER.parse(text if isinstance(text, str) else text.decode("latin-1"))
    used = list(dict.fromkeys(chain(letters(tree), ALWAYS)))[:8]
    for letter in used:
        yield letter * LENGTH + "\x00"
    for first, second in product(used[:4], used[:4]):
        yield first * 3 + (first + second) * (LENGTH // 2) + "\x00"


def test_no_expression_takes_long_for_any_text() -> None:
    found = expressions()
    assert len(found) > 40
    for pattern in found:
        for text in attacks(pattern):
            given: Any = text
            if isinstance(pattern.pattern, bytes):
                given = text.encode("utf-8", "replace")
            with within(MOST_S):
                pattern.search(given)
                pattern.fullmatch(given)


def test_the_bound_stops_an_expression_that_doubles() -> None:
    with pytest.raises(BaseException, match="more than"), within(0.2):
        re.compile(r"(a+)+$").match("a" * 60 + "!")


@pytest.mark.parametrize(
    "pattern", ["*" * 400, "*a" * 200, "a*" * 200 + "b", "*a*" * 130 + "x*y"]
)
def test_patterns_of_config_keys_take_steps_by_their_length(pattern: str) -> None:
    key = "a" * 20_000
    with within(MOST_S):
        for _ in range(20):
            matches(pattern, key)
