"""What the environment asks of `make run`."""

import os
import socket
import time
from dataclasses import dataclass
from pathlib import Path

from launcher.errors import LaunchError
from launcher.paths import data_folder

HOST = "127.0.0.1"
_LARGEST_PORT = 65535


@dataclass(frozen=True)
class Configuration:
    """The data folder, the port of the web server, and whether a demo is wanted."""

    data: Path
    port: int
    demo: bool

    @property
    def address(self) -> str:
        """Where the web server answers."""
        return f"http://{HOST}:{self.port}"


def read_configuration() -> Configuration:
    """Read the environment; an odd value raises LaunchError."""
    demo = os.environ.get("FRONTIERBOARD_DEMO") or "1"
    if demo not in {"0", "1"}:
        raise LaunchError(f"FRONTIERBOARD_DEMO must be 0 or 1, not {demo!r}.")
    port = os.environ.get("FRONTIERBOARD_PORT") or "8000"
    if not port.isdecimal() or not 0 < int(port) <= _LARGEST_PORT:
        raise LaunchError(f"FRONTIERBOARD_PORT must be 1 to 65535, not {port!r}.")
    return Configuration(data_folder(), int(port), demo == "1")


def check_port(port: int, *, patience: float = 3.0) -> None:
    """Raise LaunchError when the port stays taken.

    A web server of a launcher that was killed a moment ago is given time to leave.
    """
    deadline = time.monotonic() + patience
    while True:
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((HOST, port))
            except OSError as error:
                problem = error.strerror
            else:
                return
        if time.monotonic() > deadline:
            raise LaunchError(
                f"Port {port} cannot be used ({problem}): "
                "set FRONTIERBOARD_PORT to another."
            )
        time.sleep(0.1)
