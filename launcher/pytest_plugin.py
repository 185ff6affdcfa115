"""Starts a Postgres and a broker for one test run; loaded with `-p`, before Django.

A conftest.py would be too late: pytest-django reads the settings before it.
"""

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from launcher.paths import database_url, redis_url, socket_folder
from launcher.postgres import FORGETFUL
from launcher.services import broker_for, postgres_for

_STACK = pytest.StashKey[ExitStack]()


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_load_initial_conftests(
    early_config: pytest.Config,
) -> Iterator[None]:
    """Set the environment of the tests, and what it names, before Django looks."""
    stack = ExitStack()
    early_config.stash[_STACK] = stack
    early_config.add_cleanup(stack.close)
    data = Path(tempfile.mkdtemp(prefix="frontierboard-tests-"))
    stack.callback(shutil.rmtree, data, ignore_errors=True)
    stack.callback(shutil.rmtree, socket_folder(data), ignore_errors=True)
    # Without bytecode every process of a test compiles pandas and Django again.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    sys.dont_write_bytecode = False
    os.environ["FRONTIERBOARD_DATA"] = str(data)
    os.environ["FRONTIERBOARD_KEY_PREFIX"] = f"frontierboard-tests-{os.getpid()}:"
    if not os.environ.get("DATABASE_URL"):
        stack.enter_context(postgres_for(data, options=FORGETFUL))
        os.environ["DATABASE_URL"] = database_url(data)
    if not os.environ.get("REDIS_URL"):
        stack.enter_context(broker_for(data))
        os.environ["REDIS_URL"] = redis_url(data)
    yield
