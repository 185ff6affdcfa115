"""Metrics by name in Python, and as an array of doubles in the database."""

from collections.abc import Mapping
from functools import partial
from typing import Any

import orjson
from django.db import models
from django.db.models.sql.compiler import SQLCompiler

from dashboard.vocabulary.stored_metrics import (
    array_of,
    metrics_of,
    place_of,
)


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
