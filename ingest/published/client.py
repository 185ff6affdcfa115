"""Asks an official dashboard for what it publishes, path by path, within limits."""

import time
from collections.abc import Iterator
from http import HTTPStatus
from typing import Any
from urllib.parse import urlsplit

import requests

from dashboard.vocabulary.models import model_group
from ingest.github.addresses import is_loopback
from ingest.progress import Progress, silent
from ingest.published.files import (
    MOST_BYTES,
    WORKFLOW,
    Published,
    PublishedError,
    parsed,
)

TIMEOUTS_S = (5.0, 60.0)  # to connect; between two pieces of an answer
LONGEST_S = 300.0
CHUNK = 1 << 16

Asked = tuple[str, dict[str, str]]  # path below /api/v1, parameters


class Site:
    """One host: https, or this machine. Redirects are refused: name the right host."""

    def __init__(self, base: str, *, most_bytes: int = MOST_BYTES) -> None:
        """Take the host's address; raises PublishedError."""
        parts = urlsplit(base)
        is_safe = parts.scheme == "https" or (
            parts.scheme == "http" and is_loopback(parts.hostname)
        )
        if not is_safe or not parts.hostname or parts.username is not None:
            raise PublishedError(f"{base[:80]}: https or this machine only")
        self._base = base.rstrip("/")
        self._most_bytes = most_bytes
        self._session = requests.Session()

    def __enter__(self) -> "Site":
        return self

    def __exit__(self, *_error: object) -> None:
        self._session.close()

    def get(self, path: str, parameters: dict[str, str]) -> object:
        """Return an answer's JSON; raises PublishedError."""
        url = f"{self._base}/api/v1/{path}"
        try:
            with self._session.get(
                url,
                params=parameters,
                timeout=TIMEOUTS_S,
                stream=True,
                allow_redirects=False,
            ) as answer:
                if answer.status_code != HTTPStatus.OK:
                    raise PublishedError(f"{path}: answered {answer.status_code}")
                return parsed(path, self._body(path, answer))
        except requests.RequestException as error:
            kind = type(error).__name__
            raise PublishedError(f"{path}: no answer ({kind})") from error

    def _body(self, path: str, answer: requests.Response) -> bytes:
        """Read a body that is neither too large nor trickles for ever."""
        deadline = time.monotonic() + LONGEST_S
        body = bytearray()
        for chunk in answer.iter_content(CHUNK):
            body += chunk
            if len(body) > self._most_bytes:
                raise PublishedError(f"{path}: more than {self._most_bytes:,} bytes")
            if time.monotonic() > deadline:
                raise PublishedError(f"{path}: took more than {LONGEST_S:.0f} s")
        return bytes(body)


def fetch(base: str, progress: Progress = silent) -> Published:
    """Ask for everything: the lists, then each model, history and day they name.

    Raises PublishedError where the host cannot be asked at all; what it does not give
    of a single model or day is told.
    """
    published = Published()
    with Site(base) as site:
        published.take("availability", site.get("availability", {}))
        asked = list(_asked(published.rows["availability"]))
        for done, (path, parameters) in enumerate(asked):
            progress("asking", done, len(asked))
            name = path.replace("/", "-")
            try:
                answer = site.get(path, parameters)
                published.take(name, answer, parameters.get("date", ""))
            except PublishedError as error:
                of = ", ".join(parameters.values())
                published.problems.append(f"{error}{f' ({of})' if of else ''}")
    return published


def _asked(available: list[dict[str, Any]]) -> Iterator[Asked]:
    """Yield what to ask for, by what is said to be available."""
    yield "evaluations", {}
    yield "reliability", {}
    shapes = {
        (model_group(str(row.get("model"))), row.get("isl"), row.get("osl"))
        for row in available
    }
    for model in sorted({model for model, _, _ in shapes}):
        yield "benchmarks", {"model": model}
    for model, isl, osl in sorted(shapes, key=str):
        if isl is not None and osl is not None:
            lengths = {"isl": str(isl), "osl": str(osl)}
            yield "benchmarks/history", {"model": model, **lengths}
    for day in sorted({row["date"] for row in available}):
        yield WORKFLOW, {"date": day}
