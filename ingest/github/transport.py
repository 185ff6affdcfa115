"""One request at a time: tries, limits, redirects, bodies; not what they mean."""

import hashlib
import json
import random
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import Protocol, TypedDict, TypeVar
from urllib.parse import urljoin, urlsplit

import requests
from requests.adapters import HTTPAdapter
from urllib3.exceptions import HTTPError
from urllib3.util import Retry

from ingest.github.addresses import Addresses
from ingest.github.connections import PublicAdapter
from ingest.github.errors import (
    ForbiddenError,
    GitHubError,
    GoneError,
    NotFoundError,
    RateLimitedError,
    RefusedAddressError,
    RejectedError,
    TooLargeError,
    UnreachableError,
)
from ingest.github.limits import RateGate, limit_wait_s

POOL = 8
HEALING = (500, 502, 503, 504)
REDIRECTS = (301, 302, 303, 307, 308)
VERBATIM_REDIRECTS = (307, 308)
MAX_REDIRECTS = 4
MAX_WAITS = 3
CHUNK = 1 << 16
MAX_ANSWER = 64 << 20
MAX_KEPT_ANSWER = 4 << 20
MAX_MESSAGE = 64 << 10
JSON = "application/vnd.github+json"
RAW = "application/vnd.github.raw+json"
API_VERSION = "2022-11-28"

# What a status means; any other failure may heal.
REFUSED: dict[int, type[GitHubError]] = {
    HTTPStatus.UNAUTHORIZED: ForbiddenError,
    HTTPStatus.FORBIDDEN: ForbiddenError,
    HTTPStatus.NOT_FOUND: NotFoundError,
    HTTPStatus.GONE: GoneError,
}
REFUSED_WRITES = {**REFUSED, HTTPStatus.UNPROCESSABLE_ENTITY: RejectedError}

Result = TypeVar("Result")


class Answer(TypedDict):
    """An answer as it is kept for conditional requests; ``link`` is its header."""

    etag: str
    link: str
    body: bytes


class Answers(Protocol):
    """Where answers are kept between requests; losing one costs a request."""

    def get(self, key: str) -> Answer | None:
        """Return the answer of a key."""

    def set(self, key: str, value: Answer) -> None:
        """Keep an answer."""


@dataclass(frozen=True, slots=True)
class Options:
    """How GitHub is asked; times in seconds.

    ``near_s``: a rate limit that ends within so many seconds is waited for.
    ``download_s`` bounds one download, however slowly its bytes trickle.
    """

    base: str = "https://api.github.com"
    token: str = ""
    tries: int = 4
    backoff_s: float = 0.5
    connect_s: float = 5.0
    read_s: float = 30.0
    download_s: float = 300.0
    near_s: float = 60.0


class _BrokenError(Exception):
    """A body that ended early or came from where a signature has run out."""


class Transport:
    """A session with GitHub; may be used by several threads at once."""

    def __init__(
        self,
        options: Options,
        answers: Answers | None = None,
        listen: Callable[[Mapping[str, str]], None] | None = None,
    ) -> None:
        """Ask as the options say; ``listen`` hears the headers of GitHub's answers."""
        self.options = options
        self._listen = listen
        self._addresses = Addresses(options.base)
        self._answers = answers
        self._gate = RateGate(options.near_s)
        self._session = _session(options, HTTPAdapter)
        # For whatever a redirect names: another's servers, never this network's.
        self._others = _session(options, PublicAdapter)

    def close(self) -> None:
        """Close every connection."""
        self._session.close()
        self._others.close()

    def stop(self) -> None:
        """Let everything under way end at its next piece."""
        self._gate.stopped.set()

    def url(self, path: str) -> str:
        """Return the full address of a path of the interface."""
        return self.options.base.rstrip("/") + path

    def fetch(self, url: str, accept: str = JSON) -> Answer:
        """GET an answer of the interface; an unchanged one comes from where it is kept.

        Raises GitHubError.
        """
        key = self._key(url, accept)
        kept = self._answers.get(key) if self._answers is not None else None
        headers = {"Accept": accept}
        if kept is not None:
            headers["If-None-Match"] = kept["etag"]
        answer = self._healed(url, lambda: self._answer(url, headers))
        if answer is None:
            if kept is None:
                raise UnreachableError(f"GitHub says of {_path(url)} only: unchanged")
            return kept
        is_small = len(answer["body"]) <= MAX_KEPT_ANSWER
        if self._answers is not None and answer["etag"] and is_small:
            self._answers.set(key, answer)
        return answer

    def download(self, url: str, target: Path, max_bytes: int) -> None:
        """Stream a body to a file, which is whole or not there.

        Redirects to other hosts go without the token. Raises GitHubError.
        """
        part = target.with_name(f"{target.name}.part")
        deadline = time.monotonic() + self.options.download_s
        try:
            self._healed(url, lambda: self._stream(url, part, max_bytes, deadline))
            part.replace(target)
        finally:
            part.unlink(missing_ok=True)

    def send(self, method: str, url: str, value: Mapping[str, object]) -> bytes:
        """POST or PATCH an object once and return the answer's body.

        Only what a limit turned away is sent again: that was not carried out. Raises
        GitHubError; after UnreachableError it may have been carried out all the same.
        """
        body = json.dumps(value).encode()
        return self._healed(url, lambda: self._sent(method, url, body))

    def _key(self, url: str, accept: str) -> str:
        """Return a key that no other token shares: it may see other things."""
        parts = "\n".join((url, accept, self.options.token))
        return f"github:{hashlib.sha256(parts.encode()).hexdigest()}"

    def _healed(self, url: str, once: Callable[[], Result]) -> Result:
        """Try again what can heal: a broken body, a limit that is nearly over."""
        broken, waits = 0, 0
        while True:
            self._gate.wait()
            try:
                return once()
            except _LimitedError as limited:
                waits += 1
                if waits > MAX_WAITS:
                    raise limited.as_error() from limited
                self._gate.close(limited.wait_s)
            except _BrokenError as error:
                broken += 1
                if broken >= self.options.tries:
                    raise UnreachableError(f"{_path(url)}: {error}") from error
                pause = self.options.backoff_s * 2 ** (broken - 1)
                time.sleep(pause * random.uniform(0.5, 1.5))  # noqa: S311  jitter

    def _answer(self, url: str, headers: dict[str, str]) -> Answer | None:
        """Return an answer, or None where it is what is kept."""
        with self._opened(url, headers) as response:
            if response.status_code == HTTPStatus.NOT_MODIFIED:
                return None
            _refuse_failure(response, url, REFUSED)
            body = b"".join(_chunks(response, MAX_ANSWER))
            return {
                "etag": response.headers.get("etag", ""),
                "link": response.headers.get("link", ""),
                "body": body,
            }

    def _sent(self, method: str, url: str, body: bytes) -> bytes:
        headers = {"Accept": JSON, "Content-Type": "application/json"}
        with self._opened(url, headers, method, body) as response:
            _refuse_failure(response, url, REFUSED_WRITES)
            try:
                return b"".join(_chunks(response, MAX_ANSWER))
            except _BrokenError as error:
                raise UnreachableError(f"{_path(url)}: {error}") from error

    def _stream(self, url: str, part: Path, max_bytes: int, deadline: float) -> None:
        with self._opened(url, {}) as response, part.open("wb") as file:
            if not self._addresses.is_own(response.url) and _is_refusal(response):
                raise _BrokenError("the redirect's signature is not accepted")
            _refuse_failure(response, url, REFUSED)
            for chunk in _chunks(response, max_bytes):
                self._gate.check()
                if time.monotonic() > deadline:
                    seconds = self.options.download_s
                    raise UnreachableError(f"not complete after {seconds:.0f} s")
                file.write(chunk)

    @contextmanager
    def _opened(
        self,
        url: str,
        headers: dict[str, str],
        method: str = "GET",
        body: bytes | None = None,
    ) -> Iterator[requests.Response]:
        """Follow redirects to allowed places; the token stays with its host.

        What is written stays there too, and goes only where it is to be repeated.
        """
        redirects = REDIRECTS if body is None else VERBATIM_REDIRECTS
        for _ in range(MAX_REDIRECTS + 1):
            response = self._asked(url, headers, method, body)
            if self._listen is not None and self._addresses.is_own(url):
                self._listen(response.headers)
            location = response.headers.get("location")
            if response.status_code not in redirects or location is None:
                with response:
                    yield response
                return
            response.close()
            url = self._addresses.check(urljoin(url, location))
            if body is not None and not self._addresses.is_own(url):
                raise RefusedAddressError("refused to write to another host")
        raise UnreachableError(f"{_path(url)}: redirected too often")

    def _asked(
        self, url: str, headers: dict[str, str], method: str, body: bytes | None
    ) -> requests.Response:
        own = self._addresses.is_own(url)
        if own:
            headers = {**headers, "X-GitHub-Api-Version": API_VERSION}
        if own and self.options.token:
            headers["Authorization"] = f"Bearer {self.options.token}"
        timeout = (self.options.connect_s, self.options.read_s)
        try:
            session = self._session if own else self._others
            return session.request(
                method,
                url,
                data=body,
                headers=headers,
                timeout=timeout,
                stream=True,
                allow_redirects=False,
            )
        except requests.RequestException as error:
            host = urlsplit(url).hostname
            why = type(error).__name__
            raise UnreachableError(f"{host} does not answer ({why})") from error


class _LimitedError(Exception):
    """An answer that tells to wait."""

    def __init__(self, wait_s: float) -> None:
        super().__init__(wait_s)
        self.wait_s = wait_s

    def as_error(self) -> RateLimitedError:
        """Return what is raised where waiting is no use."""
        return RateLimitedError.after(self.wait_s)


def _session(options: Options, adapter: type[HTTPAdapter]) -> requests.Session:
    """Return a session with tries for what never began to answer, and a pool."""
    retry = Retry(
        total=options.tries - 1,
        backoff_factor=options.backoff_s,
        backoff_jitter=options.backoff_s,
        status_forcelist=HEALING,
        allowed_methods={"GET"},
        respect_retry_after_header=False,  # limits are ours to judge
        raise_on_status=False,
    )
    session = requests.Session()
    session.headers["User-Agent"] = "frontierboard"
    session.auth = _no_netrc
    for scheme in ("https://", "http://"):
        session.mount(scheme, adapter(POOL, POOL, retry))
    return session


def _no_netrc(request: requests.PreparedRequest) -> requests.PreparedRequest:
    """Keep a machine's own passwords out of requests, redirected ones above all."""
    return request


def _is_refusal(response: requests.Response) -> bool:
    return response.status_code in (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN)


def _refuse_failure(
    response: requests.Response, url: str, kinds: Mapping[int, type[GitHubError]]
) -> None:
    """Raise what a failed answer means."""
    status = response.status_code
    if status < HTTPStatus.BAD_REQUEST:
        return
    message = _message(response)
    wait_s = limit_wait_s(status, response.headers, message)
    if wait_s is not None:
        raise _LimitedError(wait_s)
    text = f": {message}" if message else ""
    raise kinds.get(status, UnreachableError)(
        f"GitHub answers {status} to {_path(url)}{text}"
    )


def _message(response: requests.Response) -> str:
    """Return what a failed answer says, as one short line."""
    try:
        body = b"".join(_chunks(response, MAX_MESSAGE))
        value = json.loads(body)
    except (_BrokenError, TooLargeError, ValueError, RecursionError):
        return ""
    text = value.get("message") if isinstance(value, dict) else None
    return " ".join(text.split())[:200] if isinstance(text, str) else ""


def _chunks(response: requests.Response, max_bytes: int) -> Iterator[bytes]:
    """Yield a body; raises TooLargeError, and _BrokenError where it ends early."""
    announced = response.headers.get("content-length", "")
    if announced.isdecimal() and int(announced) > max_bytes:
        raise TooLargeError(f"{announced} bytes, {max_bytes} allowed")
    received = 0
    try:
        # Pieces as they come: whole chunks of a trickling body may take for ever.
        while chunk := response.raw.read1(CHUNK, decode_content=True):
            received += len(chunk)
            if received > max_bytes:
                raise TooLargeError(f"more than {max_bytes} bytes")
            yield chunk
    except HTTPError as error:
        raise _BrokenError("the body breaks off") from error


def _path(url: str) -> str:
    """Return an address without host and query."""
    return urlsplit(url).path[:200]
