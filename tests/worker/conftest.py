"""One worker for all tests of a module, restarted by those that kill it."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.db import transaction

from tests.ingest import golden
from tests.worker.crew import Crew, wait_until_idle


@pytest.fixture(scope="module")
def workers(
    tmp_path_factory: pytest.TempPathFactory,
    django_db_setup: None,
    django_db_blocker: Any,
) -> Iterator[Crew]:
    """A worker that may be killed, and outlives the tests that do not."""
    with django_db_blocker.unblock():
        crew = Crew(tmp_path_factory.mktemp("worker"))
    yield crew
    crew.stop()


@pytest.fixture
def crew(workers: Crew, transactional_db: None) -> Iterator[Crew]:
    """A running worker, an empty database and an empty raw store."""
    shutil.rmtree(workers.raw, ignore_errors=True)
    workers.start()
    yield workers
    # The tables are emptied next, which waits for sessions in a transaction.
    wait_until_idle()


@pytest.fixture(scope="module")
def undisturbed(
    shared_data: Path, django_db_setup: None, django_db_blocker: Any
) -> dict[int, dict[str, str]]:
    """What the tables hold after each recorded run alone, when nothing goes wrong."""
    states = {}
    with django_db_blocker.unblock(), transaction.atomic():
        for run_id in golden.RUN_IDS:
            before = transaction.savepoint()
            golden.ingest(shared_data, run_id)
            states[run_id] = golden.state()
            transaction.savepoint_rollback(before)
        transaction.set_rollback(True)
    return states
