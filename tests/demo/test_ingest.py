from pathlib import Path

from ingest.artifacts.bundles import open_bundle
from ingest.artifacts.members import Limits
from ingest.conversion import read_bundle
from ingest.rows import ChangelogRow, PointRow, SkipRow
from tests.demo.reading import DemoRun


def _rows(folder: Path) -> list[object]:
    bundle = open_bundle(folder, Limits())
    assert bundle.notices == []
    return list(read_bundle(bundle, Limits()).rows)


def test_the_ingest_takes_every_row_but_those_without_requests(
    runs: dict[str, DemoRun],
) -> None:
    refused = {}
    for run in runs.values():
        rows = _rows(run.folder)
        points = [row for row in rows if isinstance(row, PointRow)]
        skips = [row for row in rows if isinstance(row, SkipRow)]
        assert len(points) + len(skips) == len(run.rows)
        assert not any(row.warnings for row in points)
        if skips:
            refused[run.name] = [skip.reason for skip in skips]
    assert refused == {"agentic-discovery": ["failed_run"] * 3}


def test_the_ingest_sees_two_placeholder_links(runs: dict[str, DemoRun]) -> None:
    states = {
        run.name: row.link_state
        for run in runs.values()
        for row in _rows(run.folder)
        if isinstance(row, ChangelogRow)
    }
    assert {name for name, state in states.items() if state == "placeholder"} == {
        "swap-crash",
        "swap-clean",
    }
    assert set(states.values()) == {"good", "placeholder"}
