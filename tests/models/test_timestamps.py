"""Timestamps as the database's sessions hand them out."""

from datetime import UTC, datetime
from typing import Any

import pytest
from django.db import DataError, connection

from dashboard.timestamps import UtcLoader

pytestmark = pytest.mark.django_db


def read(text: str | None) -> Any:
    with connection.cursor() as cursor:
        cursor.execute("SELECT %s::timestamptz", [text])
        return cursor.fetchone()[0]


def test_connections_of_django_read_them_so():
    connection.ensure_connection()
    loader = connection.connection.adapters.get_loader(
        connection.connection.adapters.types["timestamptz"].oid, 0
    )
    assert loader is UtcLoader


@pytest.mark.parametrize(
    "expected",
    [
        datetime(2026, 11, 30, 14, 28, 6, tzinfo=UTC),
        datetime(2026, 11, 30, 14, 28, 6, 100_000, tzinfo=UTC),
        datetime(2026, 11, 30, 14, 28, 6, 123_456, tzinfo=UTC),
        datetime(1, 1, 1, tzinfo=UTC),
        datetime.max.replace(tzinfo=UTC),
    ],
)
def test_what_is_written_is_read_again_in_utc(expected: datetime):
    found = read(expected.isoformat())
    assert found == expected
    assert found.tzinfo is UTC


def test_nothing_stays_nothing():
    assert read(None) is None


def test_a_session_elsewhere_reads_the_same_moment():
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL TIME ZONE 'Asia/Kolkata'")
    assert read("2026-11-30 14:28:06+00") == datetime(
        2026, 11, 30, 14, 28, 6, tzinfo=UTC
    )


@pytest.mark.parametrize(
    "text", ["infinity", "-infinity", "0044-03-15 BC", "12000-1-1"]
)
def test_what_python_cannot_hold_is_a_fault_that_is_told(text: str):
    with pytest.raises(DataError):
        read(text)
