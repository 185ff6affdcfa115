"""YAML text that nobody vouches for, read into plain values within bounds."""

import datetime
import math
from collections.abc import Mapping

import yaml

# The largest real master has 324 kB. The text is bounded tightly because nodes, some
# 400 bytes each, are made before they can be counted.
MAX_CHARACTERS = 1_500_000
MAX_NODES = 400_000
MAX_DEPTH = 40


class ConfigError(ValueError):
    """A config text that cannot be used at all; the message is one line."""


def load_mapping(text: str) -> tuple[dict[str, object], list[str]]:
    """Read a YAML mapping; also return the keys that it defines more than once.

    Values are JSON-able. Raises `ConfigError` for text that does not parse, is not
    a mapping, or grows out of bounds once its aliases are expanded.
    """
    value, repeated = _load(text)
    if not isinstance(value, Mapping):
        raise ConfigError("not a mapping of config keys")
    return {str(key): json_able(item) for key, item in value.items()}, repeated


def load_list(text: str) -> list[object]:
    """Read a YAML list; values are JSON-able, and `ConfigError` as for a mapping."""
    value, _ = _load(text)
    if not isinstance(value, list):
        kind = "a mapping" if isinstance(value, Mapping) else "one value"
        raise ConfigError(f"not a list of entries but {kind}")
    return [json_able(item) for item in value]


def _load(text: str) -> tuple[object, list[str]]:
    """Build a document; also return the keys that it defines more than once."""
    if len(text) > MAX_CHARACTERS:
        raise ConfigError(f"more than {MAX_CHARACTERS:,} characters")
    try:
        return _construct(text)
    except yaml.YAMLError as error:
        raise ConfigError(f"not YAML: {_one_line(error)}") from error
    except (ValueError, OverflowError, TypeError) as error:
        if isinstance(error, ConfigError):
            raise
        raise ConfigError(f"a value cannot be read: {_one_line(error)}") from error


def json_able(value: object) -> object:
    """Return the value with only what JSON can hold: dates and the like as text."""
    if isinstance(value, Mapping):
        return {str(key): json_able(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [json_able(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, datetime.date):
        return value.isoformat()
    return str(value)


def _construct(text: str) -> tuple[object, list[str]]:
    """Compose, measure, and only then build: an alias bomb is small until built."""
    loader = yaml.CSafeLoader(text)
    try:
        node = loader.get_single_node()
        if node is None:
            raise ConfigError("empty")
        _measure(node, {}, 0)
        return loader.construct_document(node), _repeated_keys(node)
    finally:
        loader.dispose()


def _measure(node: yaml.Node, sizes: dict[int, int], depth: int) -> int:
    """Count the nodes under one as if every alias were written out."""
    if depth > MAX_DEPTH:
        raise ConfigError(f"nested more than {MAX_DEPTH} deep")
    known = sizes.get(id(node))
    if known is not None:
        return known
    size = 1 + sum(_measure(child, sizes, depth + 1) for child in _children(node))
    if size > MAX_NODES:
        raise ConfigError(f"more than {MAX_NODES:,} values")
    sizes[id(node)] = size
    return size


def _children(node: yaml.Node) -> list[yaml.Node]:
    if isinstance(node, yaml.MappingNode):
        return [child for pair in node.value for child in pair]
    return list(node.value) if isinstance(node, yaml.SequenceNode) else []


def _repeated_keys(node: yaml.Node) -> list[str]:
    if not isinstance(node, yaml.MappingNode):
        return []
    seen: set[str] = set()
    repeated = []
    for key, _ in node.value:
        if str(key.value) in seen:
            repeated.append(str(key.value))
        seen.add(str(key.value))
    return repeated


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())[:300]
