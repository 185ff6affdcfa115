"""A site as production serves it, asked over HTTP, with the processor time it needs."""

import http.client
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import NamedTuple

import psycopg

from launcher import frontend
from launcher.paths import CHECKOUT, database_url, redis_url
from launcher.processes import Child, start
from launcher.services import broker_for

HOST = "127.0.0.1"
# What Chromium sends.
PACKINGS = "gzip, deflate, br, zstd"
START_S, ANSWER_S = 60, 60
TICKS = os.sysconf("SC_CLK_TCK")
GOOD = 200


class Answer(NamedTuple):
    """An answer, or the middle of several: ms, processor time in ms, bytes."""

    ms: float
    cpu_ms: float
    size: int


@dataclass(frozen=True)
class Site:
    """The server that is measured, and the database behind it."""

    port: int
    web: Child
    database: str

    @property
    def address(self) -> str:
        """Return where it answers."""
        return f"http://{HOST}:{self.port}"

    def ask(self, path: str) -> Answer:
        """Ask once over a new connection, and read the answer to its end."""
        begun = time.perf_counter()
        connection = http.client.HTTPConnection(HOST, self.port, timeout=ANSWER_S)
        connection.request("GET", path, headers={"Accept-Encoding": PACKINGS})
        response = connection.getresponse()
        size = len(response.read())
        ms = (time.perf_counter() - begun) * 1000
        connection.close()
        if response.status != GOOD:
            raise SystemExit(f"{path}: {response.status}")
        return Answer(ms, 0.0, size)

    def median(self, path: str, repeats: int, *, is_cold: bool = False) -> Answer:
        """Ask so often; if cold, let the data change before each time."""
        found = []
        before = self._cpu_ms()
        for _ in range(repeats):
            if is_cold:
                self._change()
            found.append(self.ask(path))
        cpu_ms = (self._cpu_ms() - before) / repeats
        ms = median(answer.ms for answer in found)
        return Answer(ms, cpu_ms, found[-1].size)

    def _change(self) -> None:
        with psycopg.connect(self.database, autocommit=True) as session:
            session.execute("UPDATE dashboard_generation SET number = number + 1")

    def _workers(self) -> list[int]:
        """Return the ids of the processes that answer."""
        parent = self.web.process.pid
        children = Path(f"/proc/{parent}/task/{parent}/children").read_text()
        return [int(pid) for pid in children.split()]

    def _cpu_ms(self) -> float:
        """Return the processor time of the web processes so far."""
        return sum(_cpu_ms(pid) for pid in self._workers())

    def stored_per_point(self) -> float:
        """Return the bytes of the point table with its indexes, per point."""
        query = (
            "SELECT pg_total_relation_size('dashboard_point')::float / count(*) "
            "FROM dashboard_point"
        )
        with psycopg.connect(self.database) as session:
            found = session.execute(query).fetchone()
        return float(found[0]) if found else 0.0

    def peak_mb(self) -> float:
        """Return the most memory that one web process ever had."""
        peaks = []
        for pid in self._workers():
            lines = Path(f"/proc/{pid}/status").read_text().splitlines()
            peak = next(line for line in lines if line.startswith("VmHWM"))
            peaks.append(int(peak.split()[1]) / 1024)
        return max(peaks)

    def static_path(self) -> str:
        """Return the address of a file that the same server sends as it lies there."""
        manifest = json.loads((CHECKOUT / "staticfiles/staticfiles.json").read_text())
        return f"/static/{manifest['paths']['js/frontier.js']}"


def _cpu_ms(pid: int) -> float:
    """Return the processor time of a process, 0 of one that is gone."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) * 1000 / TICKS


@contextmanager
def served(env: dict[str, str]) -> Iterator[Site]:
    """Serve the database of the environment by gunicorn, with packed files."""
    data = Path(env["FRONTIERBOARD_DATA"])
    with ExitStack() as stack:
        if not env.get("REDIS_URL"):
            stack.enter_context(broker_for(data))
        database = env.get("DATABASE_URL") or database_url(data)
        inherited = {n: v for n, v in env.items() if n != "PYTHONDONTWRITEBYTECODE"}
        own = {
            "DATABASE_URL": database,
            "REDIS_URL": env.get("REDIS_URL") or redis_url(data),
            "FRONTIERBOARD_STATIC_MANIFEST": "1",
            "FRONTIERBOARD_KEY_PREFIX": f"scale-{os.getpid()}:",
            "DJANGO_SETTINGS_MODULE": "dashboard.settings",
        }
        _pack_files({**inherited, **own})
        port = _free_port()
        words: list[str | Path] = [
            *(sys.executable, "-m", "gunicorn", "dashboard.wsgi"),
            *("--bind", f"{HOST}:{port}", "--config", CHECKOUT / "gunicorn.conf.py"),
            *("--chdir", CHECKOUT),
        ]
        web = start("web", words, log=data / "web.log", env={**inherited, **own})
        stack.callback(web.stop)
        site = Site(port, web, database)
        _wait_for(site)
        yield site


def _pack_files(env: dict[str, str]) -> None:
    """Collect and pack the static files as the image does; packed ones are kept."""
    frontend.install()
    python, files = sys.executable, CHECKOUT / "staticfiles"
    collect = [python, str(CHECKOUT / "manage.py"), "collectstatic", "--noinput"]
    subprocess.run([*collect, "-v0"], env=env, check=True)  # noqa: S603  ours
    if not list(files.glob("vendor/plotly*.js.br")):
        pack = [python, "-m", "whitenoise.compress", "-q", str(files)]
        subprocess.run(pack, check=True)  # noqa: S603  ours


def _free_port() -> int:
    with socket.socket() as free:
        free.bind((HOST, 0))
        return int(free.getsockname()[1])


def _wait_for(site: Site) -> None:
    end = time.monotonic() + START_S
    while True:
        try:
            site.ask("/healthz")
        except OSError:
            if time.monotonic() > end or site.web.process.poll() is not None:
                raise SystemExit(f"no server: {site.web.last_words()}") from None
            time.sleep(0.1)
        else:
            return
