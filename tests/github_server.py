"""A real HTTP server on this machine that serves run bundles as GitHub does.

A second server on another port stands for the storage that downloads are redirected
to; it notes every token that reaches it, which must be none.
"""

import hashlib
import io
import json
import re
import threading
import time
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from tests.github_comments import FakeComments
from tests.github_http import Asked, Fault, Reply, Server

__all__ = ["TOKEN", "Asked", "FakeGitHub", "Fault", "Reply", "github_server"]
__all__ += ["in_seconds"]

Json = dict[str, Any]
LARGEST_PAGE = 100
TOKEN = "a-token-for-tests"  # noqa: S105  # no secret


class FakeGitHub:
    """Repositories with runs, made of bundles; faults by path."""

    def __init__(self) -> None:
        self.folders: dict[int, Path] = {}
        self.runs: dict[int, Json] = {}
        self.hidden: set[str] = set()
        self.pulls: dict[str, list[Json]] = {}
        self.pull_commits: dict[int, list[str]] = {}
        self.comments: dict[int, list[Json]] = {}
        self.board = FakeComments(self.comments)
        self.fallback_configs: dict[str, str] = {}
        self.largest_page = LARGEST_PAGE
        self.missing_items = 0
        self.needs_token = False
        self.corrupt: set[int] = set()
        self.gone: set[int] = set()
        self.asked: list[Asked] = []
        self.downloads: list[int] = []
        self.leaks: list[str] = []
        self.parallel = 0
        self.most_parallel = 0
        self._faults: list[tuple[str, Fault]] = []
        self._zips: dict[int, bytes] = {}
        self._lock = threading.Lock()
        self._api = Server(self._answer_api)
        self._storage = Server(self._answer_storage)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._api.server_port}"

    @property
    def storage_url(self) -> str:
        return f"http://127.0.0.1:{self._storage.server_port}"

    def close(self) -> None:
        for server in (self._api, self._storage):
            server.shutdown()
            server.server_close()

    def add(self, folder: Path) -> Json:
        """Serve a bundle; its run may be changed afterwards."""
        run: Json = json.loads((folder / "run.json").read_text())
        self.folders[run["id"]], self.runs[run["id"]] = folder, run
        return run

    def fail(self, path: str, *faults: Fault) -> None:
        """Let requests whose method and path hold a text meet these faults, each once.

        They read as "GET /repos/...".
        """
        self._faults += [(path, fault) for fault in faults]

    def count(self, text: str) -> int:
        """Count the requests whose path holds a text."""
        return sum(text in asked.path for asked in self.asked)

    def repository(self, run: Json) -> str:
        name: str = run["repository"]["full_name"]
        return name

    # What a bundle holds

    def items(self, run_id: int) -> list[Json]:
        """Artifacts of a run, newest first as GitHub lists them."""
        path = self.folders[run_id] / "artifacts.json"
        items = json.loads(path.read_text()) if path.exists() else []
        shown = [i for i in items if i["name"] not in self.hidden]
        for item in shown:
            item.setdefault("size_in_bytes", 1000)
            item.setdefault("expired", item["id"] in self.gone)
        return sorted(shown, key=lambda item: -item["id"])

    def artifact_zip(self, artifact_id: int) -> bytes | None:
        """The zip of an artifact's folder, made once."""
        if artifact_id not in self._zips:
            for folder in self.folders.values():
                for path in (folder / "artifacts").glob(f"{artifact_id}-*"):
                    self._zips[artifact_id] = _zipped(path)
        found = self._zips.get(artifact_id)
        return b"no zip" if artifact_id in self.corrupt else found

    # The interface

    def _answer_api(self, asked: Asked) -> tuple[Reply, Fault | None]:
        with self._lock:
            self.asked.append(asked)
            fault = self._fault(f"{asked.method} {asked.path}")
        if fault is not None and fault.carried_out:
            self._routed(asked)
        if fault is not None and fault.status:
            reply = _json_reply(
                {"message": "broken"} if fault.body is None else fault.body,
                fault.status,
            )
            reply.headers |= fault.headers
        elif self.needs_token and asked.headers.get("authorization") != _bearer():
            reply = _json_reply({"message": "Requires authentication"}, 401)
        else:
            reply = self._conditional(asked, self._routed(asked))
        reply.headers.setdefault("x-ratelimit-limit", "5000")
        reply.headers.setdefault("x-ratelimit-remaining", "4999")
        reply.headers.setdefault("x-ratelimit-reset", "1790000000")
        asked.status = reply.status
        return reply, fault

    def _fault(self, path: str) -> Fault | None:
        for place, (text, fault) in enumerate(self._faults):
            if text in path:
                del self._faults[place]
                return fault
        return None

    def _conditional(self, asked: Asked, reply: Reply) -> Reply:
        if reply.status != 200 or asked.method != "GET":
            return reply
        tag = f'W/"{hashlib.sha256(reply.body).hexdigest()}"'
        reply.headers["ETag"] = tag
        if asked.headers.get("if-none-match") == tag:
            return Reply(304, b"", {"ETag": tag})
        return reply

    def _routed(self, asked: Asked) -> Reply:
        if (answer := self.board.answer(asked)) is not None:
            return _json_reply(*answer)
        for pattern, name in ROUTES:
            if found := re.fullmatch(r"/repos/([^/]+/[^/]+)" + pattern, asked.path):
                method: Callable[..., Reply] = getattr(self, name)
                return method(asked, *found.groups())
        return _not_found()

    def _run(self, asked: Asked, repository: str, run_id: str) -> Reply:
        run = self.runs.get(int(run_id))
        if run is None or self.repository(run) != repository:
            return _not_found()
        return _json_reply(run)

    def _attempt(self, asked: Asked, repo: str, run_id: str, number: str) -> Reply:
        path = self.folders[int(run_id)] / "run.attempts.json"
        attempts = json.loads(path.read_text()) if path.exists() else []
        found = [a for a in attempts if a["run_attempt"] == int(number)]
        return _json_reply(found[0]) if found else _not_found()

    def _jobs(self, asked: Asked, repository: str, run_id: str) -> Reply:
        path = self.folders[int(run_id)] / "jobs.json"
        jobs = json.loads(path.read_text()) if path.exists() else []
        assert asked.query.get("filter") == "all"
        return self._page(asked, jobs, "jobs")

    def _artifacts(self, asked: Asked, repository: str, run_id: str) -> Reply:
        return self._page(asked, self.items(int(run_id)), "artifacts")

    def _zip(self, asked: Asked, repository: str, artifact_id: str) -> Reply:
        number = int(artifact_id)
        self.downloads.append(number)
        if number in self.gone:
            return _json_reply({"message": "Artifact has expired"}, 410)
        if self.artifact_zip(number) is None:
            return _not_found()
        location = f"{self.storage_url}/blob/{number}?sig=signed"
        return Reply(302, b"", {"Location": location})

    def _workflow_runs(self, asked: Asked, repository: str, name: str) -> Reply:
        query = asked.query
        runs = [r for r in self.runs.values() if self.repository(r) == repository]
        runs = [r for r in runs if r["path"].endswith(f"/{name}")]
        if "event" in query:
            runs = [r for r in runs if r["event"] == query["event"]]
        if "branch" in query:
            runs = [r for r in runs if r["head_branch"] == query["branch"]]
        if "status" in query:
            states = ("status", "conclusion")
            runs = [r for r in runs if query["status"] in [r.get(s) for s in states]]
        since = query.get("created", ">=").removeprefix(">=")
        runs = [r for r in runs if r["created_at"] >= since]
        newest_first = sorted(runs, key=lambda r: str(r["created_at"]), reverse=True)
        return self._page(asked, newest_first, "workflow_runs")

    def _commit_pulls(self, asked: Asked, repository: str, sha: str) -> Reply:
        return self._page(asked, self.pulls.get(sha, []))

    def _pull_commits(self, asked: Asked, repository: str, number: str) -> Reply:
        shas = self.pull_commits.get(int(number), [])
        return self._page(asked, [{"sha": sha} for sha in shas])

    def _comments(self, asked: Asked, repository: str, number: str) -> Reply:
        return self._page(asked, self.comments.get(int(number), []))

    def _contents(self, asked: Asked, repository: str, path: str) -> Reply:
        for run_id, run in self.runs.items():
            file = self.folders[run_id] / "repo" / path
            if run["head_sha"] == asked.query.get("ref") and file.exists():
                return Reply(200, file.read_bytes())
        text = self.fallback_configs.get(path)
        return _not_found() if text is None else Reply(200, text.encode())

    def _page(self, asked: Asked, items: list[Any], key: str = "") -> Reply:
        size = min(int(asked.query.get("per_page", "30")), self.largest_page)
        number = int(asked.query.get("page", "1"))
        shown = items[(number - 1) * size : number * size]
        body: Any = shown
        if key:
            body = {"total_count": len(items) + self.missing_items, key: shown}
        reply = _json_reply(body)
        if number * size < len(items):
            query = urlencode({**asked.query, "page": number + 1})
            reply.headers["Link"] = f'<{self.url}{asked.path}?{query}>; rel="next"'
        return reply

    # The storage

    def _answer_storage(self, asked: Asked) -> tuple[Reply, Fault | None]:
        with self._lock:
            if "authorization" in asked.headers:
                self.leaks.append(asked.path)
            self.parallel += 1
            self.most_parallel = max(self.most_parallel, self.parallel)
            fault = self._fault(asked.path)
        try:
            if fault is not None and fault.pause_s and fault.keep is None:
                time.sleep(fault.pause_s)
            if fault is not None and fault.status:
                return Reply(fault.status, b"<Error/>", fault.headers), fault
            content = self.artifact_zip(int(asked.path.rpartition("/")[2]))
            assert content is not None
            return Reply(200, content), fault
        finally:
            with self._lock:
                self.parallel -= 1


ROUTES = [
    (r"/actions/runs/(\d+)", "_run"),
    (r"/actions/runs/(\d+)/attempts/(\d+)", "_attempt"),
    (r"/actions/runs/(\d+)/jobs", "_jobs"),
    (r"/actions/runs/(\d+)/artifacts", "_artifacts"),
    (r"/actions/artifacts/(\d+)/zip", "_zip"),
    (r"/actions/workflows/([^/]+)/runs", "_workflow_runs"),
    (r"/commits/([0-9a-f]+)/pulls", "_commit_pulls"),
    (r"/pulls/(\d+)/commits", "_pull_commits"),
    (r"/issues/(\d+)/comments", "_comments"),
    (r"/contents/(.+)", "_contents"),
]


def in_seconds(seconds: float) -> str:
    """A time from now as GitHub writes it in x-ratelimit-reset."""
    return str(int(datetime.now(UTC).timestamp() + seconds))


@contextmanager
def github_server() -> Iterator[FakeGitHub]:
    """Run the two servers for the length of a block."""
    fake = FakeGitHub()
    try:
        yield fake
    finally:
        fake.close()


def _bearer() -> str:
    return f"Bearer {TOKEN}"


def _json_reply(body: Any, status: int = 200) -> Reply:
    headers = {"Content-Type": "application/json; charset=utf-8"}
    return Reply(status, json.dumps(body).encode(), headers)


def _not_found() -> Reply:
    return _json_reply({"message": "Not Found"}, 404)


def _zipped(path: Path) -> bytes:
    if path.suffix == ".zip":
        return path.read_bytes()
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for file in sorted(path.rglob("*")):
            if file.is_file():
                archive.write(file, file.relative_to(path))
    return buffer.getvalue()
