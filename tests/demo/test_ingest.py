from pathlib import Path

from ingest.artifacts.bundles import open_bundle
from ingest.artifacts.members import Limits
from ingest.config_keys import Snapshot, expand_master
from ingest.mapping import MappedPoint, RunMapper, flagged
from ingest.rows import ChangelogRow, EvalRow, PointRow, SkipRow
from tests.demo.reading import DemoRun
from tests.ingest.reading import read_bundle


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


def _snapshot(run: DemoRun) -> Snapshot:
    runners = run.texts["runners.yaml"]
    masters = [text for name, text in run.texts.items() if name != "runners.yaml"]
    entries = [expand_master(text, runners).entries for text in masters]
    return Snapshot([entry for found in entries for entry in found])


def test_every_point_and_eval_maps_to_one_key_without_a_doubt(
    runs: dict[str, DemoRun],
) -> None:
    methods = set()
    for run in runs.values():
        mapper = RunMapper(_snapshot(run), [])
        rows = _rows(run.folder)
        found = [mapper.map_point(r) for r in rows if isinstance(r, PointRow)]
        points = [point for point in found if isinstance(point, MappedPoint)]
        evals = mapper.map_evals((r for r in rows if isinstance(r, EvalRow)), set())
        assert points == found
        for _, flags in flagged(points):
            # The story has one point without valid power telemetry.
            assert {code for code, _ in flags} <= {"power_invalid"}
        mappings = [point.mapping for point in points]
        mappings += [mapped.mapping for mapped in evals]
        assert all(len(mapping.candidates) <= 1 for mapping in mappings)
        methods |= {mapping.method for mapping in mappings}
    assert methods == {"fingerprint", "attributes"}
