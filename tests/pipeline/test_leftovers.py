"""Old files among the uploads: deleted unless a request still needs them."""

import os
import time
from pathlib import Path
from typing import Any

import pytest

from dashboard.models import IngestRequest
from ingest import tasks
from ingest.leftovers import LEFT_AFTER_S, left_uploads

DAY_S = 24 * 3600
State = IngestRequest.State
pytestmark = pytest.mark.django_db


@pytest.fixture
def folder(settings: Any, tmp_path: Path) -> Path:
    settings.FRONTIERBOARD_UPLOADS = tmp_path / "uploads"
    return tmp_path / "uploads"


def put(folder: Path, name: str, *, age_s: float) -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / name
    path.write_bytes(b"zip")
    then = time.time() - age_s
    os.utime(path, (then, then))
    return path


def ask(name: str, state: str) -> None:
    kind = IngestRequest.Kind.UPLOAD
    IngestRequest.objects.create(kind=kind, target=name, state=state)


@pytest.mark.parametrize("state", [State.QUEUED, State.RUNNING])
def test_file_of_an_active_request_stays_however_old(folder: Path, state: str) -> None:
    path = put(folder, "a.zip", age_s=30 * DAY_S)
    ask("a.zip", state)
    tasks.forget_old_uploads()
    assert path.exists()


@pytest.mark.parametrize("state", [State.DONE, State.PARTLY, State.FAILED])
def test_file_of_an_ended_request_goes_after_a_day(folder: Path, state: str) -> None:
    old = put(folder, "old.zip", age_s=DAY_S + 60)
    new = put(folder, "new.zip", age_s=DAY_S - 60)
    ask("old.zip", state)
    ask("new.zip", state)
    tasks.forget_old_uploads()
    assert (old.exists(), new.exists()) == (False, True)


def test_file_that_nobody_asked_for_goes_after_a_day(folder: Path) -> None:
    old = put(folder, "old.zip", age_s=DAY_S + 60)
    arriving = put(folder, "arriving.zip", age_s=0)
    tasks.forget_old_uploads()
    assert (old.exists(), arriving.exists()) == (False, True)


def test_looking_deletes_nothing_and_touches_no_folder(folder: Path) -> None:
    old = put(folder, "old.zip", age_s=0)
    (folder / "inner").mkdir()
    later = time.time() + 2 * LEFT_AFTER_S
    assert left_uploads(later) == [old]
    assert old.exists()


def test_without_a_folder_there_is_nothing_to_do(folder: Path) -> None:
    tasks.forget_old_uploads()
    assert not folder.exists()
