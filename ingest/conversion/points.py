"""Throughput records to points: fixed lengths here, replayed traces in `agentic`."""

from typing import Any

from dashboard.vocabulary.scenarios import scenario_text
from ingest.artifacts.names import Kind
from ingest.conversion.agentic import agentic_point, is_agentic
from ingest.conversion.assembly import PointBuilder, Scenario
from ingest.conversion.metrics import drop_undefined_interactivity, flat_metrics
from ingest.conversion.records import (
    ArtifactMeta,
    Record,
    RefusedError,
    object_of,
    skip,
)
from ingest.normalize import lengths_in_name
from ingest.rows import PointRow, SkipRow
from ingest.schemas.fields import WrongTypeError, read
from ingest.schemas.points import PointRecord


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


def _fixed_point(meta: ArtifactMeta, record: Record, value: dict[str, Any]) -> PointRow:
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
