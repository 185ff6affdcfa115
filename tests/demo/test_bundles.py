import datetime
import time
from pathlib import Path

from demo import write_bundles
from demo.__main__ import main
from tests.demo.conftest import UNTIL
from tests.demo.reading import DemoRun


def _bytes(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def test_equal_dates_give_equal_bytes(folder: Path, tmp_path: Path) -> None:
    write_bundles(tmp_path, UNTIL)
    assert _bytes(tmp_path) == _bytes(folder)


def test_another_day_moves_times_and_not_numbers(
    runs: dict[str, DemoRun], tmp_path: Path
) -> None:
    last = write_bundles(tmp_path, UNTIL + datetime.timedelta(days=1))[-1]
    aggregate = "artifacts/*-results_bmk/agg_bmk.json"
    (moved,) = last.glob(aggregate)
    (first,) = runs[last.name.partition("-")[2]].folder.glob(aggregate)
    assert moved.read_bytes() == first.read_bytes()
    assert '"created_at": "2026-12-01T' in (last / "run.json").read_text()


def test_writing_twice_into_one_folder_changes_nothing(tmp_path: Path) -> None:
    write_bundles(tmp_path, UNTIL)
    before = _bytes(tmp_path)
    write_bundles(tmp_path, UNTIL)
    assert _bytes(tmp_path) == before


def test_the_story_is_small_and_quick(folder: Path, tmp_path: Path) -> None:
    started = time.process_time()
    write_bundles(tmp_path, UNTIL)
    assert time.process_time() - started < 3
    assert sum(map(len, _bytes(folder).values())) < 10_000_000
    longest = max(len(path.name) for path in folder.rglob("*"))
    assert longest < 250, "a file system takes 255 bytes"


def test_points_models_and_hardware_are_many_enough(runs: dict[str, DemoRun]) -> None:
    rows = [row for run in runs.values() for row in run.rows]
    assert 300 <= len(rows) <= 600
    assert {row["infmax_model_prefix"] for row in rows} == {"qwen3.5", "dsr1", "dsv4"}
    hardware = {row["hw"].removeprefix("cluster:").partition("-")[0] for row in rows}
    assert hardware == {"h200", "b200", "gb200", "mi300x", "mi325x", "mi355x"}
    assert 25 <= len(runs) <= 40


def test_runs_are_in_order_of_time_and_end_on_the_last_day(
    runs: dict[str, DemoRun],
) -> None:
    created = [run.run["created_at"] for run in runs.values()]
    ids = [run.run["id"] for run in runs.values()]
    assert created == sorted(created)
    assert ids == sorted(set(ids))
    assert created[-1].startswith(UNTIL.isoformat())
    assert created[0] < (UNTIL - datetime.timedelta(days=40)).isoformat()


def test_artifact_and_job_ids_are_unique(runs: dict[str, DemoRun]) -> None:
    artifacts = [item["id"] for run in runs.values() for item in run.artifacts]
    jobs = [job["id"] for run in runs.values() for job in run.jobs]
    assert len(artifacts) == len(set(artifacts))
    assert len(jobs) == len(set(jobs))


def test_uploads_lie_within_the_attempts_of_their_run(runs: dict[str, DemoRun]) -> None:
    for run in runs.values():
        for item in run.artifacts:
            moment = item["created_at"]
            assert run.run["created_at"] < moment <= run.run["updated_at"], item
            assert run.artifact(item).is_dir()


def test_command_line_writes_bundles_and_says_how_many(tmp_path: Path, capsys) -> None:
    assert main([str(tmp_path), "--until", "2026-03-01"]) == 0
    assert capsys.readouterr().out == f"35 bundles in {tmp_path}\n"


def test_command_line_refuses_a_folder_that_is_a_file(tmp_path: Path, capsys) -> None:
    (tmp_path / "taken").write_text("")
    assert main([str(tmp_path / "taken")]) == 1
    assert capsys.readouterr().err.startswith("demo: ")
