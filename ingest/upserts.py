"""Rows into tables at COPY speed, changing only what differs."""

import json
import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any

import orjson
from django.db import DataError, connection, models, transaction
from psycopg import sql
from psycopg.abc import PQGen
from psycopg.copy import LibpqWriter
from psycopg.errors import error_from_result
from psycopg.generators import fetch_many
from psycopg.pq import ExecStatus
from psycopg.types.string import BytesBinaryDumper
from psycopg.waiting import Wait

from dashboard.models.metrics_field import MetricsField, packed_doubles

Values = tuple[object, ...]
Writer = Callable[[Any], bytes]

_LENGTH = re.compile(r"\(\d+\)")
# Where whole numbers end. The driver cuts off what is beyond, and says nothing.
_ENDS = {"smallint": 1 << 15, "integer": 1 << 31, "bigint": 1 << 63}
# Rows of a part: some milliseconds of work for either process.
_PART = 1_000
# Rows that are named in a statement, and letters of their texts: a long statement is
# copied several times on either side, and one of 1 GB ends the connection.
_FEW, _SHORT = 100, 1 << 18


class SentCopy(LibpqWriter):
    """The end of a COPY that does not wait for what the database says of it."""

    _is_awaited = False

    def finish(self, exc: BaseException | None = None) -> None:
        """Send the end; `answer` must be asked for before anything else is."""
        if exc is not None:
            super().finish(exc)
            return
        self.connection.wait(self._sent())
        self._is_awaited = True

    def _sent(self) -> PQGen[None]:
        self._pgconn.put_copy_end()
        while self._pgconn.flush():
            yield Wait.W

    def answer(self) -> None:
        """Wait for the database, once; raises its error."""
        if self._is_awaited:
            self._is_awaited = False
            result, *_ = self.connection.wait(fetch_many(self._pgconn))
            if result.status != ExecStatus.COMMAND_OK:
                raise error_from_result(result)


@dataclass(frozen=True, slots=True)
class Table:
    """Where rows go: a model, its columns in order, and the natural key among them.

    ``kept`` columns are written when a row is new and never changed afterwards.
    ``where`` is the condition of a partial unique index, as SQL.
    """

    model: type[models.Model]
    columns: tuple[str, ...]
    key: tuple[str, ...]
    kept: frozenset[str] = frozenset()
    where: str = ""

    @property
    def name(self) -> sql.Identifier:
        """The table's name."""
        return sql.Identifier(self.model._meta.db_table)

    @property
    def changing(self) -> list[str]:
        """Return the columns that a later sight of the row may change."""
        fixed = {*self.key, *self.kept}
        return [name for name in self.columns if name not in fixed]

    @property
    def is_stamped(self) -> bool:
        """Tell whether rows carry the time of their last change."""
        return any(field.name == "updated_at" for field in self.model._meta.fields)


@dataclass(frozen=True, slots=True)
class Stored:
    """What an upsert did: ids by natural key, and how many rows were new or changed."""

    ids: dict[Values, int]
    new: int
    changed: int = 0
    same: int = 0


def insert(table: Table, rows: Iterable[Values]) -> Stored:
    """Store rows of which the caller knows that none is stored; tells no ids.

    Straight into the table, which takes two thirds of the time of `upsert`.
    """
    with connection.cursor() as cursor:
        return Stored(ids={}, new=_copy(cursor, table, rows, into=table.name))


def insert_in_parts(table: Table, rows: Iterable[Values]) -> Stored:
    """Store rows as `insert` does; the database stores a part while the next is made.

    It checks their foreign keys with each part and not at the commit, for which this
    process would wait. Whatever makes the rows may ask the database nothing.
    """
    rows = iter(rows)
    count, sent = 0, None
    with connection.wrap_database_errors, connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        try:
            while part := list(islice(rows, _PART)):
                if sent is not None:
                    sent.answer()
                sent = SentCopy(cursor.cursor)
                _copy(cursor, table, part, into=table.name, writer=sent)
                count += len(part)
        finally:
            # After a failure too: nothing can be rolled back before it.
            if sent is not None:
                sent.answer()
        cursor.execute("SET CONSTRAINTS ALL DEFERRED")
    return Stored(ids={}, new=count)


def upsert(table: Table, rows: Iterable[Values]) -> Stored:
    """Store rows by natural key; rows that are already equal are not touched.

    1. COPY into a temporary table, unless the rows are few and short: then statements
    name them, which takes half of the time. 2. INSERT ... ON CONFLICT DO UPDATE where
    the content differs. 3. Read the ids back by natural key. The rows' keys must be
    distinct: PostgreSQL refuses to change one row twice in one statement. No rows ask
    nothing of the database: most runs lack most kinds of rows.
    """
    rows = iter(rows)
    first = list(islice(rows, _FEW + 1))
    if not first:
        return Stored(ids={}, new=0)
    with transaction.atomic(savepoint=False), connection.cursor() as cursor:
        if _are_few(first) and not _has_arrays(table):
            return _merge(cursor, table, *_named(table, first))
        # The temporary table lives as long as its transaction.
        cursor.execute(_incoming_statement(table))
        _copy(cursor, table, chain(first, rows), into=sql.Identifier("incoming"))
        keys = sql.SQL("(SELECT {} FROM incoming)").format(_names(table.key))
        stored = _merge(cursor, table, sql.Identifier("incoming"), keys)
        cursor.execute("DROP TABLE incoming")
    return stored


def _merge(
    cursor: Any, table: Table, incoming: sql.Composable, keys: sql.Composable
) -> Stored:
    """Store rows, given as what stands behind FROM, as their natural keys are."""
    cursor.execute(_merge_statement(table, incoming))
    outcomes = [is_new for (is_new,) in cursor.fetchall()]
    cursor.execute(_ids_statement(table, keys))
    ids = {tuple(row[1:]): row[0] for row in cursor.fetchall()}
    new, written = sum(outcomes), len(outcomes)
    return Stored(ids, new, changed=written - new, same=len(ids) - written)


def _are_few(rows: Sequence[Values]) -> bool:
    letters = sum(len(v) for row in rows for v in row if isinstance(v, str))
    return len(rows) <= _FEW and letters <= _SHORT


def _has_arrays(table: Table) -> bool:
    return any(isinstance(_fields(table)[n], MetricsField) for n in table.columns)


def _named(table: Table, rows: Sequence[Values]) -> tuple[sql.Composed, sql.Composed]:
    """Return lists of values: the rows, and their natural keys."""
    fields = [_fields(table)[name] for name in table.columns]
    named = [list(map(_literal, fields, row)) for row in rows]
    # The first row says the types of all. The lengths of texts are for the table to
    # check: a cast would cut them off.
    types = [sql.SQL(_LENGTH.sub("", field.db_type(connection))) for field in fields]
    cast = sql.SQL("{}::{}").format
    named[0] = list(map(cast, named[0], types))
    places = [table.columns.index(name) for name in table.key]
    return _values(named), _values([[row[p] for p in places] for row in named])


def _values(rows: Iterable[Sequence[sql.Composable]]) -> sql.Composed:
    listed = [sql.SQL("({})").format(sql.SQL(", ").join(row)) for row in rows]
    return sql.SQL("(VALUES {})").format(sql.SQL(", ").join(listed))


def _literal(field: Any, value: object) -> sql.Composable:
    is_json = isinstance(field, models.JSONField) and value is not None
    return sql.Literal(_json(value).decode() if is_json else value)


def delete_others(
    model: type[models.Model], kept: Iterable[int], **scope: object
) -> int:
    """Delete the rows of a scope whose ids are not kept; return how many."""
    stored = set(model._default_manager.filter(**scope).values_list("pk", flat=True))
    stale = stored - set(kept)
    if stale:
        model._default_manager.filter(pk__in=stale).delete()
    return len(stale)


def _incoming_statement(table: Table) -> sql.Composed:
    return sql.SQL(
        "CREATE TEMP TABLE incoming ON COMMIT DROP AS "
        "SELECT {columns} FROM {table} WITH NO DATA"
    ).format(columns=_names(table.columns), table=table.name)


def _copy(
    cursor: Any,
    table: Table,
    rows: Iterable[Values],
    *,
    into: sql.Identifier,
    writer: LibpqWriter | None = None,
) -> int:
    """Copy rows into a table that has the columns; return how many.

    In the binary format: numbers as text cost this process and PostgreSQL as much as
    all the rest of a point.
    """
    statement = sql.SQL("COPY {} ({}) FROM STDIN (FORMAT BINARY)")
    columns = _names(table.columns)
    types, written = _types(table), _writers(table)
    # The driver's own cursor: a wrapper of Django's takes no writer.
    driver = cursor.cursor
    # The one in C; the driver takes its wrapper of old for the type otherwise.
    driver.adapters.register_dumper(bytes, BytesBinaryDumper)
    # Django's wrapper would leave the driver's errors of a COPY as they are, too.
    with (
        connection.wrap_database_errors,
        driver.copy(statement.format(into, columns), writer=writer) as copy,
    ):
        copy.set_types(types)
        whole = [(place, _ENDS[t]) for place, t in enumerate(types) if t in _ENDS]
        for row in rows:
            _refuse_out_of_range(row, whole)
            copy.write_row(_written(row, written) if written else row)
    return int(cursor.rowcount)


def _refuse_out_of_range(row: Values, whole: Sequence[tuple[int, int]]) -> None:
    for place, end in whole:
        value: Any = row[place]
        if value is not None and not -end <= value < end:
            raise DataError(f"{value} is out of range")


def _written(row: Values, written: Sequence[tuple[int, Writer]]) -> list[object]:
    """Return a row with bytes at the places of JSON and array columns."""
    values = list(row)
    for place, bytes_of in written:
        if values[place] is not None:
            values[place] = bytes_of(values[place])
    return values


def _types(table: Table) -> list[str]:
    """Return what each column is written as; ``bytea`` goes as the bytes it is."""
    own = {place for place, _ in _writers(table)}
    fields = _fields(table)
    return [
        # The lengths of texts are for the database to check.
        "bytea" if place in own else _LENGTH.sub("", fields[name].db_type(connection))
        for place, name in enumerate(table.columns)
    ]


def _writers(table: Table) -> list[tuple[int, Writer]]:
    """Return the places of columns of which we write the bytes, and how."""
    fields = _fields(table)
    kinds = {models.JSONField: _jsonb, MetricsField: packed_doubles}
    return [
        (place, bytes_of)
        for place, name in enumerate(table.columns)
        for kind, bytes_of in kinds.items()
        if isinstance(fields[name], kind)
    ]


def _fields(table: Table) -> dict[str, Any]:
    fields: Iterable[Any] = table.model._meta.concrete_fields
    return {field.column: field for field in fields}


def _jsonb(value: object) -> bytes:
    """Write ``jsonb``: its version and the text."""
    return b"\1" + _json(value)


def _json(value: object) -> bytes:
    """Write JSON; integers of more than 64 bits are for the slow writer."""
    try:
        return orjson.dumps(value, option=orjson.OPT_NON_STR_KEYS)
    except orjson.JSONEncodeError:
        return json.dumps(_finite(value)).encode()


def _finite(value: object) -> object:
    """Return a value as the fast writer would write it: no NaN, no infinity."""
    if isinstance(value, dict):
        return {name: _finite(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(inner) for inner in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def _names(names: Sequence[str], prefix: str = "") -> sql.Composed:
    if prefix:
        return sql.SQL(", ").join(sql.Identifier(prefix, name) for name in names)
    return sql.SQL(", ").join(map(sql.Identifier, names))


def _merge_statement(table: Table, incoming: sql.Composable) -> sql.Composed:
    return sql.SQL(
        "INSERT INTO {table} AS stored ({columns}) "
        "SELECT {columns} FROM {incoming} AS given ({columns}) "
        "ON CONFLICT ({key}) {where} {action} RETURNING (xmax = 0)"
    ).format(
        table=table.name,
        incoming=incoming,
        columns=_names(table.columns),
        key=_names(table.key),
        where=sql.SQL(f"WHERE {table.where}" if table.where else ""),
        action=_conflict_action(table),
    )


def _conflict_action(table: Table) -> sql.Composable:
    names = table.changing
    if not names:
        return sql.SQL("DO NOTHING")
    changes: list[sql.Composable] = [
        sql.SQL("{} = {}").format(sql.Identifier(n), sql.Identifier("excluded", n))
        for n in names
    ]
    if table.is_stamped:
        changes.append(sql.SQL("updated_at = now()"))
    return sql.SQL(
        "DO UPDATE SET {changes} WHERE ({stored}) IS DISTINCT FROM ({incoming})"
    ).format(
        changes=sql.SQL(", ").join(changes),
        stored=_row(names, "stored"),
        incoming=_row(names, "excluded"),
    )


def _row(names: Sequence[str], prefix: str) -> sql.Composed:
    return sql.SQL("ROW({})").format(_names(names, prefix))


def _ids_statement(table: Table, keys: sql.Composable) -> sql.Composed:
    nullable = {f.column for f in table.model._meta.concrete_fields if f.null}
    matches: list[sql.Composable] = [
        sql.SQL("t.{0} {1} i.{0}").format(
            sql.Identifier(name),
            # Only where nulls can be: `=` lets the planner use the unique index.
            sql.SQL("IS NOT DISTINCT FROM" if name in nullable else "="),
        )
        for name in table.key
    ]
    if table.where:
        matches.append(sql.SQL(f"t.{table.where}"))
    return sql.SQL(
        "SELECT t.id, {key} FROM {table} t JOIN {keys} AS i ({names}) ON {matches}"
    ).format(
        keys=keys,
        names=_names(table.key),
        key=_names(table.key, "t"),
        table=table.name,
        matches=sql.SQL(" AND ").join(matches),
    )
