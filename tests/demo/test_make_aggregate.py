import json
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "benchmarks" / "make_aggregate.py"


def _write(folder: Path, *options: str) -> list[Path]:
    command = [sys.executable, str(SCRIPT), str(folder), *options]
    subprocess.run(command, check=True, capture_output=True)
    return sorted(folder.glob("artifacts/*"))


def _identity(row: dict[str, object]) -> tuple[object, ...]:
    return row["recipe_fingerprint"], row["isl"], row["conc"]


def test_aggregate_holds_distinct_rows(tmp_path: Path) -> None:
    _, aggregate = _write(tmp_path, "--rows", "300")
    rows = json.loads((aggregate / "agg_bmk.json").read_text())
    assert len({_identity(row) for row in rows}) == len(rows) == 300
    assert len({row["infmax_model_prefix"] for row in rows}) == 3
    assert all(row["tput_per_gpu"] > 0 for row in rows)


def test_rows_can_stand_in_artifacts_of_their_own(tmp_path: Path) -> None:
    artifacts = _write(tmp_path, "--rows", "40", "--as-artifacts")
    listed = json.loads((tmp_path / "artifacts.json").read_text())
    bmk = [path for path in artifacts if "-bmk_" in path.name]
    assert len(bmk) == 40
    assert len(listed) == len(artifacts) == 41
    assert all(len(list(path.iterdir())) == 1 for path in bmk)


def test_nothing_is_written_for_a_wrong_count(tmp_path: Path) -> None:
    with pytest.raises(subprocess.CalledProcessError):
        _write(tmp_path, "--rows", "many")
    assert list(tmp_path.iterdir()) == []
