"""What the official dashboard published of a run, to rows.

Artifacts win: a published row at a place that any artifact of the run speaks of gives
no row. Of two published rows at one place the fuller or newer one counts, which is the
one read first.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from dashboard.vocabulary import provenance
from dashboard.vocabulary.frameworks import canonical_framework
from dashboard.vocabulary.scenarios import AGENTIC
from ingest.artifacts.bundles import parse_time
from ingest.conversion.changelog import entry_row
from ingest.conversion.evals import aggregate_eval
from ingest.conversion.points import point_row
from ingest.conversion.records import (
    ArtifactMeta,
    Record,
    RefusedError,
    ref_of,
    skip,
)
from ingest.rows import ChangelogRow, EvalRow, Identity, PointRow, Row, SkipRow
from ingest.schemas.fields import WrongTypeError

PUBLISHED_TEXT = "published by the official dashboard; checkpoint not published"
ROLES = ("prefill", "decode")
# Of aggregate eval rows, whose file names tell when they were made.
_NOT_OF_PUBLISHED = "no_file_time"

Place = tuple[object, ...]


class PublishedConversion:
    """Knows which places the artifacts of a run speak of, and converts the rest."""

    def __init__(self) -> None:
        self._noted: list[PointRow | EvalRow] = []
        self._measured: set[Place] = set()
        self._published: set[Place] = set()

    def note(self, row: Row) -> None:
        """Remember what an artifact of the run says."""
        if isinstance(row, PointRow | EvalRow):
            self._noted.append(row)

    def rows(self, meta: ArtifactMeta, records: Iterable[Record]) -> Iterator[Row]:
        """Yield the rows of what was published and no artifact says."""
        # Only now: most runs have nothing that was published.
        self._measured.update(map(_place, self._noted))
        self._noted.clear()
        for record in records:
            row = _row(meta, record)
            if isinstance(row, PointRow):
                place = (*_place(row), meta.attempt)
                if place in self._published:
                    continue
                self._published.add(place)
            if isinstance(row, PointRow | EvalRow) and _place(row) in self._measured:
                continue
            if row is not None:
                yield row


def _row(meta: ArtifactMeta, record: Record) -> Row | None:
    if meta.name in (provenance.BENCHMARKS, provenance.HISTORY):
        return _point(meta, record)
    if meta.name == provenance.EVALUATIONS:
        return _eval(meta, record)
    if meta.name == provenance.CHANGELOG:
        return _changelog(meta, record)
    return None


def _point(meta: ArtifactMeta, record: Record) -> PointRow | SkipRow:
    value = _object(record)
    row = point_row(meta, replace(record, value=_as_artifact(value)))
    if isinstance(row, PointRow):
        row.facts = {**row.facts, "provenance": provenance.PUBLISHED}
        note = _count_note(value)
        row.warnings.append((provenance.FLAG, f"{PUBLISHED_TEXT}{note}"))
    return row


def _eval(meta: ArtifactMeta, record: Record) -> EvalRow | SkipRow:
    value = _object(record)
    row = aggregate_eval(meta, replace(record, value=_as_artifact(value)))
    if isinstance(row, EvalRow):
        row.measured_at = parse_time(value.get("timestamp"))
        row.warnings = [w for w in row.warnings if w[0] != _NOT_OF_PUBLISHED]
        row.warnings.append((provenance.FLAG, PUBLISHED_TEXT))
    return row


def _changelog(meta: ArtifactMeta, record: Record) -> ChangelogRow | SkipRow:
    """Read an entry; the official dashboard joins its description with line ends."""
    value = _object(record)
    description = value.get("description")
    lines = description.split("\n") if isinstance(description, str) else description
    entry = {
        "config-keys": value.get("config_keys"),
        "description": lines,
        "pr-link": value.get("pr_link"),
    }
    refs = (str(value.get("base_ref") or ""), str(value.get("head_ref") or ""))
    try:
        return entry_row(ref_of(meta, record), record.index, entry, refs)
    except WrongTypeError as error:
        return skip(meta, record, RefusedError("bad_changelog", str(error)))


def _object(record: Record) -> Mapping[str, Any]:
    return record.value if isinstance(record.value, dict) else {}


def _as_artifact(value: Mapping[str, Any]) -> dict[str, Any]:
    """Return a published row in the words of the artifacts that it was made of.

    On a single node both roles repeat the same sizes, and the numbers of their workers
    say nothing.
    """
    metrics = value.get("metrics")
    row: dict[str, Any] = dict(metrics) if isinstance(metrics, dict) else {}
    row |= {name: field for name, field in value.items() if name != "metrics"}
    row |= {
        "hw": value.get("hardware"),
        "infmax_model_prefix": value.get("model"),
        "model": None,
        "spec_decoding": value.get("spec_method"),
    }
    if value.get("benchmark_type") in (AGENTIC, "agentic_traces"):
        row["scenario_type"] = AGENTIC
    if value.get("is_multinode") is not True:
        row |= {
            "tp": value.get("prefill_tp"),
            "ep": value.get("prefill_ep"),
            "dp_attention": value.get("prefill_dp_attention"),
        }
    for role in ROLES:
        if _is_product(value, role):
            row[f"num_{role}_gpu"] = _of_sizes(value, role)
    return row


def _is_product(value: Mapping[str, Any], role: str) -> bool:
    """Tell whether a count of GPUs is tensor times expert parallelism.

    The official dashboard once made it so, although experts share the GPUs of tensor
    parallelism. A count that rows themselves carried differs.
    """
    tp, ep = _whole(value.get(f"{role}_tp")), _whole(value.get(f"{role}_ep"))
    return 1 < ep <= tp and value.get(_count(role)) == ep * _of_sizes(value, role)


def _of_sizes(value: Mapping[str, Any], role: str) -> int:
    workers = _whole(value.get(f"{role}_num_workers")) or 1
    return _whole(value.get(f"{role}_tp")) * workers


def _whole(field: object) -> int:
    return field if isinstance(field, int) else 0


def _count(role: str) -> str:
    return f"num_{role}_gpu"


def _count_note(value: Mapping[str, Any]) -> str:
    """Say which counts of GPUs were not taken."""
    odd = [role for role in ROLES if _is_product(value, role)]
    if not odd:
        return ""
    counts = ", ".join(
        f"{value[_count(role)]} {role} GPUs (the sizes make {_of_sizes(value, role)})"
        for role in odd
    )
    return f"; it counts {counts}"


def _place(row: PointRow | EvalRow) -> Place:
    """Return what the official dashboard tells rows of one run apart by."""
    who = row.identity
    if isinstance(row, EvalRow):
        return (*_config(who), who.concurrency, row.task)
    return (*_config(who), who.deployment.disagg, who.scenario, who.concurrency)


def _config(who: Identity) -> Place:
    d = who.deployment
    sizes: Place = (d.tp, d.ep, d.dp_attention)
    if d.multinode:
        prefill = (d.prefill_tp, d.prefill_ep, d.prefill_dp_attention)
        decode = (d.decode_tp, d.decode_ep, d.decode_dp_attention)
        sizes = (*prefill, d.prefill_workers, *decode, d.decode_workers)
    framework = canonical_framework(who.framework)
    named = (who.model, who.hardware, who.precision, framework, d.spec_method)
    return (*named, d.multinode, *sizes)
