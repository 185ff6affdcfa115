"""Where a run's points come from: told on its page, in its file and as JSON."""

import csv
import io
from pathlib import Path

import pytest
from django.test import Client

from tests.pipeline.bundles import results, row, run_object
from tests.pipeline.conftest import Desk
from tests.published import import_folder, point, write

pytestmark = pytest.mark.django_db

PAGE, FILE, BODY = "/runs/90001", "/runs/90001/points.csv", "/api/v1/runs/90001"


@pytest.fixture
def published(tmp_path: Path) -> None:
    import_folder(write(tmp_path / "published", benchmarks=[point(64), point(128)]))


def page(client: Client) -> str:
    return " ".join(client.get(PAGE).content.decode().split())


def provenances(client: Client) -> list[str]:
    text = client.get(FILE).content.decode()
    return [row["provenance"] for row in csv.DictReader(io.StringIO(text))]


def test_a_run_that_only_was_published_says_so(client: Client, published: None) -> None:
    assert "Published, not measured from artifacts" in page(client)
    assert "Of its time only the day is known" in page(client)
    assert provenances(client) == ["published", "published"]
    assert client.get(BODY).json()["provenance"] == "published"
    codes = {flag["code"] for flag in client.get(BODY).json()["flags"]}
    assert "published" in codes


def test_a_run_that_was_also_read_says_which_points_were_published(
    client: Client, published: None, tmp_path: Path
) -> None:
    Desk(tmp_path).ingest(run_object(), results(row()))
    assert "In part published" in page(client)
    assert sorted(provenances(client)) == ["artifacts", "published"]
    assert client.get(BODY).json()["provenance"] == "artifacts and published"


def test_a_run_of_artifacts_alone_speaks_of_nothing_published(
    client: Client, tmp_path: Path
) -> None:
    Desk(tmp_path).ingest(run_object(), results(row()))
    assert "published, not measured" not in page(client).lower()
    assert provenances(client) == ["artifacts"]
