"""What the tests of the pipeline share: ingesting, looking, counting."""

from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.core.management import CommandError, call_command

from dashboard.models import Point, Run, Skip, Sweep
from ingest.artifacts.bundles import open_bundle
from ingest.pipeline import Report, ingest_bundle, limits
from tests.pipeline.bundles import write_bundle


class Desk:
    """Writes bundles below one folder and takes them in."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._count = 0

    def write(self, *args: Any, **kwargs: Any) -> Path:
        """Write a bundle into a folder of its own."""
        self._count += 1
        return write_bundle(self.folder / f"bundle{self._count}", *args, **kwargs)

    def ingest(self, *args: Any, **kwargs: Any) -> Report:
        """Write a bundle and take it in."""
        return self.take(self.write(*args, **kwargs))

    def take(self, path: Path) -> Report:
        """Take a bundle in."""
        return ingest_bundle(open_bundle(path, limits()))


@pytest.fixture
def desk(tmp_path: Path, db: None) -> Desk:
    return Desk(tmp_path)


def forget_runs() -> None:
    """Delete all runs; config files stay. Links between sweeps go first."""
    Sweep.objects.update(state=None, extends=None)
    Run.objects.all().delete()


def counts() -> dict[str, int]:
    """Count the rows of every table."""
    models = apps.get_app_config("dashboard").get_models()
    return {m.__name__: m._default_manager.count() for m in models}


def the_run(run_id: int = 90001) -> Run:
    return Run.objects.get(github_run_id=run_id)


def the_sweep(run_id: int = 90001) -> Sweep:
    return Sweep.objects.get(run__github_run_id=run_id)


def the_point(**where: Any) -> Point:
    return Point.objects.get(**where)


def skips(run_id: int = 90001) -> dict[str, list[str]]:
    """Return the details of what was not taken, by reason."""
    found: dict[str, list[str]] = {}
    for skip in Skip.objects.filter(run__github_run_id=run_id).order_by("pk"):
        found.setdefault(skip.reason, []).append(skip.detail)
    return found


def flags(point: Point) -> dict[str, str]:
    """Return the texts of a point's flags by code."""
    return dict(point.flags)


def refused(path: Path, capsys: pytest.CaptureFixture[str]) -> str:
    """Ingest by the command; return the one line said of it; nothing was stored."""
    before = counts()
    with pytest.raises(CommandError, match="1 of 1 bundles were not taken"):
        call_command("ingest_path", str(path))
    assert counts() == before
    lines = [line for line in capsys.readouterr().err.splitlines() if line]
    assert len(lines) == 1, lines
    return lines[0]
