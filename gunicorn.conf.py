"""How gunicorn serves the site, in the image and under `make run` alike."""

import os
import shutil
import tempfile
from pathlib import Path

from gunicorn.arbiter import Arbiter
from gunicorn.http import message
from gunicorn.workers.base import Worker

from launcher.processes import is_alive

# Two processes of four threads serve a small team well.
worker_class = "gthread"
workers = 2
threads = 4
graceful_timeout = 5
# Loaded before the fork, once instead of twice.
preload_app = True
# Nobody speaks to it but by signals, and its socket would lie in a home that the image
# does not have.
control_socket_disable = True
# Its own lines look like those of the site.
logconfig_dict = {"loggers": {"gunicorn.error": {"handlers": [], "propagate": True}}}

# The address is the whole state of a page: a long list of keys must reach the form,
# which then names the parameter. gunicorn itself ends at 8190 bytes.
message.MAX_REQUEST_LINE = 1 << 16
limit_request_line = message.MAX_REQUEST_LINE - 1


def _metrics_folder() -> Path:
    """Make the folder in which this server's processes add up what they count.

    It is a folder of this machine and this server: process ids of two containers on
    one volume are the same. What servers left that are gone is deleted.
    """
    shared = Path(tempfile.gettempdir()) / f"frontierboard-metrics-{os.getuid()}"
    shared.mkdir(mode=0o700, exist_ok=True)
    if shared.lstat().st_uid != os.getuid():  # somebody else's: not to be trusted
        return Path(tempfile.mkdtemp(prefix=f"{shared.name}-"))
    for left in shared.iterdir():
        if not (left.name.isdecimal() and is_alive(int(left.name))):
            shutil.rmtree(left, ignore_errors=True)
    own = shared / str(os.getpid())
    shutil.rmtree(own, ignore_errors=True)
    own.mkdir()
    return own


# Before the site is loaded: its counters look for the folder once.
os.environ["PROMETHEUS_MULTIPROC_DIR"] = str(_metrics_folder())


def child_exit(_server: Arbiter, worker: Worker) -> None:
    """Drop what only a living process can tell."""
    from prometheus_client import multiprocess  # noqa: PLC0415  after the folder

    multiprocess.mark_process_dead(worker.pid)  # type: ignore[no-untyped-call]


def on_exit(_server: Arbiter) -> None:
    """Take the folder along."""
    shutil.rmtree(os.environ["PROMETHEUS_MULTIPROC_DIR"], ignore_errors=True)
