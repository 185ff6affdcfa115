"""Rate limits: when GitHub may be asked again, as one answer tells it."""

import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from http import HTTPStatus

from ingest.github.errors import RateLimitedError, StoppedError

# GitHub asks for a minute where a secondary limit names no time.
UNNAMED_WAIT_S = 60.0
LONGEST_WAIT_S = 24 * 3600.0
LIMITING = (HTTPStatus.FORBIDDEN, HTTPStatus.TOO_MANY_REQUESTS)


@dataclass(slots=True)
class RateGate:
    """Holds all threads of a client back together until a limit is over.

    ``near_s``: a limit that ends within so many seconds is waited for; a later one
    raises RateLimitedError.
    """

    near_s: float
    stopped: threading.Event = field(default_factory=threading.Event)
    _open_at: float = 0.0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def close(self, wait_s: float) -> None:
        """Let nobody through for some seconds; raises RateLimitedError when many."""
        if wait_s > self.near_s:
            raise RateLimitedError.after(wait_s)
        with self._lock:
            self._open_at = max(self._open_at, time.monotonic() + wait_s)

    def wait(self) -> None:
        """Wait until the gate is open; raises StoppedError where all is to end."""
        while (left := self._open_at - time.monotonic()) > 0:
            self.stopped.wait(left)
            self.check()
        self.check()

    def check(self) -> None:
        """Raise StoppedError where all is to end."""
        if self.stopped.is_set():
            raise StoppedError("stopped before it was complete")


def limit_wait_s(status: int, headers: Mapping[str, str], message: str) -> float | None:
    """Return for how many seconds an answer tells to wait; None if it is no limit.

    ``retry-after`` is the secondary limit's; ``x-ratelimit-reset`` the primary one's,
    by the server's own clock. A 403 that has neither, and does not speak of a limit,
    is a refusal.
    """
    if status not in LIMITING:
        return None
    retry_after = _number(headers.get("retry-after"))
    if retry_after is not None:
        return min(max(retry_after, 0.0), LONGEST_WAIT_S)
    reset = _number(headers.get("x-ratelimit-reset"))
    if headers.get("x-ratelimit-remaining") == "0" and reset is not None:
        # One second more: both times are cut to whole seconds.
        return min(max(reset - _server_time(headers) + 1, 0.0), LONGEST_WAIT_S)
    is_limit = status == HTTPStatus.TOO_MANY_REQUESTS or "rate limit" in message.lower()
    return UNNAMED_WAIT_S if is_limit else None


def _number(text: str | None) -> float | None:
    return float(text) if text is not None and text.strip().isdecimal() else None


def _server_time(headers: Mapping[str, str]) -> float:
    try:
        return parsedate_to_datetime(headers["date"]).timestamp()
    except (KeyError, ValueError):
        return time.time()
