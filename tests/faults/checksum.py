"""What a database holds, in an order and in words that no disturbance changes.

Two databases that took in the same artifacts have the same contents, whatever happened
on the way: a row is told by its natural key, never by its id, and what only says when
or how often something was tried is left out. Reads PostgreSQL alone and knows nothing
of the models, so that a new table is part of it from its first day.
"""

import hashlib
import json
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import psycopg
from psycopg import sql

# Tables that may differ after a fault, and why.
LEFT_OUT = {
    "dashboard_ingestrequest": "who asked, how often it was tried, and when",
    "dashboard_generation": "how often something changed, not what it is now",
    "dashboard_webhookdelivery": "what GitHub sent, at what time",
    "dashboard_fetch": "when lists of artifacts were read",
    "django_session": "who is logged in",
    "django_admin_log": "what staff did by hand, at what time",
    "django_migrations": "when the tables were made",
}
# Columns that hold the moment of writing. What GitHub or a person dated stays.
MOMENTS = frozenset(
    {
        *("stored_at", "updated_at", "seen_at", "found_at", "made_at", "read_at"),
        *("last_login", "last_used_at"),
    }
)
# By what a row is told where another one refers to it.
IDENTITY = {
    "auth_group": ("name",),
    "auth_permission": ("content_type_id", "codename"),
    "auth_user": ("username",),
    "dashboard_artifact": ("run_id", "github_artifact_id", "name", "sha256"),
    "dashboard_checkpoint": ("name",),
    "dashboard_configdefinition": ("config_key_id", "digest"),
    "dashboard_configfile": ("sha256",),
    "dashboard_configkey": ("key",),
    "dashboard_configmatrix": ("master_id", "runners_id"),
    "dashboard_deployment": ("label",),
    "dashboard_evalresult": (
        *("run_id", "config_key_id", "deployment_id", "scenario"),
        *("concurrency", "task", "attempt"),
    ),
    "dashboard_rawrecord": ("artifact_id", "member", "index"),
    "dashboard_regression": ("run_id", "config_key_id", "scenario", "kind"),
    "dashboard_repository": ("full_name",),
    "dashboard_run": ("github_run_id",),
    "dashboard_sweep": ("run_id", "config_key_id", "scenario"),
    "django_content_type": ("app_label", "model"),
}
# JSON columns that hold a list of ids of another table.
LISTS_OF_IDS = {("dashboard_regression", "checks"): "dashboard_sweep"}

Contents = Mapping[str, list[str]]
Row = Mapping[str, str | None]


@dataclass
class _Tables:
    """All rows as text by table and id, and which column refers to which table."""

    rows: dict[str, dict[str, dict[str, str | None]]] = field(default_factory=dict)
    references: dict[str, dict[str, str]] = field(
        default_factory=lambda: defaultdict(dict)
    )
    named: dict[tuple[str, str], str] = field(default_factory=dict)

    def name(self, table: str, pk: str) -> str:
        """Return the natural key of a row."""
        found = self.named.get((table, pk))
        if found is None:
            row = self.rows[table][pk]
            parts = [self.told(table, row, column) for column in IDENTITY[table]]
            found = self.named[table, pk] = f"<{' '.join(map(str, parts))}>"
        return found

    def told(self, table: str, row: Row, column: str) -> str | None:
        """Return a value of a row, with natural keys for ids."""
        value = row[column]
        if value is None:
            return None
        target = self.references[table].get(column)
        if target is not None:
            return self.name(target, value)
        if listed := LISTS_OF_IDS.get((table, column)):
            known = self.rows[listed]
            ids = [str(pk) for pk in json.loads(value)]
            return str([self.name(listed, pk) for pk in ids if pk in known])
        return value

    def lines(self, table: str) -> list[str]:
        """Return a line per row, sorted."""
        rows = self.rows[table].values()
        return sorted(self._line(table, row) for row in rows)

    def _line(self, table: str, row: Row) -> str:
        columns = sorted(set(row) - MOMENTS - {"id"})
        return " ".join(f"{name}={self.told(table, row, name)}" for name in columns)


def contents(connection: "psycopg.Connection[Any]") -> Contents:
    """Return the sorted rows of every table that is not left out, as text."""
    tables = _Tables()
    with connection.cursor() as cursor:
        cursor.execute("SELECT set_config('TimeZone', 'UTC', true)")
        for table in _names(cursor):
            tables.rows[table] = _rows(cursor, table)
        for table, column, target in _references(cursor):
            tables.references[table][column] = target
    told = sorted(tables.rows.keys() - LEFT_OUT.keys())
    return {table: tables.lines(table) for table in told}


def contents_of(url: str) -> Contents:
    """Return the contents of the database of an address."""
    with psycopg.connect(url) as connection:
        return contents(connection)


def checksums(found: Contents) -> dict[str, str]:
    """Return a checksum per table."""
    return {
        table: hashlib.sha256("\n".join(lines).encode()).hexdigest()
        for table, lines in found.items()
    }


def differences(expected: Contents, seen: Contents) -> list[str]:
    """Return what one has and the other lacks, a few lines of each table."""
    told = []
    for table in sorted(expected.keys() | seen.keys()):
        before, after = expected.get(table, []), seen.get(table, [])
        if before == after:
            continue
        told.append(f"{table}: {len(before)} rows expected, {len(after)} seen")
        told += [f"  - {line[:400]}" for line in sorted(set(before) - set(after))[:3]]
        told += [f"  + {line[:400]}" for line in sorted(set(after) - set(before))[:3]]
    return told


def _names(cursor: Any) -> list[str]:
    cursor.execute(
        "SELECT tablename FROM pg_tables WHERE schemaname = 'public' ORDER BY 1"
    )
    return [name for (name,) in cursor.fetchall()]


def _rows(cursor: Any, table: str) -> dict[str, dict[str, str | None]]:
    """Return all rows of a table by id, each value as PostgreSQL writes it."""
    cursor.execute(
        "SELECT column_name FROM information_schema.columns"
        " WHERE table_schema = 'public' AND table_name = %s ORDER BY 1",
        [table],
    )
    columns = [name for (name,) in cursor.fetchall()]
    texts = sql.SQL(", ").join(sql.SQL("{}::text").format(_name(c)) for c in columns)
    cursor.execute(sql.SQL("SELECT {} FROM {}").format(texts, _name(table)))
    found = [dict(zip(columns, row, strict=True)) for row in cursor.fetchall()]
    return {str(row.get("id", number)): row for number, row in enumerate(found)}


def _references(cursor: Any) -> list[tuple[str, str, str]]:
    cursor.execute(
        """SELECT c.conrelid::regclass::text, a.attname, c.confrelid::regclass::text
        FROM pg_constraint c JOIN pg_attribute a
            ON a.attrelid = c.conrelid AND a.attnum = c.conkey[1]
        WHERE c.contype = 'f'"""
    )
    return list(cursor.fetchall())


def _name(text: str) -> sql.Identifier:
    return sql.Identifier(text)
