"""Raw artifacts of replays: listed by default, fetched where settings ask for it."""

from pathlib import Path
from typing import Any

import pytest
from django.core.files.storage import storages

from dashboard.models import Artifact
from dashboard.vocabulary.raw_files import raw_path
from ingest.progress import silent
from ingest.remote_runs import ingest_remote
from tests.github_server import FakeGitHub
from tests.pipeline.bundles import REPOSITORY, busy_row, run_object, write_bundle
from tests.traces import MEMBER, RESULT, lines, record

RUN = 90001
NAME = f"agentic_{RESULT}"


@pytest.fixture
def served(fake: FakeGitHub, tmp_path: Path, db: None) -> FakeGitHub:
    """A run with a point and the raw artifact of a replay."""
    uploads: dict[str, Any] = {
        "bmk_m_4": {"agg_m_4.json": busy_row(conc=4)},
        NAME: {MEMBER: lines(record())},
    }
    fake.add(write_bundle(tmp_path / "bundle", run_object(RUN), uploads, jobs=[]))
    return fake


def raw() -> Artifact:
    return Artifact.objects.get(name=NAME)


def test_they_are_listed_until_the_settings_ask_for_them(
    served: FakeGitHub, settings: Any
) -> None:
    settings.FRONTIERBOARD_FETCH_TRACES = False
    ingest_remote(REPOSITORY, RUN, silent)
    assert (raw().state, raw().members) == ("listed", [])
    settings.FRONTIERBOARD_FETCH_TRACES = True
    ingest_remote(REPOSITORY, RUN, silent, force=True)
    assert raw().state == "fetched"
    ((name, size, sha256),) = raw().members
    assert (name, size) == (MEMBER, len(lines(record())))
    assert storages["raw"].exists(raw_path(sha256))


def test_what_is_kept_already_is_not_downloaded_again(
    served: FakeGitHub, settings: Any
) -> None:
    settings.FRONTIERBOARD_FETCH_TRACES = True
    ingest_remote(REPOSITORY, RUN, silent)
    before = served.count("/zip")
    ingest_remote(REPOSITORY, RUN, silent, force=True)
    assert served.count("/zip") == before
    assert raw().state == "fetched"
