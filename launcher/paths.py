"""Where a data folder keeps things, and the addresses of what runs in it."""

import hashlib
import os
import tempfile
from pathlib import Path
from urllib.parse import quote

CHECKOUT = Path(__file__).resolve().parent.parent
DATABASE = "frontierboard"
DATABASE_USER = "frontierboard"
POSTGRES_PORT = 5432  # only names the socket file: nothing listens on TCP
KEY_PREFIX = "frontierboard:"  # before every Redis key, so that a Redis may be shared
_LONGEST_FOLDER = 80  # bytes; a socket path may have 107, and its file name needs some


def data_folder() -> Path:
    """Return the absolute data folder: FRONTIERBOARD_DATA, else .data of the checkout.

    A relative value counts from the checkout, so that every command finds the same
    folder from wherever it is started.
    """
    return CHECKOUT / (os.environ.get("FRONTIERBOARD_DATA") or ".data")


def socket_folder(data: Path) -> Path:
    """Return the folder of the unix sockets that belong to one data folder.

    A socket path may have 107 bytes, and a data folder may lie deep, so the sockets
    live under the temporary folder, found again by a hash of the data folder's path.
    """
    digest = hashlib.sha256(os.fsencode(data.resolve())).hexdigest()[:12]
    folder = Path(tempfile.gettempdir()) / f"fb-{os.getuid()}-{digest}"
    if len(os.fsencode(folder)) <= _LONGEST_FOLDER:
        return folder
    return Path("/tmp") / folder.name  # noqa: S108  a short path matters more here


def broker_socket(data: Path) -> Path:
    """Return the unix socket of the data folder's broker."""
    return socket_folder(data) / "broker.sock"


def database_url(data: Path) -> str:
    """Return the DATABASE_URL of the Postgres that runs in the data folder."""
    host = quote(str(socket_folder(data)), safe="/")
    return f"postgres://{DATABASE_USER}@/{DATABASE}?host={host}&port={POSTGRES_PORT}"


def key_prefix() -> str:
    """Return what stands before every Redis key: FRONTIERBOARD_KEY_PREFIX."""
    return os.environ.get("FRONTIERBOARD_KEY_PREFIX") or KEY_PREFIX


def redis_url(data: Path) -> str:
    """Return the REDIS_URL of the broker that runs in the data folder."""
    return f"unix://{quote(str(broker_socket(data)), safe='/')}?db=0"
