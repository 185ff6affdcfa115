"""Artifacts downloaded ahead, eight at a time; zips read with a few open at once."""

import zipfile
from collections import OrderedDict
from collections.abc import Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path
from threading import Lock
from typing import BinaryIO

from ingest.artifacts.members import (
    ArtifactError,
    Contents,
    Entry,
    ExpiredError,
    Limits,
    judge,
    open_zip,
    zip_entries,
)
from ingest.github import (
    GitHub,
    GitHubError,
    GoneError,
    RateLimitedError,
    TooLargeError,
)

PARALLEL = 8
OPEN_ZIPS = 32
ZIP_TRIES = 2


class Zips:
    """Zips on disk. Few are open at once: a process may hold only so many files."""

    def __init__(self) -> None:
        self._open: OrderedDict[Path, zipfile.ZipFile] = OrderedDict()

    def entries(self, path: Path) -> list[Entry]:
        """List a zip's files; raises `ArtifactError`. They can be opened later on."""
        return [
            replace(entry, opener=partial(self._member, path, entry.name))
            for entry in zip_entries(self._archive(path))
        ]

    def close(self) -> None:
        """Close all of them."""
        while self._open:
            self._open.popitem()[1].close()

    def _member(self, path: Path, name: str) -> BinaryIO:
        return self._archive(path).open(name)  # type: ignore[return-value]

    def _archive(self, path: Path) -> zipfile.ZipFile:
        archive = self._open.pop(path, None) or open_zip(path)
        self._open[path] = archive
        if len(self._open) > OPEN_ZIPS:
            # A member that is being read keeps the file open for itself.
            self._open.popitem(last=False)[1].close()
        return archive


class Downloads:
    """Downloads of one run's artifacts, kept in a folder until the run is stored.

    A worker that is killed, or stopped by a limit, leaves whole files there: the next
    one does not download them again. ``max_bytes`` bounds each, ``max_all`` their sum:
    when it is used up, only what is under way goes on.
    """

    def __init__(
        self, github: GitHub, folder: Path, max_bytes: int, max_all: int
    ) -> None:
        self._github = github
        self._folder = folder
        self._max_bytes = max_bytes
        self._left = max_all
        self._spending = Lock()
        self._pool = ThreadPoolExecutor(PARALLEL, thread_name_prefix="download")
        self._asked: dict[int, Future[Path]] = {}
        self._zips = Zips()

    def start(self, artifact_ids: Iterable[int]) -> None:
        """Begin to download; those named first come first."""
        for artifact_id in artifact_ids:
            self._asked[artifact_id] = self._pool.submit(self._path, artifact_id)

    def stop(self) -> None:
        """Forget what has not begun, wait for the rest."""
        self._pool.shutdown(cancel_futures=True)
        self._zips.close()

    def contents(self, artifact_id: int, limits: Limits) -> Contents:
        """Wait for an artifact and list its members.

        Raises `ArtifactError`, and RateLimitedError, which ends the whole run for now.
        """
        try:
            path = self._asked[artifact_id].result()
        except RateLimitedError:
            raise
        except GoneError as error:
            raise ExpiredError("expired_artifact", str(error)) from error
        except TooLargeError as error:
            raise ArtifactError("artifact_too_large", str(error)) from error
        except GitHubError as error:
            raise ArtifactError("no_bytes", str(error)) from error
        return judge(self._zips.entries(path), limits)

    def _path(self, artifact_id: int) -> Path:
        """Return the path of a whole zip, or of what came twice and is none."""
        path = self._folder / f"{artifact_id}.zip"
        if is_whole(path):
            return path
        for _ in range(ZIP_TRIES):
            self._download(artifact_id, path)
            if is_whole(path):
                break
        return path

    def _download(self, artifact_id: int, path: Path) -> None:
        allowed = max(0, min(self._max_bytes, self._left))
        self._github.download(artifact_id, path, allowed)
        with self._spending:
            self._left -= path.stat().st_size


def is_whole(path: Path) -> bool:
    """Tell whether a zip is there to its end, where its table of contents stands."""
    if not path.exists():
        return False
    try:
        with open_zip(path):
            return True
    except ArtifactError:
        return False
