"""HTTP on this machine: requests as they came, replies, and what is done to these."""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, cast
from urllib.parse import parse_qs, urlsplit

Query = dict[str, str]


@dataclass
class Fault:
    """What one request gets instead of its answer, or done to its answer.

    ``keep`` cuts a body after so many bytes, with its announced length or without;
    ``pause_s`` is slept before each tenth of the body; ``drop`` closes at once; with
    ``carried_out`` the request has its effect all the same.
    """

    status: int = 0
    headers: dict[str, str] = field(default_factory=dict)
    body: Any = None
    keep: int | None = None
    announced: bool = True
    pause_s: float = 0.0
    drop: bool = False
    carried_out: bool = False


@dataclass
class Reply:
    status: int
    body: bytes
    headers: dict[str, str] = field(default_factory=dict)


@dataclass
class Asked:
    """One request as it came."""

    path: str
    query: Query
    headers: dict[str, str]
    status: int = 0
    method: str = "GET"
    body: bytes = b""


Answer = Callable[[Asked], tuple[Reply, Fault | None]]


class Handler(BaseHTTPRequestHandler):
    """Answers by what its server was given."""

    protocol_version = "HTTP/1.1"
    # Headers and body are two writes: the second would wait until the first arrived.
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        query = {name: values[-1] for name, values in parse_qs(parts.query).items()}
        headers = {name.lower(): value for name, value in self.headers.items()}
        body = self.rfile.read(int(headers.get("content-length", "0")))
        asked = Asked(parts.path, query, headers, method=self.command, body=body)
        reply, fault = cast("Server", self.server).answer(asked)
        if fault is not None and fault.drop:
            self.close_connection = True
        else:
            self._send(reply, fault or Fault())

    def do_POST(self) -> None:
        self.do_GET()

    def do_PATCH(self) -> None:
        self.do_GET()

    def _send(self, reply: Reply, fault: Fault) -> None:
        self.send_response(reply.status)
        for name, value in reply.headers.items():
            self.send_header(name, value)
        if fault.announced:
            self.send_header("Content-Length", str(len(reply.body)))
        else:
            self.send_header("Connection", "close")
        self.end_headers()
        if fault.keep is not None:
            self.close_connection = True
        self._write(reply.body[: fault.keep], fault.pause_s)

    def _write(self, body: bytes, pause_s: float) -> None:
        step = max(len(body) // 10, 1) if pause_s else max(len(body), 1)
        for start in range(0, len(body), step):
            time.sleep(pause_s)
            self.wfile.write(body[start : start + step])
            self.wfile.flush()

    def log_message(self, *args: object) -> None:
        """Say nothing."""


class Server(ThreadingHTTPServer):
    """A thread per connection; one that a client keeps open holds nobody up."""

    daemon_threads = True
    block_on_close = False

    def __init__(self, answer: Answer) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.answer = answer
        threading.Thread(target=self.serve_forever, args=(0.05,), daemon=True).start()

    def handle_error(self, *args: object) -> None:
        """A client that went away is part of the game."""
