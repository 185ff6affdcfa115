"""How much is downloaded of one run: what counts, what comes first, what is said."""

import json
from pathlib import Path
from typing import Any

import pytest

from dashboard.models import Artifact, IngestRequest, Run
from ingest import tasks
from ingest.artifacts.bundles import ArtifactSource
from ingest.fetching.choice import beyond
from ingest.progress import silent
from ingest.remote_runs import ingest_remote
from tests.github_server import FakeGitHub
from tests.pipeline.bundles import (
    REPOSITORY,
    busy_row,
    eval_row,
    job,
    run_object,
    write_bundle,
)

RUN = 90001
FORK = "someone/InferenceX"
LOG = (
    "server_logs_qwen3.5_1k1k_fp4_sglang_tp2-ep1-dpafalse_disagg-false_spec-none"
    f"_conc4_mi355x-amds_03_recipe-{'0' * 16}"
)
UPLOADS: dict[str, Any] = {
    LOG: {"server.log": b"out of memory"},
    **{f"bmk_m_{c}": {f"agg_m_{c}.json": busy_row(conc=c)} for c in (4, 8, 16)},
    "eval_results_all": {"agg_eval_all.json": [eval_row()]},
}
SIZES = (10, 3000, 2000, 1000, 500)


@pytest.fixture
def limited(fake: FakeGitHub, tmp_path: Path, settings: Any, db: None) -> Any:
    """A fork's run whose first measurement failed, and the settings; 3,500 bytes."""
    run = run_object(repository={"full_name": FORK})
    failed = [job(5004, 4, conclusion="failure")]
    folder = write_bundle(tmp_path / "bundle", run, UPLOADS, jobs=failed)
    sized(folder, SIZES)
    fake.add(folder)
    settings.FRONTIERBOARD_MAX_FETCH_BYTES = 3500
    settings.FRONTIERBOARD_MAX_OFFICIAL_FETCH_BYTES = 1 << 30
    return settings


def sized(folder: Path, sizes: tuple[int | None, ...]) -> None:
    path = folder / "artifacts.json"
    items = json.loads(path.read_text())
    told = [i | {"size_in_bytes": s} for i, s in zip(items, sizes, strict=True)]
    path.write_text(json.dumps(told))


def left_out() -> set[str]:
    found = Artifact.objects.filter(reason__startswith="no_bytes: left out")
    return set(found.values_list("name", flat=True))


def test_logs_take_no_room_from_records_and_large_ones_none_from_small_ones() -> None:
    sizes = zip(UPLOADS, SIZES, strict=True)
    sources = [ArtifactSource(name, size=size) for name, size in sizes]
    assert [s.name for s in beyond(sources, 6510)] == []
    assert [s.name for s in beyond(sources, 6509)] == [LOG]
    assert [s.name for s in beyond(sources, 6499)] == ["bmk_m_4"]
    assert [s.name for s in beyond(sources, 499)] == [
        "eval_results_all",
        "bmk_m_16",
        "bmk_m_8",
        "bmk_m_4",
    ]
    assert len(beyond(sources, -1)) == len(sources)


def test_run_over_the_limit_is_partly_and_says_why(
    limited: Any, fake: FakeGitHub
) -> None:
    request = IngestRequest.objects.create(kind="run", target="x", github_run_id=RUN)
    tasks.ingest_run(FORK, RUN, request.pk)
    request.refresh_from_db()
    assert request.state == IngestRequest.State.PARTLY
    assert request.error == (
        "2 of 5 new artifacts left out: of a run at most 3,500 bytes are downloaded"
    )
    assert left_out() == {LOG, "bmk_m_4"}
    run = Run.objects.get()
    assert (run.received_count, run.eval_count) == (2, 1)
    assert sorted(fake.downloads) == [1002, 1003, 1004]


def test_asking_again_goes_not_beyond_the_limit_and_on_with_a_higher_one(
    limited: Any, fake: FakeGitHub
) -> None:
    ingest_remote(FORK, RUN, silent)
    assert ingest_remote(FORK, RUN, silent).is_partly
    assert len(fake.downloads) == 3
    limited.FRONTIERBOARD_MAX_FETCH_BYTES = 6510
    assert not ingest_remote(FORK, RUN, silent).is_partly
    assert len(fake.downloads) == len(set(fake.downloads)) == 5
    assert Run.objects.get().received_count == 3


def test_official_run_has_a_limit_of_its_own(limited: Any, fake: FakeGitHub) -> None:
    fake.runs[RUN]["repository"] = {"full_name": REPOSITORY}
    arrival = ingest_remote(REPOSITORY, RUN, silent)
    assert arrival.gaps == []
    assert Run.objects.get().received_count == 3
    assert sorted(fake.downloads) == [1000, 1001, 1002, 1003, 1004]


def test_bytes_count_where_no_size_is_told(limited: Any, fake: FakeGitHub) -> None:
    sized(fake.folders[RUN], (None,) * 5)
    limited.FRONTIERBOARD_MAX_FETCH_BYTES = 5
    arrival = ingest_remote(FORK, RUN, silent)
    assert arrival.is_partly
    assert Run.objects.get().received_count == 0
    refused = Artifact.objects.filter(state=Artifact.State.REJECTED)
    reasons = list(refused.values_list("reason", flat=True))
    assert len(reasons) == 4
    assert all(reason.endswith(", 5 allowed") for reason in reasons)
