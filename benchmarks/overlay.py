"""Measures how long a reader waits for the overlay of a run that nobody asked for yet.

``python benchmarks/overlay.py [--artifacts 60] [--repeat 10]``: runs with one point per
artifact, served on this machine as GitHub serves them, are opened by their links in a
fresh profile of Chromium each. Web server, worker and broker are those of ``make run``,
the official lines those of the demo; the raw store is emptied before each link.

Time counts from the navigation on until the chart of that page, without a reload, has
a drawn trace of the run: plotly has drawn all of the figure (``data-drawn``), and one
of its traces has the role "overlay" and a line in the document.
"""

import argparse
import shutil
import socket
import statistics
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.error import URLError

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.ingest import database, manage
from benchmarks.pages import BROWSERS, FLAGS
from launcher import commands
from launcher.configuration import Configuration
from launcher.paths import CHECKOUT, redis_url
from launcher.services import broker_for
from tests.github_server import TOKEN, FakeGitHub

MOST_SECONDS = 2.0
START_SECONDS = 60.0
# When the overlay was drawn, in ms after the navigation; looked for once per frame.
WATCH = """
const look = () => {
  const plot = document.querySelector("[data-plot][data-drawn]");
  const isOver = plot?.data?.some((trace) => trace.meta.role === "overlay");
  if (isOver && plot.querySelector(".js-line")) {
    document.documentElement.dataset.overlayDrawn = performance.now();
  } else requestAnimationFrame(look);
};
requestAnimationFrame(look);
"""
WHEN = """[
  performance.timeOrigin, Number(document.documentElement.dataset.overlayDrawn)
]"""
# Where the time of a request went, in seconds since the epoch.
TIMES = """
    SELECT extract(epoch FROM requested_at), extract(epoch FROM started_at),
           extract(epoch FROM finished_at)
    FROM dashboard_ingestrequest WHERE github_run_id = %s
"""


class WatchedGitHub(FakeGitHub):
    """Serves copies of one bundle as runs of their own, and notes the last download."""

    last_download = 0.0

    def add_copies(self, folder: Path, count: int) -> list[int]:
        """Serve so many runs like the bundle, each with an id and a commit of its own.

        All of their artifacts are zipped now: that is GitHub's work, not a reader's.
        """
        first = self.add(folder)
        ids = [first["id"] + n for n in range(count)]
        for n, run_id in enumerate(ids):
            self.folders[run_id] = folder
            self.runs[run_id] = {**first, "id": run_id, "head_sha": f"{n:040x}"}
        for item in self.items(first["id"]):
            self.artifact_zip(item["id"])
        return ids

    def artifact_zip(self, artifact_id: int) -> bytes | None:
        """Return the zip of an artifact."""
        self.last_download = time.time()
        return super().artifact_zip(artifact_id)


@dataclass(frozen=True, slots=True)
class Opening:
    """One link opened; seconds from the navigation on, each after the one before."""

    requested: float
    started: float
    fetched: float
    stored: float
    drawn: float

    @property
    def parts(self) -> tuple[float, ...]:
        """Seconds until it was asked for, begun, downloaded, stored and drawn."""
        ends = (self.requested, self.started, self.fetched, self.stored, self.drawn)
        return tuple(b - a for a, b in zip((0.0, *ends), ends, strict=False))


def open_link(browser: Any, address: str, run_id: int) -> tuple[float, float]:
    """Open a run's link in a fresh profile.

    Returns when that was, in seconds since the epoch, and the seconds until drawn.
    """
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    context.add_init_script(WATCH)
    page = context.new_page()
    page.goto(f"{address}/inference?unofficialRun={run_id}")
    page.wait_for_selector("html[data-overlay-drawn]")
    opened, drawn = page.evaluate(WHEN)
    context.close()
    return opened / 1000, drawn / 1000


@contextmanager
def site(env: dict[str, str], data: Path) -> Iterator[str]:
    """Run gunicorn and a worker as `make run` does; yield the address of the pages."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    configuration = Configuration(data, port, demo=False)
    with commands.static_files(data, env):
        pass  # collected once the block ends
    with ExitStack() as stack:
        for child in (
            commands.start_web(configuration, env),
            commands.start_worker(data, env),
        ):
            stack.callback(child.stop)
        _wait_for_page(f"{configuration.address}/inference")
        yield configuration.address


def _wait_for_page(url: str) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        with suppress(URLError), urllib.request.urlopen(url):  # noqa: S310  # our own
            return
        time.sleep(0.1)
    raise SystemExit(f"no page at {url} after {START_SECONDS:.0f} s")


def measure(
    fake: WatchedGitHub, env: dict[str, str], address: str, run_ids: list[int]
) -> list[Opening]:
    """Open the link of each run; the first one warms up and does not count."""
    import psycopg  # noqa: PLC0415  # the other processes need none
    from playwright.sync_api import sync_playwright  # noqa: PLC0415

    chromium = next(path for path in BROWSERS if Path(path).exists())
    found = []
    with (
        sync_playwright() as playwright,
        psycopg.connect(env["DATABASE_URL"], autocommit=True) as connection,
    ):
        browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        for run_id in run_ids:
            raw = Path(env["FRONTIERBOARD_DATA"]) / "raw"
            shutil.rmtree(raw, ignore_errors=True)
            opened, drawn = open_link(browser, address, run_id)
            row = connection.execute(TIMES, [run_id]).fetchone() or ()
            requested, started, stored = (float(at) - opened for at in row)
            fetched = fake.last_download - opened
            found.append(Opening(requested, started, fetched, stored, drawn))
        browser.close()
    return found[1:]


def compare(artifacts: int, repeat: int) -> bool:
    """Print the figures; tell whether the required one is reached."""
    make = str(CHECKOUT / "benchmarks" / "make_aggregate.py")
    with ExitStack() as stack:
        env = stack.enter_context(database())
        data = Path(env["FRONTIERBOARD_DATA"])
        stack.enter_context(broker_for(data))
        bundle = data / "bundle"
        manage(make, str(bundle), f"--rows={artifacts}", "--as-artifacts", env=env)
        fake = stack.enter_context(closing(WatchedGitHub()))
        run_ids = fake.add_copies(bundle, repeat + 1)
        env |= {
            "REDIS_URL": redis_url(data),
            "GITHUB_API_URL": fake.url,
            "GITHUB_TOKEN": TOKEN,
            "FRONTIERBOARD_REPOSITORY": fake.repository(fake.runs[run_ids[0]]),
            "FRONTIERBOARD_FETCHES_PER_CLIENT": str(repeat + 1),
            "FRONTIERBOARD_FETCHES_PER_HOUR": str(repeat + 1),
            "FRONTIERBOARD_STATIC_MANIFEST": "1",
        }
        manage("manage.py", "migrate", "--verbosity=0", env=env)
        manage("manage.py", "load_demo", env=env)
        address = stack.enter_context(site(env, data))
        found = measure(fake, env, address, run_ids)
    return _print(artifacts, found)


def _print(artifacts: int, found: list[Opening]) -> bool:
    names = ("asked for", "begun", "downloaded", "stored", "drawn")
    for opening in found:
        parts = zip(names, opening.parts, strict=True)
        told = ", ".join(f"{name} +{seconds:.2f}" for name, seconds in parts)
        print(f"overlay drawn after {opening.drawn:.2f} s ({told})")
    middle = statistics.median(opening.drawn for opening in found)
    medians = map(statistics.median, zip(*(o.parts for o in found), strict=True))
    told = ", ".join(f"{n} +{s:.2f}" for n, s in zip(names, medians, strict=True))
    print(
        f"{artifacts} artifacts, from the link to the overlay: median {middle:.2f} s"
        f" of {len(found)}; medians of the parts: {told}"
    )
    return middle < MOST_SECONDS


def main() -> int:
    """Print the figures; 0 where the required one is reached, else 1."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--artifacts", type=int, default=60)
    parser.add_argument("--repeat", type=int, default=10)
    options = parser.parse_args()
    return 0 if compare(options.artifacts, options.repeat) else 1


if __name__ == "__main__":
    sys.exit(main())
