"""The endpoints that are asked, and their pages; objects as GitHub sends them."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import cast
from urllib.parse import quote, urlencode, urlsplit

from ingest.artifacts.json_reading import BadJsonError, parse, storable
from ingest.github.errors import UnreachableError
from ingest.github.transport import RAW, Transport

PER_PAGE = 100
MAX_PAGES = 100
_NEXT = re.compile(r'<([^>]*)>\s*;[^,]*\brel="?next"?')

JsonObject = dict[str, object]


@dataclass(slots=True)
class Listing:
    """Objects of all pages; ``total`` is how many GitHub says there are."""

    items: list[JsonObject] = field(default_factory=list)
    total: int | None = None

    @property
    def is_complete(self) -> bool:
        """Whether as many objects came as there are."""
        return self.total is None or len(self.items) == self.total


class GitHub:
    """One repository's runs, artifacts, pull requests and files.

    Every method raises GitHubError; lists come whole, or say that they are not.
    """

    def __init__(self, transport: Transport, repository: str) -> None:
        self._transport = transport
        self.repository = repository
        self._root = f"/repos/{quote(repository)}"

    def run(self, run_id: int) -> JsonObject:
        """Return a run; it speaks of its newest attempt."""
        return self._object(f"/actions/runs/{run_id}")

    def attempt(self, run_id: int, number: int) -> JsonObject:
        """Return a run as one of its attempts was."""
        return self._object(f"/actions/runs/{run_id}/attempts/{number}")

    def jobs(self, run_id: int) -> Listing:
        """Return the jobs of all attempts."""
        return self._listing(f"/actions/runs/{run_id}/jobs", "jobs", filter="all")

    def artifacts(self, run_id: int) -> Listing:
        """Return what is said of every upload of a run, expired ones included."""
        return self._listing(f"/actions/runs/{run_id}/artifacts", "artifacts")

    def download(self, artifact_id: int, target: Path, max_bytes: int) -> None:
        """Stream an artifact's zip to a file, which is whole or not there."""
        path = f"{self._root}/actions/artifacts/{artifact_id}/zip"
        self._transport.download(self._transport.url(path), target, max_bytes)

    def stop(self) -> None:
        """Let downloads that are under way end at once, unfinished."""
        self._transport.stop()

    def workflow_runs(
        self, workflow: str, *, since: datetime | None = None, **filters: str
    ) -> Iterator[JsonObject]:
        """Yield runs of a workflow file, newest first, page by page."""
        if since is not None:
            filters["created"] = f">={since:%Y-%m-%dT%H:%M:%SZ}"
        name = quote(workflow.rpartition("/")[2])
        pages = self._pages(f"/actions/workflows/{name}/runs", **filters)
        for page in pages:
            yield from _objects(page, "workflow_runs")

    def pulls_of_commit(self, sha: str) -> list[JsonObject]:
        """Return the pull requests that hold a commit or were merged as it."""
        return self._list(f"/commits/{quote(sha)}/pulls")

    def pull_commits(self, number: int) -> list[JsonObject]:
        """Return the commits of a pull request; GitHub names 250 at most."""
        return self._list(f"/pulls/{number}/commits")

    def comments(self, number: int) -> list[JsonObject]:
        """Return the comments of a pull request, oldest first."""
        return self._list(f"/issues/{number}/comments")

    def file(self, path: str, sha: str) -> bytes:
        """Return a file's bytes at a commit."""
        url = self._url(f"/contents/{quote(path)}", ref=sha)
        return self._transport.fetch(url, RAW)["body"]

    def _object(self, path: str) -> JsonObject:
        return as_object(self._transport.fetch(self._url(path))["body"], path)

    def _listing(self, path: str, key: str, **filters: str) -> Listing:
        """Collect a list by id: it may move between two pages."""
        total: int | None = None
        found: dict[object, JsonObject] = {}
        for page in self._pages(path, **filters):
            count = page.get("total_count") if isinstance(page, dict) else None
            total = count if isinstance(count, int) else total
            found.update((item.get("id"), item) for item in _objects(page, key))
        return Listing(list(found.values()), total)

    def _list(self, path: str) -> list[JsonObject]:
        return [item for page in self._pages(path) for item in _objects(page, "")]

    def _pages(self, path: str, **filters: str) -> Iterator[object]:
        """Yield the pages of a list, by the addresses that GitHub names."""
        url = self._url(path, per_page=str(PER_PAGE), **filters)
        for _ in range(MAX_PAGES):
            answer = self._transport.fetch(url)
            yield _value(answer["body"], path)
            following = _NEXT.search(answer["link"])
            if following is None:
                return
            # Only path and query are taken: the token goes to no other host.
            parts = urlsplit(following[1])
            root = self._transport.url("")
            prefix = urlsplit(root).path
            url = f"{root}{parts.path.removeprefix(prefix)}?{parts.query}"
        raise UnreachableError(f"{path}: more than {MAX_PAGES} pages")

    def _url(self, path: str, **query: str) -> str:
        text = f"?{urlencode(query)}" if query else ""
        return self._transport.url(f"{self._root}{path}{text}")


def as_object(body: bytes, path: str) -> JsonObject:
    """Return an answer that must be an object."""
    value = _value(body, path)
    if not isinstance(value, dict):
        raise UnreachableError(f"GitHub's answer to {path} is no object")
    return cast("JsonObject", value)


def _value(body: bytes, path: str) -> object:
    try:
        return storable(parse(body).value)
    except (BadJsonError, RecursionError) as error:
        raise UnreachableError(f"GitHub's answer to {path} is no JSON") from error


def _objects(page: object, key: str) -> list[JsonObject]:
    items = page.get(key) if key and isinstance(page, dict) else page
    if not isinstance(items, list):
        raise UnreachableError("GitHub's list is no list")
    return [item for item in items if isinstance(item, dict)]
