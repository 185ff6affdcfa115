"""Throughput records to points: fixed lengths here, replayed traces in `agentic`."""

import marshal
from functools import lru_cache
from typing import Any, NamedTuple, cast

from dashboard.vocabulary.scenarios import scenario_text
from ingest.artifacts.names import Kind
from ingest.conversion.agentic import agentic_point, is_agentic
from ingest.conversion.assembly import PointBuilder, Scenario
from ingest.conversion.metrics import (
    Named,
    drop_undefined_interactivity,
    flat_metrics,
    metrics_among,
    named,
    read_metrics,
)
from ingest.conversion.records import (
    ArtifactMeta,
    Record,
    RefusedError,
    object_of,
    ref_of,
    skip,
)
from ingest.normalize import lengths_in_name
from ingest.rows import PointRow, SkipRow
from ingest.schemas.fields import WrongTypeError, read
from ingest.schemas.points import PointRecord

# Rows of one recipe differ in these and in their metrics.
_COUNTS = {"conc", "num_requests_total", "num_requests_successful"}
_SHARED = PointRecord.model_fields.keys() - _COUNTS
_NOT_GIVEN = (None, None)
# Later versions pack equal values differently, by what else refers to them.
_MARSHAL = 2
# Characters of a record whose values may stay in memory; usual are a few thousand.
LONGEST_SHARED = 1 << 14


def point_row(meta: ArtifactMeta, record: Record) -> PointRow | SkipRow:
    """Turn a throughput record into a point, or into the reason why not."""
    try:
        value = object_of(record)
        if meta.parts.kind == Kind.POINT_AGENTIC or is_agentic(value):
            return agentic_point(meta, record, value)
        return _fixed_point(meta, record, value)
    except WrongTypeError as error:
        return skip(meta, record, RefusedError("wrong_type", str(error)))
    except RefusedError as error:
        return skip(meta, record, error)


class _Shape(NamedTuple):
    """Which fields rows have that rows of a recipe share, and which are metrics."""

    shared: Named
    metrics: Named


@lru_cache(maxsize=256)
def _shape(fields: tuple[str, ...]) -> _Shape:
    """Tell the fields of a row apart, once for all rows that have the same."""
    shared = named(name for name in fields if name in _SHARED)
    return _Shape(shared, metrics_among(fields))


def _fixed_point(meta: ArtifactMeta, record: Record, value: dict[str, Any]) -> PointRow:
    shape = _shape(tuple(value))
    shared = _shared_part(meta, record, value, shape)
    if shared is None:
        return _whole_point(meta, record, value)
    warnings = list(shared.warnings)
    metrics = read_metrics(shape.metrics, value, warnings)
    drop_undefined_interactivity(metrics, warnings)
    return PointRow(
        ref_of(meta, record),
        shared.identity.at(value["conc"]),
        metrics,
        shared.gpus,
        shared.prefill_gpus,
        shared.decode_gpus,
        shared.runner,
        shared.facts,
        warnings,
    )


def _shared_part(
    meta: ArtifactMeta, record: Record, value: dict[str, Any], shape: _Shape
) -> PointRow | None:
    """Return what a row of an aggregate shares with others of its recipe.

    None where that cannot be told at a glance. A job's own artifact has too few rows
    for it to pay.
    """
    if meta.parts.kind == Kind.POINT or len(record.text) > LONGEST_SHARED:
        return None
    if not _has_usual_counts(value):
        return None
    names, values_of = shape.shared
    packed = marshal.dumps(cast("Any", values_of(value)), _MARSHAL)
    return _shared_point(meta.name, record.member, names, packed)


def _has_usual_counts(value: dict[str, Any]) -> bool:
    conc = value.get("conc")
    requests = (value.get("num_requests_total"), value.get("num_requests_successful"))
    return (
        type(conc) is int
        and conc > 0
        and (requests == _NOT_GIVEN or all(type(n) is int and n > 0 for n in requests))
    )


@lru_cache(maxsize=4096)
def _shared_point(
    artifact: str, member: str, names: tuple[str, ...], packed: bytes
) -> PointRow | None:
    """Make a point of what rows share, without metrics; None where there is none.

    Values are packed since a router with its version, an object, is no key; 1 and True
    would be one; and hashing bytes takes less time than hashing values.
    """
    value: dict[str, Any] = dict(zip(names, marshal.loads(packed), strict=True))  # noqa: S302  our own bytes
    value["conc"] = 1
    record = Record(member, 0, value, text="", sha256="")
    try:
        return _whole_point(ArtifactMeta(0, artifact), record, value)
    except (RefusedError, WrongTypeError):
        return None


def _whole_point(meta: ArtifactMeta, record: Record, value: dict[str, Any]) -> PointRow:
    row = read(PointRecord, value)
    builder = PointBuilder(meta, record, row)
    scenario = _scenario(meta, record, row)
    metrics = flat_metrics(value, builder.warnings)
    drop_undefined_interactivity(metrics, builder.warnings)
    return builder.point(scenario, metrics, {})


def _scenario(meta: ArtifactMeta, record: Record, row: PointRecord) -> Scenario:
    """Return lengths and concurrency; the oldest rows have them in names only."""
    isl, osl, conc = row.isl, row.osl, row.conc
    if isl is None or osl is None:
        lengths = lengths_in_name(meta.name) or lengths_in_name(record.member)
        isl, osl = lengths or (isl, osl)
    if conc is None and len(meta.parts.concurrencies) == 1:
        conc = meta.parts.concurrencies[0]
    named = {"isl": isl, "osl": osl, "conc": conc}
    bad = [f"{name} is {value}" for name, value in named.items() if (value or 0) <= 0]
    if isl is None or osl is None or conc is None or bad:
        raise RefusedError("missing_isl_osl_conc", ", ".join(bad))
    return Scenario(scenario_text(isl, osl), isl, osl, conc)
