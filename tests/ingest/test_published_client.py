"""Asking an official dashboard: a real server on this machine, and what is refused."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from ingest.published.client import Site, fetch
from ingest.published.files import PublishedError
from tests.github_http import Asked, Fault, Reply, Server
from tests.published import MODEL, past_point, point, score

DAY = "2026-08-01"
AVAILABLE = {"model": "qwen3.5", "isl": 1024, "osl": 1024, "date": DAY}


class Dashboard:
    """Answers under the official paths and remembers what it was asked."""

    def __init__(self) -> None:
        self.asked: list[Asked] = []
        self.answers: dict[str, Any] = {
            "availability": [AVAILABLE],
            "benchmarks": [point()],
            "benchmarks/history": [past_point()],
            "evaluations": [score()],
            "reliability": [],
            "workflow-info": {"runs": [], "changelogs": [], "configs": []},
        }
        self.replies: dict[str, Reply] = {}

    def answer(self, asked: Asked) -> tuple[Reply, Fault | None]:
        """Answer one request."""
        self.asked.append(asked)
        path = asked.path.removeprefix("/api/v1/")
        body = json.dumps(self.answers.get(path)).encode()
        return self.replies.get(path, Reply(200, body)), None


def address_of(server: Server) -> str:
    return f"http://127.0.0.1:{server.server_address[1]}"


def stop(server: Server) -> None:
    server.shutdown()
    server.server_close()


@pytest.fixture
def dashboard() -> Dashboard:
    return Dashboard()


@pytest.fixture
def host(dashboard: Dashboard) -> Iterator[str]:
    server = Server(dashboard.answer)
    yield address_of(server)
    stop(server)


def test_everything_is_asked_for_that_is_said_to_be_available(dashboard, host):
    published = fetch(host)
    asked = [(a.path.removeprefix("/api/v1/"), a.query) for a in dashboard.asked]
    lengths = {"isl": "1024", "osl": "1024"}
    assert asked == [
        ("availability", {}),
        ("evaluations", {}),
        ("reliability", {}),
        ("benchmarks", {"model": MODEL}),
        ("benchmarks/history", {"model": MODEL, **lengths}),
        ("workflow-info", {"date": DAY}),
    ]
    assert published.rows["benchmarks"] == [point()]
    assert published.rows["benchmarks-history"] == [past_point()]
    assert published.problems == []


def test_what_the_host_does_not_give_is_told_and_the_rest_taken(dashboard, host):
    dashboard.replies["benchmarks"] = Reply(500, b"")
    dashboard.replies["evaluations"] = Reply(200, b"<html>")
    published = fetch(host)
    assert published.rows["benchmarks-history"] == [past_point()]
    first, second = published.problems
    assert first.startswith("evaluations: not JSON")
    assert second == f"benchmarks: answered 500 ({MODEL})"


def test_a_host_that_cannot_be_asked_is_one_line(dashboard, host):
    dashboard.replies["availability"] = Reply(404, b"")
    with pytest.raises(PublishedError, match="availability: answered 404"):
        fetch(host)


def test_a_redirect_is_not_followed(dashboard, host):
    away = {"Location": "http://169.254.169.254/"}
    dashboard.replies["availability"] = Reply(302, b"", away)
    with pytest.raises(PublishedError, match="availability: answered 302"):
        fetch(host)
    assert len(dashboard.asked) == 1


def test_an_answer_beyond_the_cap_is_refused(host):
    with (
        Site(host, most_bytes=100) as site,
        pytest.raises(PublishedError, match="benchmarks: more than 100 bytes"),
    ):
        site.get("benchmarks", {})


@pytest.mark.parametrize(
    "base", ["http://example.org", "ftp://localhost", "https://", "https://me@host"]
)
def test_only_https_or_this_machine_is_asked(base):
    with pytest.raises(PublishedError, match="https or this machine only"):
        fetch(base)


def test_nobody_there_is_one_line(dashboard):
    server = Server(dashboard.answer)
    gone = address_of(server)
    stop(server)
    with pytest.raises(PublishedError, match=r"availability: no answer"):
        fetch(gone)
