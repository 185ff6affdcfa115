"""Reads the database's timestamps quickly: rows hold several, pages many rows.

Django's loader parses them in Python by a regular expression, which takes longer than
all the rest of a row. `datetime.fromisoformat` reads the same text in a tenth of it.
"""

from datetime import UTC, datetime
from typing import Any

from psycopg.abc import Buffer
from psycopg.adapt import Loader
from psycopg.types.datetime import TimestamptzLoader


class UtcLoader(Loader):
    """Loads ``timestamptz`` of a session in UTC; Django asks for its ``timezone``."""

    timezone = UTC

    def load(self, data: Buffer) -> datetime:
        """Return an aware datetime; raises psycopg.DataError for years Python lacks."""
        try:
            return datetime.fromisoformat(str(data, "ascii"))
        except ValueError:
            # Infinity, and years before 1 or after 9999: the driver says what is wrong.
            return TimestamptzLoader(self.oid, self.connection).load(data)


def read_quickly(*, connection: Any, **_signal: object) -> None:
    """Let a new connection of Django read its timestamps by `UtcLoader`."""
    connection.connection.adapters.register_loader("timestamptz", UtcLoader)
