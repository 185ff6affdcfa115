"""Everything that is derived follows from stored records, bit for bit."""

import io
from pathlib import Path

import pytest
from django.core.management import call_command
from django.db import connection

from demo import REPOSITORY
from ingest.artifacts.bundles import open_bundle
from ingest.pipeline import ingest_bundle, limits, official_repository
from tests.demo.conftest import folder  # noqa: F401  a fixture
from tests.faults.checksum import Contents, contents, differences
from tests.ingest import golden

pytestmark = pytest.mark.django_db

# What replay makes, and detection of it: nobody has triaged a regression here.
DERIVED = (
    *("regression", "judgement", "evalsample", "evalresult", "point", "sweep"),
    *("changelogentry", "runstat", "benchmarkjob", "deployment"),
)
_OF_RECORDS = "DELETE FROM dashboard_skip WHERE NOT is_from_reading"


def seen() -> Contents:
    assert connection.connection is not None
    return contents(connection.connection)


def replay_all() -> None:
    call_command("replay", "--all", stdout=io.StringIO())


def empty_derived_tables() -> None:
    """Delete what follows from stored records, as after a table was lost."""
    with connection.cursor() as cursor:
        for table in DERIVED:
            cursor.execute(f"DELETE FROM dashboard_{table}")
        cursor.execute(_OF_RECORDS)


@pytest.fixture
def recorded_runs(shared_data: Path) -> None:
    golden.import_masters(shared_data)
    for run_id in golden.RUN_IDS:
        golden.ingest(shared_data, run_id)


@pytest.fixture
def demo_runs(folder: Path) -> None:  # noqa: F811
    official_repository(REPOSITORY)
    for path in sorted(folder.iterdir()):
        ingest_bundle(open_bundle(path, limits()))


def test_replay_of_everything_writes_no_row(recorded_runs: None) -> None:
    before, stamps = seen(), golden.stamps()
    replay_all()
    assert not differences(before, seen())
    assert golden.stamps() == stamps


@pytest.mark.parametrize("runs", ["recorded_runs", "demo_runs"])
def test_replay_makes_all_rows_again_where_derived_tables_are_empty(
    runs: str, request: pytest.FixtureRequest
) -> None:
    request.getfixturevalue(runs)
    before = seen()
    empty_derived_tables()
    assert differences(before, seen())
    replay_all()
    assert not differences(before, seen())
