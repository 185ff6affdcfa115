"""The ends of server logs on the page of a run, and nothing that a log could do."""

from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from django.core.files.base import ContentFile
from django.core.files.storage import storages

from dashboard.vocabulary.raw_files import raw_path
from tests.factories import ArtifactFactory, DeploymentFactory, RunFactory, SweepFactory
from tests.ingest import golden
from tests.pages.builders import add_points

pytestmark = pytest.mark.django_db
FAILED = 33484262630


@pytest.fixture(autouse=True)
def raw(settings, tmp_path: Path) -> None:
    """A raw store of the test's own."""
    stored = {**settings.STORAGES["raw"]}
    stored["OPTIONS"] = {**stored["OPTIONS"], "location": tmp_path}
    settings.STORAGES = {**settings.STORAGES, "raw": stored}


def log_of(run: Any, body: bytes, *, tp: int = 4, concurrency: int = 8) -> None:
    digest = sha256(body).hexdigest()
    storages["raw"].save(raw_path(digest), ContentFile(body))
    ArtifactFactory(
        run=run,
        name=(
            f"server_logs_m_8k1k_fp4_sglang_tp{tp}-pp1-ep1-dpafalse"
            f"_disagg-false_spec-none_conc{concurrency}_mi355x_00"
        ),
        kind="server_logs",
        members=[["server.log", len(body), digest]],
    )


def test_the_end_of_a_long_log_is_shown(client):
    run = RunFactory()
    log_of(run, b"beginning" + b"." * 20_000 + b"the end")
    page = client.get(run.get_absolute_url()).content.decode()
    assert "the end</pre>" in page
    assert "beginning" not in page
    assert "the last 16 kB" in page


def test_log_of_a_measured_point_is_not_shown(client):
    run = RunFactory()
    sweep = SweepFactory(run=run)
    add_points(sweep, [(8, 10.0, 10.0)], deployment=DeploymentFactory(tp=4))
    log_of(run, b"all is well")
    log_of(run, b"it crashed", concurrency=16)
    page = client.get(run.get_absolute_url()).content.decode()
    assert "all is well" not in page
    assert "it crashed" in page


def test_markup_and_control_characters_are_inert(client):
    run = RunFactory()
    log_of(
        run, b"</pre><script>alert(1)</script>\x1b[31m\x00\x7f\xff\xe2\x80\xaegnp\r\nx"
    )
    page = client.get(run.get_absolute_url()).content.decode()
    assert "<script>alert(1)" not in page
    assert "&lt;script&gt;alert(1)" in page
    assert "\u241b[31m\u2400\u2421" in page
    assert not {"\x1b", "\0", "\u202e"} & set(page)


def test_log_that_is_not_stored_any_more_is_left_out(client):
    run = RunFactory()
    ArtifactFactory(run=run, kind="server_logs", members=[["server.log", 5, "ab" * 32]])
    assert client.get(run.get_absolute_url()).status_code == 200


def test_recorded_run_shows_the_crash_of_its_tp4_jobs(client, shared_data: Path):
    golden.import_masters(shared_data)
    golden.ingest(shared_data, FAILED)
    answer = client.get(f"/runs/{FAILED}")
    logs = answer.context["logs"]
    assert len(logs) == 6
    assert all("_tp4-" in log.artifact for log in logs)
    assert "gemm_a8w8_bpreshuffle failed for shape" in answer.content.decode()
