"""No address that somebody else chose leads into a private network."""

import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dashboard.vocabulary.links import OWNER_AND_NAME
from ingest.github.addresses import Addresses, is_public, parsed_address
from ingest.github.errors import GitHubError, RefusedAddressError
from ingest.github.transport import Options, Transport

INSIDE = [
    "10.0.0.1",
    "127.0.0.1",
    "169.254.169.254",
    "172.16.0.1",
    "192.168.1.1",
    "100.64.0.1",
    "0.0.0.0",  # noqa: S104  # never bound
    "224.0.0.1",
    "::",
    "::1",
    "fe80::1",
    "fc00::1",
    "fec0::1",
    "ff02::1",
    "::ffff:10.0.0.1",
    "::ffff:7f00:1",
    "64:ff9b::a00:1",
    "2002:a00:1::",
]


@pytest.mark.parametrize("text", INSIDE)
def test_private_addresses_are_known_however_they_are_written(text: str) -> None:
    assert not is_public(parsed_address(text))


@pytest.mark.parametrize("text", ["1.1.1.1", "2606:4700::1", "64:ff9b::101:101"])
def test_public_addresses_are_public(text: str) -> None:
    assert is_public(parsed_address(text))


def names(monkeypatch: pytest.MonkeyPatch, *answers: str) -> None:
    """Let a name have these addresses, one after the other."""
    left = list(answers)
    real = socket.getaddrinfo

    def answer(host: Any, port: Any, *rest: Any, **more: Any) -> Any:
        if host != "artifacts.example.org":
            return real(host, port, *rest, **more)
        address = left.pop(0) if len(left) > 1 else left[0]
        return real(address, port, *rest, **more)

    monkeypatch.setattr(socket, "getaddrinfo", answer)


@pytest.mark.parametrize("address", ["10.0.0.1", "::1", "::ffff:127.0.0.1"])
def test_a_name_of_a_private_address_is_refused(
    monkeypatch: pytest.MonkeyPatch, address: str
) -> None:
    names(monkeypatch, address)
    with pytest.raises(RefusedAddressError, match="private"):
        Addresses("https://api.github.com").check("https://artifacts.example.org/zip")


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(2)
        yield server


def test_a_name_that_changes_its_address_after_the_check_is_sent_nothing(
    monkeypatch: pytest.MonkeyPatch, listener: socket.socket, tmp_path: Path
) -> None:
    port = listener.getsockname()[1]
    names(monkeypatch, "1.1.1.1", "127.0.0.1")
    url = f"https://artifacts.example.org:{port}/zip"
    transport = Transport(Options(base="https://api.github.com", tries=1))
    transport._addresses.check(url)
    with pytest.raises(RefusedAddressError, match="private address"):
        transport.download(url, tmp_path / "a.zip", 1000)
    connection, _ = listener.accept()
    with connection:
        assert connection.recv(100) == b""
    transport.close()


@pytest.mark.parametrize(
    "url",
    [
        "http://artifacts.example.org/zip",
        "https://artifacts.example.org@10.0.0.1/",
        "https://0x7f.1/",
        "https://2130706433/",
        "https://127.1/",
        "gopher://1.1.1.1/",
        "//10.0.0.1/",
        "https://[::ffff:10.0.0.1]/",
        "https://artifacts.example.org:99999/",
    ],
)
def test_odd_spellings_of_inside_are_refused(
    monkeypatch: pytest.MonkeyPatch, url: str
) -> None:
    names(monkeypatch, "10.0.0.1")
    with pytest.raises((RefusedAddressError, ValueError)):
        Addresses("https://api.github.com").check(url)


@pytest.mark.parametrize(
    "name",
    ["..", "a/..", "../a", "a/b/c", "a/b?x=1", "a/b#", "a\\b/c", "a/b\n", "%2e%2e/a"],
)
def test_a_repository_is_no_way_to_another_path(name: str) -> None:
    assert not OWNER_AND_NAME.fullmatch(name)


def test_an_address_that_is_refused_is_one_line_of_a_known_kind() -> None:
    assert issubclass(RefusedAddressError, GitHubError)
