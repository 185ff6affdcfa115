"""Two web servers and two workers on one database, as an operator sees them."""

import json
import os
import socket
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

from dashboard.models import IngestRequest, Run
from launcher import commands
from launcher.configuration import Configuration
from launcher.paths import CHECKOUT
from launcher.processes import Child, start
from tests.worker.crew import (
    Crew,
    ask_for,
    test_database_url,
    wait_for,
    wait_until_ended,
    wait_until_idle,
)

TOKEN = "a-token-of-some-length"  # noqa: S105  only of these tests
RUN_IDS = (33100000001, 33300000002)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Site:
    """Two gunicorns of two processes, two workers."""

    def __init__(self, data: Path) -> None:
        inherited = dict(os.environ)
        inherited.pop("PYTHONDONTWRITEBYTECODE", None)
        self.env = {
            **inherited,
            "DATABASE_URL": test_database_url(),
            "FRONTIERBOARD_DATA": str(data),
            "FRONTIERBOARD_METRICS_TOKEN": TOKEN,
            "FRONTIERBOARD_LOG_FORMAT": "json",
        }
        self.ports = [free_port(), free_port()]
        self.web_logs = [data / f"{port}" / "log" / "web.log" for port in self.ports]
        self.children = [self._web(data / str(port), port) for port in self.ports]
        self.worker_logs = [data / f"worker{number}.log" for number in (1, 2)]
        self.children += [self._worker(log) for log in self.worker_logs]

    def _web(self, folder: Path, port: int) -> Child:
        return commands.start_web(Configuration(folder, port, demo=False), self.env)

    def _worker(self, log: Path) -> Child:
        words = ("-m", "celery", "--workdir", CHECKOUT, "-A", "dashboard", "worker")
        name = ("--hostname", f"{log.stem}@%h", "--concurrency", "1")
        env = {**self.env, "CELERY_SKIP_CHECKS": "1"}
        return start(
            log.stem,
            [sys.executable, *words, *name, "--loglevel", "info"],
            log=log,
            env=env,
        )

    def get(
        self, port: int, path: str, **headers: str
    ) -> tuple[int, dict[str, str], str]:
        """Return status, headers and text, whatever the status."""
        url = f"http://127.0.0.1:{port}{path}"
        request = urllib.request.Request(url, headers=headers)
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:  # noqa: S310
                return answer.status, dict(answer.headers), answer.read().decode()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, dict(error.headers), error.read().decode()

    def scrape(self, port: int) -> dict[tuple[str, ...], float]:
        authorization = f"Bearer {TOKEN}"
        status, _, text = self.get(port, "/metrics", Authorization=authorization)
        assert status == 200
        return {
            (sample.name, *sample.labels.values()): sample.value
            for family in text_string_to_metric_families(text)
            for sample in family.samples
        }

    def is_ready(self, port: int) -> bool:
        try:
            return self.get(port, "/readyz")[0] == 200
        except OSError:
            return False

    def check(self) -> None:
        for child in self.children:
            assert child.process.poll() is None, child.last_words()

    def stop(self) -> None:
        for child in self.children:
            child.ask_to_stop()
        for child in self.children:
            child.finish()


@pytest.fixture
def site(tmp_path: Path, transactional_db: None) -> Iterator[Site]:
    found = Site(tmp_path)
    Crew.at_work.append(found)  # type: ignore[arg-type]
    found.check_worker = found.check  # type: ignore[attr-defined]
    try:
        for port in found.ports:
            is_ready = partial(found.is_ready, port)
            wait_for(is_ready, "a web server never got ready")
        yield found
    finally:
        Crew.at_work.remove(found)  # type: ignore[arg-type]
        found.stop()
    wait_until_idle()


def lines(log: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in log.read_text().splitlines() if line]


def test_two_of_each_serve_one_database_and_tell_of_it(
    site: Site, shared_data: Path
) -> None:
    wait_for(
        lambda: site.scrape(site.ports[0])["frontierboard_workers",] == 2,
        "two workers were never heard of",
    )
    asked = [ask_for(shared_data / "runs" / str(run_id)) for run_id in RUN_IDS]
    for request in asked:
        state = wait_until_ended(request).state
        assert state in (IngestRequest.State.DONE, IngestRequest.State.PARTLY)
    assert set(Run.objects.values_list("github_run_id", flat=True)) == set(RUN_IDS)

    # One server's processes count together; the other's do not.
    one, other = site.ports
    for number in range(12):
        status, headers, _ = site.get(one, "/help?token=not-for-the-log")
        assert (status, len(headers["X-Request-ID"])) == (200, 32), number
    page = ("frontierboard_page_seconds_count", "GET", "2xx", "help")
    assert site.scrape(one)[page] == 12
    assert page not in site.scrape(other)

    told = [site.scrape(port) for port in site.ports]
    for found in told:
        assert found["frontierboard_generation",] >= 1
        assert found["frontierboard_ingest_requests", "queued"] == 0
        assert found["frontierboard_queue_tasks", "waiting"] == 0
        assert found["frontierboard_ingest_step_seconds_count", "storing"] == 2
        assert found["frontierboard_worker_heartbeat_age_seconds",] < 30
        assert sum(v for k, v in found.items() if k[0] == "frontierboard_runs") == 2
    assert told[0]["frontierboard_generation",] == told[1]["frontierboard_generation",]
    _check_logs(site, asked)


def _check_logs(site: Site, asked: list[IngestRequest]) -> None:
    """Every line is JSON; pages and tasks carry what they belong to."""
    pages = [line for line in lines(site.web_logs[0]) if line["event"] == "page"]
    assert len(pages) == 12
    assert len({line["request_id"] for line in pages}) == 12
    assert {line["view"] for line in pages} == {"help"}
    assert "not-for-the-log" not in site.web_logs[0].read_text()
    told = [line for log in site.worker_logs for line in lines_of_ours(log)]
    ingested = {line["run_id"]: line for line in told if line["event"] == "ingested"}
    assert set(ingested) == set(RUN_IDS)
    assert {line["ingest_request"] for line in ingested.values()} == {
        request.pk for request in asked
    }
    assert all(str(line["task"]).endswith("ingest_path") for line in ingested.values())
    assert all(len(str(line["task_id"])) == 36 for line in ingested.values())


def lines_of_ours(log: Path) -> list[dict[str, object]]:
    """Celery greets with a banner that is no line of a log."""
    texts = [line for line in log.read_text().splitlines() if line.startswith("{")]
    return [json.loads(text) for text in texts]


def test_page_goes_on_when_one_of_the_processes_is_killed(site: Site) -> None:
    port = site.ports[0]
    main = site.children[0].process.pid
    children = Path(f"/proc/{main}/task/{main}/children").read_text().split()
    assert len(children) == 2
    for _ in range(6):
        assert site.get(port, "/help")[0] == 200
    os.kill(int(children[0]), 9)
    time.sleep(0.5)
    for _ in range(6):
        assert site.get(port, "/help")[0] == 200
    page = ("frontierboard_page_seconds_count", "GET", "2xx", "help")
    # What a dead process counted still counts.
    assert site.scrape(port)[page] == 12
