"""The script of docs/migrating.md, run as it stands there against the live server."""

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.published import import_folder, point, write

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "migrating.md"


def script() -> str:
    found = re.search(r"```python\n(.+?)```", DOCUMENT.read_text(), re.DOTALL)
    assert found is not None
    return found[1]


@pytest.mark.django_db(transaction=True)
def test_a_pandas_script_for_the_official_dashboard_runs_unchanged(
    live_server: Any, tmp_path: Path
) -> None:
    rows = [point(conc, model="dsr1", isl=8192) for conc in (4, 8, 16)]
    import_folder(write(tmp_path / "published", benchmarks=rows))
    done = subprocess.run(
        [sys.executable, "-c", script()],
        env=os.environ | {"DASHBOARD": live_server.url},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    header, *lines = done.stdout.splitlines()
    assert "tput_per_gpu" in header
    assert [line.split()[-1] for line in lines] == ["197.3", "394.6", "789.2"]
