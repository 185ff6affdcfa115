"""What no table can hold, found row by row before anything is stored."""

from collections.abc import Iterable, Iterator
from functools import lru_cache

from django.db import models

from dashboard.models import Checkpoint, ConfigKey, EvalResult, Point, Sweep
from dashboard.models import Deployment as DeploymentRow
from dashboard.vocabulary.deployments import Deployment, deployment_label
from ingest.rows import EvalRow, Identity, PointRow, ReuseRow, Row, RunStatRow, SkipRow

INTEGER = 2**31 - 1
BIG_INTEGER = 2**63 - 1
# Index entries of PostgreSQL end at 2,704 bytes.
INDEXED_TEXT = 500

Named = tuple[str, object, int]  # name, value, largest number or length


def bounded(row: Row) -> Row:
    """Return the row or, where no table can hold it, the skip in its place.

    Numbers of rows are whole and not negative; the record itself is kept in full.
    """
    if isinstance(row, PointRow) and _is_usual(row):
        return row
    fault = _first_fault(_values(row))
    if fault is None and isinstance(row, PointRow | EvalRow):
        fault = _deployment_fault(row.identity.deployment)
    return row if fault is None else SkipRow(row.ref, "out_of_range", fault)


def _is_usual(row: PointRow) -> bool:
    """Tell at once of nearly every point that it has nothing a table cannot hold."""
    who = row.identity
    return (
        0 <= who.concurrency <= INTEGER
        and _counts_fit(row.gpus, row.prefill_gpus, row.decode_gpus)
        and _texts_fit(
            who.scenario,
            who.precision,
            who.framework,
            who.checkpoint,
            who.fingerprint,
        )
        and _deployment_fault(who.deployment) is None
    )


@lru_cache(maxsize=4096)
def _counts_fit(*counts: int | None) -> bool:
    """Judge numbers of GPUs once: thousands of rows share them."""
    return all(count is None or 0 <= count <= INTEGER for count in counts)


@lru_cache(maxsize=4096)
def _texts_fit(
    scenario: str,
    precision: str,
    framework: str,
    checkpoint: str | None,
    fingerprint: str,
) -> bool:
    """Judge the texts of a row once: thousands of rows share them."""
    most = (
        (scenario, _length(Sweep, "scenario")),
        (precision, _length(Sweep, "precision")),
        (framework, _length(ConfigKey, "framework")),
        (checkpoint or "", _length(Checkpoint, "name")),
        (fingerprint, _length(Point, "fingerprint")),
    )
    return all(len(text) <= length for text, length in most)


def _first_fault(values: Iterable[Named]) -> str | None:
    for name, value, most in values:
        if isinstance(value, str) and len(value) > most:
            return f"{name} has {len(value)} characters, at most {most} are stored"
        if isinstance(value, int) and not 0 <= value <= most:
            shown = value if abs(value) < 10**30 else "a huge number"
            return f"{name} is {shown}"
    return None


def _values(row: Row) -> Iterator[Named]:
    if isinstance(row, PointRow):
        yield from _of_identity(row.identity)
        yield "GPUs", row.gpus, INTEGER
        yield "prefill GPUs", row.prefill_gpus, INTEGER
        yield "decode GPUs", row.decode_gpus, INTEGER
    elif isinstance(row, EvalRow):
        yield from _of_identity(row.identity)
        yield "n", row.n, INTEGER
        yield "task", row.task, _length(EvalResult, "task")
    elif isinstance(row, RunStatRow):
        yield "the key", row.raw_key, INDEXED_TEXT
        yield f"{row.raw_key}: n_success", row.successes, INTEGER
        yield f"{row.raw_key}: total", row.total, INTEGER
    elif isinstance(row, ReuseRow):
        yield "source_run_id", row.source_run_id, BIG_INTEGER


def _of_identity(identity: Identity) -> Iterator[Named]:
    yield "conc", identity.concurrency, INTEGER
    yield "scenario", identity.scenario, _length(Sweep, "scenario")
    yield "precision", identity.precision, _length(Sweep, "precision")
    yield "framework", identity.framework, _length(ConfigKey, "framework")
    yield "model", identity.checkpoint, _length(Checkpoint, "name")
    yield "fingerprint", identity.fingerprint, _length(Point, "fingerprint")


@lru_cache(maxsize=4096)
def _deployment_fault(deployment: Deployment) -> str | None:
    """Judge a topology once: a run has few of them, and they have many parts."""
    sizes = [
        (
            name,
            value,
            INTEGER if not isinstance(value, str) else _length(DeploymentRow, name),
        )
        for name, value in deployment._asdict().items()
    ]
    label = deployment_label(deployment)
    length = _length(DeploymentRow, "label")
    return _first_fault([*sizes, ("deployment", label, length)])


@lru_cache
def _length(model: type[models.Model], name: str) -> int:
    field = model._meta.get_field(name)  # noqa: SLF001  # Django documents it
    return int(getattr(field, "max_length"))  # noqa: B009  # relations have none
