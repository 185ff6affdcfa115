"""Points as a list reads them: page by page, or all of them through one cursor.

Both in the order of (sweep, point), which the unique index gives: what one run measured
of a key stands together, and a page begins where the last one ended.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import Any, NamedTuple

from django.db import DEFAULT_DB_ALIAS, connection, connections, transaction
from django.db.models import F, Q
from django.db.models.fields.json import KeyTextTransform
from django.db.models.query import QuerySet

from dashboard.analysis.frames import HOT_METRICS
from dashboard.models import Deployment, Point, Sweep
from dashboard.vocabulary import deployments
from dashboard.vocabulary.provenance import ARTIFACTS
from dashboard.vocabulary.stored_metrics import as_doubles

AT_ONCE = 500
# A reader that takes nothing for so long gives its transaction back.
PATIENCE = "60s"
Place = tuple[int, int]

_COLUMNS = (
    *("id", "sweep_id", "deployment_id", "concurrency", "attempt"),
    *("is_current", "is_excluded", "is_out", "flags", "image", "runner"),
    *("gpus", "prefill_gpus", "decode_gpus"),
)
_SWEEP_FIELDS = {
    "config_key": "config_key__key",
    "model": "config_key__model",
    "precision": "config_key__precision",
    "hardware": "config_key__hardware",
    "framework": "config_key__framework",
    "scenario": "scenario",
    "run_id": "run__github_run_id",
    "run_url": "run__url",
    "publication": "run__publication",
    "published_by": "run__published_by__github_run_id",
    "state": "state",
    "extends_run_id": "extends__run__github_run_id",
    "segment": "segment",
    "checkpoint": "checkpoint__name",
    "sweep_image": "image",
    "measured_at": "measured_at",
    "official_at": "official_at",
}


class StoredPoint(NamedTuple):
    """A point as it is stored; ``metrics`` by name, None where not measured."""

    columns: dict[str, Any]
    metrics: dict[str, float | None]

    @property
    def place(self) -> Place:
        """Return where the point stands in the order of lists."""
        return self.columns["sweep_id"], self.columns["id"]


class Block(NamedTuple):
    """Points with the sweeps and topologies that they name, by their ids."""

    points: Sequence[StoredPoint]
    sweeps: dict[int, dict[str, Any]]
    topologies: dict[int, tuple[str, dict[str, int | bool | str]]]


def page(
    points: QuerySet[Point], after: Place | None, limit: int
) -> tuple[Block, bool]:
    """Return at most ``limit`` points after a place, and whether more follow.

    A sweep that goes between its points and its name is still named.
    """
    with _snapshot(points.db):
        rows = list(_rows(points, after)[: limit + 1])
        return _block(map(_stored, rows[:limit])), len(rows) > limit


def stream(points: QuerySet[Point], after: Place | None) -> Iterator[Block]:
    """Yield all points after a place as they were when it began, some at a time.

    Through a cursor of the database in a transaction of its own, so that memory stays
    the same however many there are, and sweeps that go meanwhile are still named.
    """
    # Lines are read once the request is answered, and so from the primary.
    with _snapshot(DEFAULT_DB_ALIAS):
        with connection.cursor() as cursor:
            cursor.execute(
                "SET LOCAL idle_in_transaction_session_timeout = %s", [PATIENCE]
            )
        rows = map(_stored, _rows(points, after).iterator(chunk_size=AT_ONCE))
        while chunk := list(islice(rows, AT_ONCE)):
            yield _block(chunk)


@contextmanager
def _snapshot(database: str) -> Iterator[None]:
    """Let all that is read of a database inside be of one moment."""
    # Inside of another one it is too late to say what is seen.
    is_outermost = not connections[database].in_atomic_block
    with transaction.atomic(using=database):
        if is_outermost:
            with connections[database].cursor() as cursor:
                cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        yield


def _rows(points: QuerySet[Point], after: Place | None) -> QuerySet[Any, Any]:
    if after is not None:
        sweep_id, pk = after
        later = Q(sweep_id__gt=sweep_id) | Q(sweep_id=sweep_id, pk__gt=pk)
        # The first condition is what the index is entered by.
        points = points.filter(Q(sweep_id__gte=sweep_id) & later)
    named = points.annotate(origin=KeyTextTransform("provenance", "facts"))
    ordered = named.order_by(F("sweep_id").asc(), "pk")
    return ordered.values_list(
        *(*_COLUMNS, *HOT_METRICS, "origin", "metrics", "more_metrics")
    )


def _stored(row: tuple[Any, ...]) -> StoredPoint:
    *values, origin, listed, others = row
    columns = dict(zip(_COLUMNS, values, strict=False))
    columns["provenance"] = origin or ARTIFACTS
    metrics: dict[str, float | None] = {**listed, **as_doubles(others)}
    # Of agentic points the columns hold what was recomputed.
    metrics.update(zip(HOT_METRICS, values[len(_COLUMNS) :], strict=True))
    return StoredPoint(columns, metrics)


def _block(rows: Iterable[StoredPoint]) -> Block:
    points = list(rows)
    return Block(
        points,
        _sweeps({point.columns["sweep_id"] for point in points}),
        topologies({point.columns["deployment_id"] for point in points}),
    )


def _sweeps(ids: Iterable[int]) -> dict[int, dict[str, Any]]:
    rows = Sweep.objects.filter(pk__in=ids).values_list("pk", *_SWEEP_FIELDS.values())
    return {pk: dict(zip(_SWEEP_FIELDS, rest, strict=True)) for pk, *rest in rows}


def topologies(
    ids: Iterable[int],
) -> dict[int, tuple[str, dict[str, int | bool | str]]]:
    """Return label and parts of deployments; parts that do not apply are left out."""
    names = deployments.Deployment._fields
    rows = Deployment.objects.filter(pk__in=ids).values_list("pk", "label", *names)
    return {
        pk: (
            label,
            {
                name: part
                for name, part in zip(names, parts, strict=True)
                if part not in (None, "")
            },
        )
        for pk, label, *parts in rows
    }
