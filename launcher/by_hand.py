"""The data folder's services for a command that a person runs by hand."""

import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager

from launcher.env_file import load_env_file
from launcher.paths import data_folder, database_url, redis_url
from launcher.services import broker_for, postgres_for

# These touch no database; anything else may.
_NO_DATABASE = frozenset(
    {
        *("--help", "-h", "help", "--version", "version"),
        *("check", "collectstatic", "diffsettings", "findstatic"),
        *("makemessages", "compilemessages", "startapp", "startproject"),
    }
)


@contextmanager
def services_for(arguments: Sequence[str]) -> Iterator[None]:
    """Run the block with DATABASE_URL and REDIS_URL set and served.

    A running service of the data folder is used; otherwise one is started and stopped
    again at the end. Values that are already in the environment are left alone.
    """
    load_env_file()
    data = data_folder()
    with ExitStack() as stack:
        if needs_database(arguments):
            if not os.environ.get("DATABASE_URL"):
                stack.enter_context(postgres_for(data))
                os.environ["DATABASE_URL"] = database_url(data)
            if not os.environ.get("REDIS_URL"):
                stack.enter_context(broker_for(data))
                os.environ["REDIS_URL"] = redis_url(data)
        yield


def needs_database(arguments: Sequence[str]) -> bool:
    """Say whether a manage.py command line may reach for the database."""
    rest = arguments[1:]
    return bool(rest) and not {rest[0], *(set(rest) & {"--help", "-h"})} & _NO_DATABASE
