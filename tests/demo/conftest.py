"""The demo's bundles, written once and read back from disk."""

import datetime
from pathlib import Path

import pytest

from demo import write_bundles
from tests.demo.reading import DemoRun, read_run

UNTIL = datetime.date(2026, 11, 30)


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("demo")
    write_bundles(path, UNTIL)
    return path


@pytest.fixture(scope="session")
def runs(folder: Path) -> dict[str, DemoRun]:
    """The story's runs by name, oldest first."""
    found = [read_run(bundle) for bundle in sorted(folder.iterdir())]
    return {run.name: run for run in found}
