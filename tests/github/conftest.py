"""What the tests of fetching share: a fake GitHub that the settings point at."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dashboard.models import Run, Sweep
from tests.github_server import TOKEN, FakeGitHub, github_server
from tests.ingest import golden


@pytest.fixture
def fake(settings: Any, tmp_path: Path) -> Iterator[FakeGitHub]:
    """A fake GitHub for this process, with a data folder of its own."""
    with github_server() as server:
        settings.GITHUB_API_URL = server.url
        settings.GITHUB_TOKEN = TOKEN
        settings.GITHUB_WAIT_SECONDS = 5
        settings.GITHUB_TIMEOUT_SECONDS = 2
        settings.DATA = tmp_path / "data"
        yield server
        assert server.leaks == []


def serve_recorded(fake: FakeGitHub, shared: Path) -> None:
    """Serve the recorded runs; the merge's source is to be found by asking."""
    for run_id in golden.RUN_IDS:
        fake.add(shared / "runs" / str(run_id))
    fake.hidden.add("reused-ingest-metadata")
    merge = fake.runs[33700000003]
    source = fake.runs[33598359757]
    pull = {
        "number": 2801,
        "merged_at": merge["created_at"],
        "merge_commit_sha": merge["head_sha"],
        "head": {"ref": source["head_branch"], "sha": source["head_sha"]},
        "labels": [{"name": "full-sweep"}],
    }
    fake.pulls[merge["head_sha"]] = [pull]
    first = fake.runs[33484262630]["head_sha"]
    fake.pull_commits[2801] = [first, source["head_sha"]]


def forget_runs() -> None:
    """Delete all runs; config files stay. Links between sweeps go first."""
    Sweep.objects.update(state=None, extends=None)
    Run.objects.all().delete()
