"""Bundles sent by those without GitHub: streamed to disk, checked, then asked for."""

import json
import uuid
from contextlib import suppress
from http import HTTPStatus
from pathlib import Path
from typing import BinaryIO

from django.conf import settings
from django.http import HttpRequest
from ninja import Status

from dashboard.api.errors import ErrorBody, RequestFault
from dashboard.api.requests import RequestBody, request_body
from dashboard.api.runs import router
from dashboard.api.tokens import bearer_token
from dashboard.ingest_requests import MAX_ID, request_upload
from dashboard.models import ApiToken, Run
from dashboard.vocabulary.zips import METHODS, UNREADABLE, open_archive

CHUNK = 1 << 20
LONGEST_RUN = 1 << 20
LONGEST_LENGTH = 18  # digits; more are never a length
RUN = "run.json"
FAULTS = {
    400: ErrorBody,
    401: ErrorBody,
    403: ErrorBody,
    409: ErrorBody,
    411: ErrorBody,
    413: ErrorBody,
    503: ErrorBody,
}


ZIP = {"schema": {"type": "string", "format": "binary"}}


@router.post(
    "",
    response={202: RequestBody, **FAULTS},
    openapi_extra={
        "requestBody": {"required": True, "content": {"application/zip": ZIP}},
        "security": [{"token": []}],
    },
)
def upload(request: HttpRequest) -> Status[RequestBody]:
    """Send a run as a zip of a bundle: the body is the zip, nothing around it.

    Needs `Authorization: Bearer <token>`; the token is of one repository, and the
    bundle must be of the same. The answer says where to see how it goes.
    """
    token = bearer_token(request)
    path = _stored(request)
    try:
        asked = request_upload(
            file_name=path.name,
            run_id=_checked(path, token),
            repository=token.repository.full_name,
            requested_by=f"upload token {token.name}",
        )
    except BaseException:
        _forget(path)  # nobody will ask for it
        raise
    return Status(HTTPStatus.ACCEPTED, request_body(request, asked))


def _stored(request: HttpRequest) -> Path:
    """Stream the body to a file of its own; nothing stays of a refused one."""
    length = _announced(request)
    folder = Path(settings.FRONTIERBOARD_UPLOADS)
    path = folder / f"{uuid.uuid4().hex}.zip"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with path.open("xb") as file:
            received = _copy(request, file)
    except BaseException as error:
        _forget(path)
        if not isinstance(error, OSError):
            raise
        reason = f"The upload cannot be kept: {error.strerror or 'it broke off'}."
        status = HTTPStatus.SERVICE_UNAVAILABLE
        raise RequestFault("body", reason, status=status) from error
    if received != length:
        _forget(path)
        raise RequestFault("body", f"The upload broke off after {received} bytes.")
    return path


def _forget(path: Path) -> None:
    with suppress(OSError):
        path.unlink()


def _announced(request: HttpRequest) -> int:
    """Return how many bytes are to come, if they are not too many."""
    length = request.headers.get("Content-Length", "")
    if not length.isdecimal():
        status = HTTPStatus.LENGTH_REQUIRED
        raise RequestFault("Content-Length", "The length is needed.", status=status)
    most = settings.FRONTIERBOARD_MAX_UPLOAD_BYTES
    if len(length) > LONGEST_LENGTH or int(length) > most:
        reason = f"{length[:LONGEST_LENGTH]} bytes are too many: {most} are allowed."
        status = HTTPStatus.REQUEST_ENTITY_TOO_LARGE
        raise RequestFault("body", reason, status=status)
    return int(length)


def _copy(request: HttpRequest, file: BinaryIO) -> int:
    received = 0
    while chunk := request.read(CHUNK):
        received += file.write(chunk)
    return received


def _checked(path: Path, token: ApiToken) -> int:
    """Return the run's id; refuse what is no bundle, or is another repository's."""
    try:
        run = _run_object(path)
    except UNREADABLE as error:
        reason = f"This is no bundle: {' '.join(str(error).split())[:200]}."
        raise RequestFault("body", reason) from error
    run_id, repository = run.get("id"), run.get("repository")
    name = repository.get("full_name") if isinstance(repository, dict) else None
    no_id = RequestFault("body", "This is no bundle: run.json has no run id.")
    if not isinstance(run_id, int) or isinstance(run_id, bool):
        raise no_id
    if not 0 < run_id <= MAX_ID:
        raise no_id
    _require_same_repository(str(name), run_id, token)
    return run_id


def _require_same_repository(name: str, run_id: int, token: ApiToken) -> None:
    own = token.repository.full_name
    if name.casefold() != own.casefold():
        reason = f"The token is for {own}, the bundle is of {name[:200]}."
        raise RequestFault("body", reason, status=HTTPStatus.FORBIDDEN)
    others = Run.objects.filter(github_run_id=run_id).exclude(
        repository=token.repository
    )
    if others.exists():
        reason = f"Run {run_id} is already known under another repository."
        raise RequestFault("body", reason, status=HTTPStatus.CONFLICT)


def _run_object(path: Path) -> dict[str, object]:
    """Return the run of a bundle, which stands at its top or in its one folder."""
    with open_archive(path) as archive:
        names = [
            name
            for name in archive.namelist()
            if name == RUN or (name.endswith(f"/{RUN}") and name.count("/") == 1)
        ]
        if RUN in names:
            names = [RUN]
        if len(names) != 1:
            raise ValueError("there is no run.json")
        info = archive.getinfo(names[0])
        if info.compress_type not in METHODS:
            raise ValueError(f"compression method {info.compress_type} is not read")
        with archive.open(info) as member:
            text = member.read(LONGEST_RUN + 1)
    if len(text) > LONGEST_RUN:
        raise ValueError("run.json is too long")
    run = json.loads(text)
    if not isinstance(run, dict):
        raise ValueError("run.json is no object")  # noqa: TRY004  # bad input
    return run
