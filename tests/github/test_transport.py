"""What GitHub may answer, and what may happen to an answer on its way."""

import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ingest.github import (
    ForbiddenError,
    GitHub,
    GoneError,
    NotFoundError,
    Options,
    RateLimitedError,
    RefusedAddressError,
    TooLargeError,
    Transport,
    UnreachableError,
)
from ingest.github.addresses import Addresses
from ingest.github.errors import StoppedError
from ingest.github.limits import limit_wait_s
from tests.github_server import (
    TOKEN,
    FakeGitHub,
    Fault,
    github_server,
    in_seconds,
)
from tests.pipeline.bundles import REPOSITORY, results, row, run_object, write_bundle

RUN = 90001
ARTIFACT = 1000
MOST = 1 << 20


class Memory(dict[str, Any]):
    """Answers kept in this process."""

    def set(self, key: str, value: Any) -> None:
        self[key] = value


@pytest.fixture
def server(tmp_path: Path) -> Iterator[FakeGitHub]:
    with github_server() as fake:
        fake.add(write_bundle(tmp_path / "bundle", artifacts=results(row())))
        yield fake
        assert fake.leaks == []


@pytest.fixture
def github(server: FakeGitHub) -> Iterator[GitHub]:
    yield from connected(server)


def connected(server: FakeGitHub, **options: Any) -> Iterator[GitHub]:
    fast = {"backoff_s": 0.01, "read_s": 0.5, "near_s": 3.0, "download_s": 5.0}
    chosen = Options(base=server.url, **{"token": TOKEN} | fast | options)
    transport = Transport(chosen, Memory())
    yield GitHub(transport, REPOSITORY)
    transport.close()


def test_lists_are_collected_over_all_pages(server: FakeGitHub, tmp_path: Path) -> None:
    uploads: dict[str, Any] = {f"other_{n}": {"a.json": {}} for n in range(250)}
    server.add(write_bundle(tmp_path / "many", run_object(7), uploads))
    for github in connected(server):
        listing = github.artifacts(7)
    assert len(listing.items) == 250
    assert listing.is_complete
    assert server.count("/artifacts") == 3


def test_list_that_lacks_some_says_so(server: FakeGitHub, github: GitHub) -> None:
    server.missing_items = 1
    listing = github.artifacts(RUN)
    assert (len(listing.items), listing.total, listing.is_complete) == (1, 2, False)


def test_download_follows_the_redirect_without_the_token(
    server: FakeGitHub, github: GitHub, tmp_path: Path
) -> None:
    target = tmp_path / "a.zip"
    github.download(ARTIFACT, target, MOST)
    assert target.read_bytes() == server.artifact_zip(ARTIFACT)
    assert server.asked[-1].headers["authorization"] == f"Bearer {TOKEN}"
    assert server.leaks == []


def test_no_token_is_no_header(server: FakeGitHub) -> None:
    for github in connected(server, token=""):
        github.run(RUN)
    assert "authorization" not in server.asked[-1].headers


def test_unchanged_answer_comes_from_where_it_is_kept(
    server: FakeGitHub, github: GitHub
) -> None:
    first = github.run(RUN)
    assert github.run(RUN) == first
    assert [asked.status for asked in server.asked] == [200, 304]
    server.runs[RUN]["conclusion"] = "failure"
    assert github.run(RUN)["conclusion"] == "failure"


@pytest.mark.parametrize("status", [500, 502, 503, 504])
def test_server_errors_heal(server: FakeGitHub, github: GitHub, status: int) -> None:
    server.fail("/actions/runs", Fault(status), Fault(status))
    assert github.run(RUN)["id"] == RUN
    assert len(server.asked) == 3


def test_server_error_that_stays_ends(server: FakeGitHub, github: GitHub) -> None:
    server.fail("/actions/runs", *[Fault(502)] * 9)
    with pytest.raises(UnreachableError, match="502"):
        github.run(RUN)
    assert len(server.asked) == 4


def test_dropped_connections_heal(server: FakeGitHub, github: GitHub) -> None:
    server.fail("/actions/runs", Fault(drop=True), Fault(drop=True))
    assert github.run(RUN)["id"] == RUN


def test_nobody_there_is_one_line() -> None:
    transport = Transport(Options(base="http://127.0.0.1:9", token="", backoff_s=0.01))
    with pytest.raises(UnreachableError, match=r"127\.0\.0\.1 does not answer"):
        GitHub(transport, REPOSITORY).run(RUN)
    transport.close()


@pytest.mark.parametrize("announced", [True, False])
def test_body_that_breaks_off_is_asked_for_again(
    server: FakeGitHub, github: GitHub, tmp_path: Path, *, announced: bool
) -> None:
    server.fail("/actions/runs", Fault(keep=30))
    assert github.run(RUN)["id"] == RUN
    if announced:
        server.fail("/blob/", Fault(keep=30), Fault(keep=0))
        github.download(ARTIFACT, tmp_path / "a.zip", MOST)
        assert (tmp_path / "a.zip").read_bytes() == server.artifact_zip(ARTIFACT)


def test_body_that_always_breaks_off_leaves_no_file(
    server: FakeGitHub, github: GitHub, tmp_path: Path
) -> None:
    server.fail("/blob/", *[Fault(keep=30)] * 9)
    with pytest.raises(UnreachableError, match="the body breaks off"):
        github.download(ARTIFACT, tmp_path / "a.zip", MOST)
    assert list(tmp_path.glob("a.zip*")) == []


def test_silent_body_times_out_and_heals(
    server: FakeGitHub, github: GitHub, tmp_path: Path
) -> None:
    server.fail("/blob/", Fault(pause_s=0.8))
    github.download(ARTIFACT, tmp_path / "a.zip", MOST)
    assert (tmp_path / "a.zip").exists()


def test_trickling_body_is_given_up(server: FakeGitHub, tmp_path: Path) -> None:
    server.fail("/blob/", Fault(pause_s=0.1))
    for github in connected(server, download_s=0.3):
        with pytest.raises(UnreachableError, match="not complete after 0 s"):
            github.download(ARTIFACT, tmp_path / "a.zip", MOST)


def test_download_that_nobody_waits_for_ends_at_its_next_piece(
    server: FakeGitHub, github: GitHub, tmp_path: Path
) -> None:
    server.fail("/blob/", Fault(pause_s=0.3))
    ended: list[Exception] = []

    def download() -> None:
        try:
            github.download(ARTIFACT, tmp_path / "a.zip", MOST)
        except StoppedError as error:
            ended.append(error)

    thread = threading.Thread(target=download)
    start = time.monotonic()
    thread.start()
    time.sleep(0.5)
    github.stop()
    thread.join()
    assert time.monotonic() - start < 2
    assert len(ended) == 1
    with pytest.raises(StoppedError):
        github.run(RUN)


@pytest.mark.parametrize("announced", [True, False])
def test_body_over_the_cap_is_refused(
    server: FakeGitHub, github: GitHub, tmp_path: Path, *, announced: bool
) -> None:
    server.fail("/blob/", Fault(announced=announced))
    with pytest.raises(TooLargeError, match="bytes"):
        github.download(ARTIFACT, tmp_path / "a.zip", 100)
    assert list(tmp_path.glob("a.zip*")) == []


@pytest.mark.parametrize(
    ("fault", "error"),
    [
        (Fault(404), NotFoundError),
        (Fault(401), ForbiddenError),
        (Fault(403, body={"message": "Resource not accessible"}), ForbiddenError),
        (Fault(410), GoneError),
        (Fault(422), UnreachableError),
    ],
)
def test_refusals_are_not_tried_again(
    server: FakeGitHub, github: GitHub, fault: Fault, error: type[Exception]
) -> None:
    server.fail("/actions/runs", fault)
    with pytest.raises(error) as raised:
        github.run(RUN)
    assert len(server.asked) == 1
    assert "\n" not in str(raised.value)


def test_expired_artifact_is_asked_for_once(
    server: FakeGitHub, github: GitHub, tmp_path: Path
) -> None:
    server.gone.add(ARTIFACT)
    with pytest.raises(GoneError, match="expired"):
        github.download(ARTIFACT, tmp_path / "a.zip", MOST)
    assert server.downloads == [ARTIFACT]


def test_signature_that_ran_out_is_asked_for_anew(
    server: FakeGitHub, github: GitHub, tmp_path: Path
) -> None:
    server.fail("/blob/", Fault(403))
    github.download(ARTIFACT, tmp_path / "a.zip", MOST)
    assert server.downloads == [ARTIFACT, ARTIFACT]


def primary(seconds: float) -> Fault:
    headers = {"x-ratelimit-remaining": "0", "x-ratelimit-reset": in_seconds(seconds)}
    return Fault(403, headers, {"message": "API rate limit exceeded"})


def test_near_reset_is_waited_for(server: FakeGitHub, github: GitHub) -> None:
    server.fail("/actions/runs", primary(1))
    start = time.monotonic()
    assert github.run(RUN)["id"] == RUN
    assert 0.5 < time.monotonic() - start < 4


def test_far_reset_is_said(server: FakeGitHub, github: GitHub) -> None:
    server.fail("/actions/runs", primary(1800))
    with pytest.raises(RateLimitedError, match=r"it ends at 20\d\d-") as raised:
        github.run(RUN)
    left = raised.value.until.timestamp() - time.time()
    assert 1790 < left < 1810
    assert len(server.asked) == 1


@pytest.mark.parametrize("status", [403, 429])
def test_retry_after_is_honoured(
    server: FakeGitHub, github: GitHub, status: int
) -> None:
    server.fail("/actions/runs", Fault(status, {"retry-after": "1"}))
    start = time.monotonic()
    assert github.run(RUN)["id"] == RUN
    assert time.monotonic() - start >= 1


def test_limit_that_never_ends_ends(server: FakeGitHub, github: GitHub) -> None:
    server.fail("/actions/runs", *[Fault(429, {"retry-after": "0"})] * 9)
    with pytest.raises(RateLimitedError):
        github.run(RUN)
    assert len(server.asked) == 4


def test_limit_holds_every_thread_back(server: FakeGitHub, github: GitHub) -> None:
    server.fail("/actions/runs", Fault(429, {"retry-after": "1"}))
    github_threads = [threading.Thread(target=github.run, args=(RUN,))]
    github_threads[0].start()
    while not server.asked or not server.asked[0].status:
        time.sleep(0.01)
    time.sleep(0.2)
    start = time.monotonic()
    github.jobs(RUN)
    waited = time.monotonic() - start
    github_threads[0].join()
    assert waited > 0.4


@pytest.mark.parametrize(
    ("status", "headers", "message", "wait"),
    [
        (403, {}, "Must have admin rights", None),
        (403, {"x-ratelimit-remaining": "10"}, "", None),
        (403, {}, "You have exceeded a secondary rate limit", 60.0),
        (429, {}, "", 60.0),
        (429, {"retry-after": "soon"}, "", 60.0),
        (403, {"retry-after": "7"}, "", 7.0),
        (403, {"retry-after": "99999999"}, "", 86400.0),
        (500, {"retry-after": "7"}, "", None),
        (
            403,
            {
                "x-ratelimit-remaining": "0",
                "x-ratelimit-reset": "1000000040",
                "date": "Sun, 09 Sep 2001 01:46:40 GMT",
            },
            "",
            41.0,
        ),
    ],
)
def test_what_counts_as_a_limit(
    status: int, headers: dict[str, str], message: str, wait: float | None
) -> None:
    assert limit_wait_s(status, headers, message) == wait


@pytest.mark.parametrize(
    "location",
    [
        "http://example.org/x",
        "ftp://127.0.0.1/x",
        "file:///etc/passwd",
        "https://127.0.0.1/x",
        "https://10.0.0.1/x",
        "https://169.254.169.254/latest",
        "https://[::1]/x",
        "https://user:pass@192.0.2.1/x",
        "https://localhost/x",
        "https:///x",
    ],
)
def test_redirects_to_inside_are_refused(location: str) -> None:
    with pytest.raises(RefusedAddressError):
        Addresses("https://api.github.com").check(location)


def test_redirects_that_are_followed() -> None:
    addresses = Addresses("https://api.github.com")
    for url in ("https://1.1.1.1/zip?sig=1", "https://api.github.com/x"):
        assert addresses.check(url) == url
    local = Addresses("http://127.0.0.1:8000")
    assert local.check("http://127.0.0.1:9000/x") == "http://127.0.0.1:9000/x"
    with pytest.raises(RefusedAddressError):
        local.check("http://10.0.0.1/x")


def test_token_stays_with_its_own_origin() -> None:
    addresses = Addresses("https://api.github.com")
    assert addresses.is_own("https://api.github.com:443/repos")
    for other in (
        "https://api.github.com:444/",
        "http://api.github.com/",
        "https://api.github.com.example.org/",
        "https://github.com/",
    ):
        assert not addresses.is_own(other)


def test_redirect_into_the_network_is_refused(
    server: FakeGitHub, github: GitHub, tmp_path: Path
) -> None:
    target = {"Location": "http://169.254.169.254/latest"}
    server.fail("/zip", Fault(302, target))
    with pytest.raises(RefusedAddressError, match=r"169\.254\.169\.254"):
        github.download(ARTIFACT, tmp_path / "a.zip", MOST)


def test_endless_redirects_end(server: FakeGitHub, github: GitHub) -> None:
    again = {"Location": f"{server.url}/repos/{REPOSITORY}/actions/runs/{RUN}"}
    server.fail("/actions/runs", *[Fault(301, again)] * 9)
    with pytest.raises(UnreachableError, match="redirected too often"):
        github.run(RUN)


def test_moved_repository_is_followed_with_the_token(
    server: FakeGitHub, github: GitHub
) -> None:
    there = {"Location": f"{server.url}/repos/{REPOSITORY}/actions/runs/{RUN}"}
    server.fail("/actions/runs", Fault(301, there))
    assert github.run(RUN)["id"] == RUN
    assert server.asked[-1].headers["authorization"] == f"Bearer {TOKEN}"


@pytest.mark.parametrize("body", [[], "x", 5])
def test_answers_of_another_shape_are_one_line(
    server: FakeGitHub, github: GitHub, body: Any
) -> None:
    server.fail("/actions/runs", Fault(200, body=body))
    with pytest.raises(UnreachableError, match="no object"):
        github.run(RUN)
