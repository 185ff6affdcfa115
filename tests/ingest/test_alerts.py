"""New regressions are told to a chat: each at most once, and nothing in them runs."""

# mypy: allow-untyped-calls

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Barrier, Thread
from typing import Any

import pytest
from celery import current_app
from django.db import connection

from dashboard.models import Regression
from ingest import detection
from ingest.alerts import AlertError, announce
from ingest.tasks import announce_regressions
from tests import factories
from tests.pages.builders import add_points

pytestmark = pytest.mark.django_db
NOW = datetime(2026, 8, 5, tzinfo=UTC)
SECRET = "T0-secret-path"  # noqa: S105


@dataclass
class Chat:
    """A chat's webhook: what it was told, and with which statuses it answers."""

    url: str = ""
    told: list[str] = field(default_factory=list)
    statuses: list[int] = field(default_factory=list)


@pytest.fixture
def chat(settings: Any) -> Iterator[Chat]:
    here = Chat()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            status = here.statuses.pop(0) if here.statuses else 200
            if status == 200:
                here.told.append(json.loads(body)["text"])
            self.send_response(status)
            if status == 302:
                self.send_header("Location", f"{here.url}/elsewhere")
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *args: Any) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    Thread(target=server.serve_forever, daemon=True).start()
    here.url = f"http://127.0.0.1:{server.server_port}/{SECRET}"
    settings.FRONTIERBOARD_ALERT_URL = here.url
    settings.FRONTIERBOARD_URL = "https://board.example.org"
    yield here
    server.shutdown()
    server.server_close()


def worse(run: Any = None, **given: Any) -> Regression:
    run = run or factories.RunFactory(official=True)
    key = factories.ConfigKeyFactory(key=f"key-{Regression.objects.count()}")
    sweep = factories.SweepFactory(official=True, run=run, config_key=key)
    row: Regression = factories.RegressionFactory(sweep=sweep, **given)
    return row


def test_one_message_tells_all_of_a_run_and_nothing_is_told_twice(chat: Chat):
    first = worse()
    second = worse(first.run, kind="coverage", change=None)
    other = worse()
    assert announce(NOW) == 2
    assert announce(NOW) == 0
    assert len(chat.told) == 2
    lines = chat.told[0].splitlines()
    assert lines[0].startswith(f"2 regressions in run {first.run.github_run_id}: ")
    assert lines[1] == (
        f"- {first.config_key.key} 8k/1k: performance -9.0 % ({first.summary}) "
        f"https://board.example.org/regressions/{first.pk}"
    )
    assert f"{second.config_key.key} 8k/1k: coverage (" in lines[2]
    assert str(other.run.github_run_id) in chat.told[1]
    assert not Regression.objects.filter(announced_at=None).exists()


@pytest.mark.parametrize("status", [500, 403, 302])
def test_what_was_not_taken_is_told_at_the_next_try(chat: Chat, status: int):
    worse()
    chat.statuses = [status]
    with pytest.raises(AlertError, match=str(status)):
        announce(NOW)
    assert Regression.objects.filter(announced_at=None).count() == 1
    assert announce(NOW) == 1
    assert len(chat.told) == 1


def test_a_run_that_fails_does_not_hold_up_the_others(chat: Chat):
    failed, told = worse(), worse()
    chat.statuses = [500]
    with pytest.raises(AlertError):
        announce(NOW)
    failed.refresh_from_db()
    told.refresh_from_db()
    assert (failed.announced_at, told.announced_at) == (None, NOW)


def test_an_unreachable_chat_is_not_named_in_the_error(settings: Any):
    settings.FRONTIERBOARD_ALERT_URL = f"http://127.0.0.1:9/{SECRET}"
    worse()
    with pytest.raises(AlertError) as found:
        announce(NOW)
    assert SECRET not in str(found.value)
    assert found.value.__cause__ is None
    assert Regression.objects.get().announced_at is None


def test_the_past_inactive_rows_and_hidden_runs_are_no_news(chat: Chat):
    worse(factories.RunFactory(official=True, created_at=NOW - timedelta(days=8)))
    worse(is_active=False)
    worse(factories.RunFactory(official=True, publication="hidden"))
    assert announce(NOW) == 0
    assert chat.told == []


def test_without_an_address_nothing_is_claimed(settings: Any):
    settings.FRONTIERBOARD_ALERT_URL = ""
    worse()
    assert announce(NOW) == 0
    assert Regression.objects.get().announced_at is None


def test_strangers_text_commands_nothing(chat: Chat):
    title = "<!channel> @here & <https://evil.example|click>\n\u202eboo"
    worse(factories.RunFactory(official=True, title=title), summary="<script>x" * 200)
    announce(NOW)
    (said,) = chat.told
    assert "&lt;!channel&gt; @\u200bhere &amp; &lt;https://evil.example|click" in said
    assert "<" not in said
    assert "\u202e" not in said
    assert len(said.splitlines()) == 2
    assert len(said) < 800


def test_a_crowd_of_regressions_is_cut_and_linked(chat: Chat):
    run = worse().run
    for _ in range(23):
        worse(run)
    announce(NOW)
    last = chat.told[0].splitlines()[-1]
    assert last == (
        f"and 4 more: https://board.example.org/regressions?run={run.github_run_id}"
    )


@pytest.mark.django_db(transaction=True)
def test_of_two_workers_one_tells(chat: Chat):
    worse()
    barrier = Barrier(2)

    def work(_: int) -> int:
        barrier.wait(timeout=10)
        try:
            return announce(NOW)
        finally:
            connection.close()

    with ThreadPoolExecutor(2) as pool:
        assert sorted(pool.map(work, range(2))) == [0, 1]
    assert len(chat.told) == 1


def test_detection_asks_for_the_message_once_its_rows_are_stored(
    chat: Chat, monkeypatch: Any, django_capture_on_commit_callbacks: Any
):
    sweep = factories.SweepFactory(official=True)
    add_points(sweep)
    asked: list[str] = []
    monkeypatch.setattr(current_app, "send_task", asked.append)
    keys = [(sweep.config_key_id, sweep.scenario)]
    with django_capture_on_commit_callbacks(execute=True):
        detection.detect(keys, [sweep.run])
        assert asked == []
        detection.detect(keys)
    assert asked == [announce_regressions.name]
