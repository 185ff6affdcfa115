"""The web server, its processes and its database killed under readers and uploads."""

import os
import signal
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.faults.checksum import Contents, differences
from tests.faults.conftest import zipped
from tests.faults.site import Site, children_of, get, kill, upload

PATHS = (
    "/",
    "/inference",
    "/runs",
    "/evaluation",
    "/regressions",
    "/api/v1/config-keys",
)


@contextmanager
def readers(ports: list[int]) -> Iterator[list[int]]:
    """Load pages of all web servers until the block ends; yields their statuses."""
    seen: list[int] = []
    is_over = threading.Event()

    def read(port: int) -> None:
        while not is_over.is_set():
            for path in PATHS:
                seen.append(get(port, path)[0])
                is_over.wait(0.05)

    threads = [threading.Thread(target=read, args=[port]) for port in ports]
    for thread in threads:
        thread.start()
    try:
        yield seen
    finally:
        is_over.set()
        for thread in threads:
            thread.join()


def answers(port: int) -> dict[str, int]:
    return {path: get(port, path)[0] for path in PATHS}


def wait_for_more(site: Site, seen: list[int], count: int = 12) -> None:
    enough = len(seen) + count
    site.wait_for(lambda: len(seen) >= enough, "nobody loads pages")


def test_readers_are_served_again_after_a_web_process_was_killed(
    site: Site, bundle: Path
) -> None:
    ports = site.have_webs(2)
    site.take_in(bundle)
    expected = answers(ports[0])
    before = site.contents()
    with readers(ports) as seen:
        wait_for_more(site, seen)
        for port in ports:
            os.kill(children_of(site.webs[port])[0], signal.SIGKILL)
        wait_for_more(site, seen)
    # A request that was cut off has no answer; whoever got one got a whole page.
    assert set(seen) <= {200, 0}
    assert [answers(port) for port in ports] == [expected, expected]
    assert not differences(before, site.contents())


def test_readers_are_told_of_an_outage_and_served_after_it(
    site: Site, bundle: Path
) -> None:
    [port] = site.have_webs()
    site.take_in(bundle)
    expected = answers(port)
    assert set(expected.values()) == {200}
    assert site.postgres is not None
    with readers([port]) as seen:
        wait_for_more(site, seen)
        kill(site.postgres)
        wait_for_more(site, seen)
        status, page = get(port, "/inference")
        told = get(port, "/api/v1/config-keys")
        site.start_postgres()
    assert status == 503
    assert "database" in page
    assert told[0] == 503
    assert set(seen) <= {200, 503}
    assert answers(port) == expected


def test_upload_that_was_cut_off_leaves_nothing_and_a_second_one_is_whole(
    site: Site, bundle: Path, undisturbed: Contents
) -> None:
    [port] = site.have_webs()
    site.have_workers()
    token = site.upload_token("SemiAnalysisAI/InferenceX")
    body = zipped(bundle)
    _send_half(site, port, token, body)
    kill(site.webs[port])
    assert site.rows("SELECT count(*) FROM dashboard_ingestrequest") == [(0,)]

    [port] = site.have_webs()
    status, answer = upload(port, token, body)
    assert status == 202, answer
    [(request,)] = site.rows("SELECT id FROM dashboard_ingestrequest")
    ended = site.wait_until_ended(int(str(request)))
    assert (ended.state, ended.error) == ("done", "")
    assert not differences(undisturbed, _without_tokens(site.contents()))


def test_upload_outlives_the_web_server_that_took_it(
    site: Site, bundle: Path, undisturbed: Contents
) -> None:
    [port] = site.have_webs()
    site.have_workers()
    token = site.upload_token("SemiAnalysisAI/InferenceX")
    with site.writes_held("point"):
        status, answer = upload(port, token, zipped(bundle))
        assert status == 202, answer
        site.wait_until_blocked()
        kill(site.webs[port])
    [(request,)] = site.rows("SELECT id FROM dashboard_ingestrequest")
    assert site.wait_until_ended(int(str(request))).state == "done"
    assert not differences(undisturbed, _without_tokens(site.contents()))
    assert not list((site.data / "uploads").iterdir())


def _send_half(site: Site, port: int, token: str, body: bytes) -> None:
    """Send half of an upload and wait until the server has begun to keep it."""
    head = (
        f"POST /api/v1/runs HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n"
        f"Authorization: Bearer {token}\r\nContent-Type: application/zip\r\n"
        f"Content-Length: {len(body)}\r\n\r\n"
    )
    client = socket.create_connection(("127.0.0.1", port))
    with client:
        client.sendall(head.encode() + body[: len(body) // 2])
        folder = site.data / "uploads"
        begun = lambda: folder.is_dir() and any(folder.iterdir())  # noqa: E731
        site.wait_for(begun, "the upload was never begun")
        kill(site.webs[port])


def _without_tokens(found: Contents) -> Contents:
    return {**found, "dashboard_apitoken": []}
