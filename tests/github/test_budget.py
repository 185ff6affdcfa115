"""What GitHub says of its limit is told to operators, and nothing waits for that."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from dashboard import telemetry
from ingest.connection import connected
from tests.github_server import TOKEN, FakeGitHub, github_server
from tests.pipeline.bundles import REPOSITORY, results, row, write_bundle

RUN = 90001


@pytest.fixture
def server(tmp_path: Path, settings) -> Iterator[FakeGitHub]:
    with github_server() as fake:
        fake.add(write_bundle(tmp_path / "bundle", artifacts=results(row())))
        settings.GITHUB_API_URL = fake.url
        settings.GITHUB_TOKEN = TOKEN
        yield fake


def test_budget_is_that_of_the_newest_answer(server):
    assert telemetry.budget() == {}
    with connected(REPOSITORY) as github:
        github.run(RUN)
    assert telemetry.budget() == {
        "limit": 5000,
        "remaining": 4999,
        "reset": 1790000000,
    }


def test_run_is_read_though_the_budget_cannot_be_kept(server, settings):
    telemetry._client.cache_clear()
    settings.REDIS_URL = "redis://127.0.0.1:9/0"
    try:
        with connected(REPOSITORY) as github:
            assert github.run(RUN)["id"] == RUN
    finally:
        telemetry._client.cache_clear()
