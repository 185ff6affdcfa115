"""Bundles pushed with a token: kept until ingested, or refused with a reason."""

import io
import json
import tracemalloc
import zipfile
from pathlib import Path
from typing import Any

import pytest
from celery.exceptions import Retry
from django.db import OperationalError
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from dashboard.ingest_requests import request_upload
from dashboard.models import ApiToken, IngestRequest, Repository, Run
from ingest import pipeline, tasks
from tests.factories import RepositoryFactory, RunFactory
from tests.pipeline.bundles import (
    REPOSITORY,
    results,
    row,
    run_object,
    write_bundle,
    zip_of,
)

RUN = 90001
pytestmark = pytest.mark.django_db


@pytest.fixture
def folder(settings: Any, tmp_path: Path) -> Path:
    settings.FRONTIERBOARD_UPLOADS = tmp_path / "uploads"
    return tmp_path / "uploads"


@pytest.fixture
def repository() -> Repository:
    return RepositoryFactory(full_name=REPOSITORY)


@pytest.fixture
def plain(repository: Repository) -> str:
    token = ApiToken(name="nightly", repository=repository)
    secret = token.renew()
    token.save()
    return secret


@pytest.fixture
def bundle(tmp_path: Path) -> bytes:
    path = write_bundle(tmp_path / "bundle", artifacts=results(row()))
    return zip_of(path).read_bytes()


def send(client: Client, body: bytes, plain: str = "", **headers: str) -> Any:
    given = {"Authorization": f"Bearer {plain}"} if plain else {}
    return client.post(
        "/api/v1/runs", body, content_type="application/zip", headers=given | headers
    )


def zipped(**members: Any) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, value in members.items():
            archive.writestr(name.replace("_", "."), json.dumps(value))
    return buffer.getvalue()


def broken(method: int) -> bytes:
    """A zip whose directory is whole and whose run.json cannot be unpacked."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as archive:
        archive.writestr("run.json", json.dumps(run_object()))
        size = archive.getinfo("run.json").compress_size
    body = bytearray(buffer.getvalue())
    start = 30 + len("run.json")
    # LZMA begins with four bytes about its own properties.
    body[start + 9 : start + size] = b"\xff" * (size - 9)
    return bytes(body)


def fault(answer: Any) -> str:
    message: str = answer.json()["error"]["message"]
    return message


def test_upload_is_kept_ingested_and_deleted(
    client: Client, folder: Path, plain: str, bundle: bytes
) -> None:
    answer = send(client, bundle, plain)
    body = answer.json()
    request = IngestRequest.objects.get()
    assert answer.status_code == 202
    assert body["url"] == f"http://testserver/api/v1/requests/{request.pk}"
    assert (body["state"], body["run_id"]) == ("queued", RUN)
    assert [path.read_bytes() for path in folder.iterdir()] == [bundle]

    tasks.ingest_upload(request.target, request.pk)
    followed = client.get(body["url"]).json()
    assert (followed["state"], followed["error"]) == ("done", "")
    assert followed["counts"]["points"] == 1
    assert Run.objects.get().received_count == 1
    assert list(folder.iterdir()) == []
    assert ApiToken.objects.get().last_used_at is not None


def test_upload_delivered_twice_is_ingested_once(
    client: Client, folder: Path, plain: str, bundle: bytes
) -> None:
    send(client, bundle, plain)
    request = IngestRequest.objects.get()
    for _ in range(2):
        tasks.ingest_upload(request.target, request.pk)
    request.refresh_from_db()
    assert request.state == IngestRequest.State.DONE


@pytest.mark.parametrize("given", ["", "x", "fb_0_0", "fb__", "Basic abc"])
def test_without_a_token_nothing_is_taken(
    client: Client, folder: Path, plain: str, bundle: bytes, given: str
) -> None:
    answer = send(client, bundle, given)
    assert answer.status_code == 401
    assert "token is needed" in fault(answer)
    assert not folder.exists()


def test_secret_of_another_token_is_no_token(
    client: Client, folder: Path, plain: str, bundle: bytes
) -> None:
    assert send(client, bundle, plain[:-1] + "~").status_code == 401


def test_revoked_token_is_refused(
    client: Client, folder: Path, plain: str, bundle: bytes
) -> None:
    ApiToken.objects.update(revoked_at=timezone.now())
    answer = send(client, bundle, plain)
    assert answer.status_code == 403
    assert "revoked" in fault(answer)


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b"not a zip", "no bundle"),
        (zipped(note_txt="x"), "there is no run.json"),
        (zipped(run_json=[]), "no object"),
        (zipped(run_json={"id": "x"}), "no run id"),
        (zipped(run_json={"id": 0}), "no run id"),
        (zipped(run_json={"id": 2**63}), "no run id"),
        (zipped(run_json={"id": True}), "no run id"),
        (broken(zipfile.ZIP_DEFLATED), "no bundle"),
        (broken(zipfile.ZIP_BZIP2), "method 12 is not read"),
        (broken(zipfile.ZIP_LZMA), "method 14 is not read"),
        (zipped(run_json="x" * (2 << 20)), "run.json is too long"),
    ],
)
def test_what_is_no_bundle_is_refused(
    client: Client, folder: Path, plain: str, body: bytes, reason: str
) -> None:
    answer = send(client, body, plain)
    assert answer.status_code == 400
    assert reason in fault(answer)
    assert list(folder.iterdir()) == []
    assert not IngestRequest.objects.exists()


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_what_unpacks_without_bound_is_refused_before_it_is_unpacked(
    client: Client, folder: Path, plain: str, method: int
) -> None:
    unpacked = 64 << 20
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as archive:
        archive.writestr("run.json", b" " * unpacked)
    body = buffer.getvalue()
    tracemalloc.start()
    try:
        answer = send(client, body, plain)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert answer.status_code == 400
    assert most < unpacked / 2
    assert list(folder.iterdir()) == []


def test_bundle_of_another_repository_is_refused(
    client: Client, folder: Path, plain: str
) -> None:
    run = run_object(repository={"full_name": "o/other"})
    answer = send(client, zipped(run_json=run), plain)
    assert answer.status_code == 403
    assert fault(answer) == f"The token is for {REPOSITORY}, the bundle is of o/other."
    assert list(folder.iterdir()) == []


def test_name_that_is_no_text_is_refused(
    client: Client, folder: Path, plain: str
) -> None:
    run = run_object(repository={"full_name": "o/\ud800"})
    answer = send(client, zipped(run_json=run), plain)
    assert answer.status_code == 403
    assert fault(answer).endswith("the bundle is of o/?.")
    assert list(folder.iterdir()) == []


def test_nothing_stays_of_an_upload_that_cannot_be_asked_for(
    client: Client, folder: Path, plain: str, bundle: bytes, monkeypatch: Any
) -> None:
    def down(*_: Any, **__: Any) -> None:
        raise OperationalError("the database is away")

    monkeypatch.setattr(IngestRequest, "save", down)
    assert send(client, bundle, plain).status_code == 503
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize(
    ("error", "left"), [(ZeroDivisionError, 0), (OperationalError, 1)]
)
def test_file_of_a_failed_upload_goes_unless_it_is_tried_again(
    folder: Path, bundle: bytes, monkeypatch: Any, error: type[Exception], left: int
) -> None:
    def fail() -> None:
        raise error

    folder.mkdir()
    (folder / "a.zip").write_bytes(bundle)
    request = request_upload(
        file_name="a.zip", run_id=RUN, repository=REPOSITORY, requested_by="x"
    )
    monkeypatch.setattr(pipeline, "limits", fail)
    with pytest.raises((error, Retry)):
        tasks.ingest_upload(request.target, request.pk)
    assert len(list(folder.iterdir())) == left


def test_run_that_another_repository_has_is_refused(
    client: Client, folder: Path, plain: str
) -> None:
    RunFactory(github_run_id=RUN, repository=RepositoryFactory(full_name="o/other"))
    assert send(client, zipped(run_json=run_object()), plain).status_code == 409


def test_too_large_is_refused_before_it_is_read(
    client: Client, folder: Path, plain: str, bundle: bytes, settings: Any
) -> None:
    settings.FRONTIERBOARD_MAX_UPLOAD_BYTES = len(bundle) - 1
    answer = send(client, bundle, plain)
    assert answer.status_code == 413
    assert "are too many" in fault(answer)
    assert not folder.exists()


def test_length_is_needed(client: Client, folder: Path, plain: str) -> None:
    answer = send(client, b"x", plain, **{"Content-Length": ""})
    assert answer.status_code == 411


def test_upload_that_breaks_off_is_refused(
    client: Client, folder: Path, plain: str, bundle: bytes
) -> None:
    length = str(len(bundle) + 5)
    body: Any = {"wsgi.input": io.BytesIO(bundle), "CONTENT_LENGTH": length}
    given = {"Authorization": f"Bearer {plain}"}
    answer = client.post("/api/v1/runs", headers=given, **body)
    assert answer.status_code == 400
    assert fault(answer) == f"The upload broke off after {len(bundle)} bytes."
    assert list(folder.iterdir()) == []


def test_folder_that_cannot_be_written_is_said(
    client: Client, folder: Path, plain: str, bundle: bytes
) -> None:
    folder.write_text("a file in its place")
    answer = send(client, bundle, plain)
    assert answer.status_code == 503
    assert "cannot be kept" in fault(answer)


def test_unknown_request_is_not_found(client: Client) -> None:
    assert client.get("/api/v1/requests/5").status_code == 404
    assert client.get(f"/api/v1/requests/{2**70}").status_code == 404


# The admin


def test_token_is_shown_once_and_kept_as_a_hash(
    admin_client: Client, repository: Repository, folder: Path, bundle: bytes
) -> None:
    url = reverse("admin:dashboard_apitoken_add")
    form = {"name": "nightly", "repository": repository.pk}
    page = admin_client.post(url, form, follow=True).content.decode()
    token = ApiToken.objects.get()
    plain = page.partition("The token is ")[2].partition(" ")[0]
    assert plain.startswith(f"fb_{token.prefix}_")
    assert plain not in str(vars(token))
    assert token.created_by == "admin"
    listed = admin_client.get(reverse("admin:dashboard_apitoken_changelist"))
    assert plain not in listed.content.decode()
    assert send(Client(), bundle, plain).status_code == 202


def test_token_is_revoked_in_the_admin(
    admin_client: Client, plain: str, folder: Path, bundle: bytes
) -> None:
    token = ApiToken.objects.get()
    url = reverse("admin:dashboard_apitoken_changelist")
    admin_client.post(url, {"action": "revoke", "_selected_action": [token.pk]})
    token.refresh_from_db()
    assert token.revoked_by == "admin"
    assert send(Client(), bundle, plain).status_code == 403
