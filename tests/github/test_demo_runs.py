"""The project's own demo, served as GitHub does: the same state as from disk."""

import datetime
import json
from pathlib import Path

import pytest
from django.db import transaction

from demo import write_bundles
from ingest.artifacts.bundles import open_bundle
from ingest.pipeline import ingest_bundle, limits
from ingest.progress import silent
from ingest.remote_runs import ingest_remote
from tests.github_server import FakeGitHub
from tests.ingest import golden


@pytest.mark.django_db
def test_demo_is_the_same_fetched_as_from_disk(
    fake: FakeGitHub, tmp_path: Path
) -> None:
    write_bundles(tmp_path / "demo", datetime.date(2026, 11, 30))
    bundles = sorted((tmp_path / "demo").iterdir())
    with transaction.atomic():
        for bundle in bundles:
            ingest_bundle(open_bundle(bundle, limits()))
        expected = golden.state()
        transaction.set_rollback(True)
    for bundle in bundles:
        run = fake.add(bundle)
        arrival = ingest_remote(fake.repository(run), run["id"], silent)
        assert arrival.gaps == [], json.dumps(run)
    assert golden.state() == expected
