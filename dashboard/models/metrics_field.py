"""Metrics by name in Python, and as an array of doubles in the database."""

import struct
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial
from typing import Any

import orjson
from django.db import models
from django.db.models.sql.compiler import SQLCompiler

from dashboard.vocabulary.stored_metrics import (
    array_of,
    metrics_of,
    place_of,
)

# Arrays as PostgreSQL sends and receives them: dimensions, whether there are nulls, the
# type, how many, the first place; then the length of each value, and the value.
_ARRAY, _VALUE = struct.Struct(">iiIii"), struct.Struct(">id")
_FLOAT8, _DOUBLE = 701, 8
_NULL = struct.Struct(">i").pack(-1)
_EMPTY_ARRAY = struct.Struct(">iiI").pack(0, 0, _FLOAT8)


class MetricsField(models.Field):  # type: ignore[type-arg]  # typed below
    """Metrics that were measured, by name; a name without a place is a `ValueError`.

    ``metrics__median_ttft`` is a float, null where that was not measured.
    """

    # What mypy takes the attribute of a model for.
    _pyi_private_set_type: Mapping[str, float]
    _pyi_private_get_type: dict[str, float]
    description = "metrics by name"
    empty_strings_allowed = False

    def db_type(self, *_: Any, **__: Any) -> str:
        """Return the type of the column."""
        return "double precision[]"

    def get_placeholder(self, *_: object) -> str:
        """Say the type, which an empty array does not tell."""
        return f"%s::{self.db_type()}"

    def select_format(
        self, compiler: SQLCompiler, sql: str, params: Any
    ) -> tuple[str, tuple[str | int, ...]]:
        """Read the array as text, whose parser is a fourth of the driver's."""
        return super().select_format(compiler, f"({sql})::text", params)

    def from_db_value(self, value: str | None, *_: object) -> dict[str, float] | None:
        """Return the metrics of an array that was read as text."""
        if value is None:
            return None
        return metrics_of(orjson.loads(f"[{value[1:-1].replace('NULL', 'null')}]"))

    def get_prep_value(self, value: Any) -> Any:
        """Return the array of metrics."""
        value = super().get_prep_value(value)
        return array_of(value) if isinstance(value, Mapping) else value

    def value_to_string(self, obj: models.Model) -> Any:
        """Return the metrics as they are: serializers know dicts of numbers."""
        return self.value_from_object(obj)

    def get_transform(self, lookup_name: str) -> Any:
        """Return what reads one metric."""
        found = super().get_transform(lookup_name)
        return found or partial(MetricValue, place_of(lookup_name))


class MetricValue(models.Transform):
    """One metric of the array, null where it was not measured."""

    output_field = models.FloatField()

    def __init__(self, place: int, *args: Any, **kwargs: Any) -> None:
        """Take the place, the first being 0; subscripts of PostgreSQL begin with 1."""
        super().__init__(*args, **kwargs)
        self.template = f"(%(expressions)s)[{place + 1}]"


def packed_doubles(values: Sequence[float | None]) -> bytes:
    """Write a ``double precision[]`` in binary; the driver takes six times as long."""
    count = len(values)
    if not count:
        return _EMPTY_ARRAY
    # Each value with its length before it.
    parts: list[Any] = [_DOUBLE] * (2 * count)
    parts[1::2] = values
    try:
        return _packer(count)(1, 0, _FLOAT8, count, 1, *parts)
    except struct.error:
        return _packed_with_nulls(values)


def _packed_with_nulls(values: Sequence[float | None]) -> bytes:
    head = _ARRAY.pack(1, 1, _FLOAT8, len(values), 1)
    return head + b"".join(
        _NULL if value is None else _VALUE.pack(_DOUBLE, value) for value in values
    )


@lru_cache(maxsize=256)
def _packer(count: int) -> Callable[..., bytes]:
    """Return what packs an array of so many values, all of them measured."""
    return struct.Struct(f"{_ARRAY.format}{_VALUE.format[1:] * count}").pack
