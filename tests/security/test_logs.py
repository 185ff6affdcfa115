"""What strangers write forges no line of a log, and no secret stands in one."""

# mypy: allow-untyped-calls

import io
import json
import logging
import logging.config
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import requests
import structlog

from dashboard.logs import logging_settings
from ingest import tasks
from ingest.alerts import AlertError, _send
from ingest.github.errors import GitHubError
from ingest.github.transport import Options, Transport
from tests.pages.test_hostile_run import BAD

CHECKOUT = Path(__file__).resolve().parents[2]
FORGED = f"x\r\nlevel='error' event='forged' {BAD}\x9b2J\u2028\x00"
SECRET = "s3cr3t-of-this-test"  # noqa: S105  # looked for, never used


def written(form: str, act: Any) -> str:
    """Return what a handler with the site's own formatter writes."""
    config = logging_settings(form)["formatters"]["events"]
    made = logging.config.DictConfigurator({"version": 1})
    formatter = made.configure_formatter(config)
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(formatter)
    logger = logging.getLogger("tests.forged")
    logger.addHandler(handler)
    logger.propagate = False
    try:
        act(logger)
    finally:
        logger.removeHandler(handler)
        logger.propagate = True
    return stream.getvalue()


def fail(logger: logging.Logger) -> None:
    try:
        int(FORGED)
    except ValueError:
        logger.exception("it failed: %s", FORGED)


ACTS = {
    "message": lambda logger: logger.warning("a title: %s", FORGED),
    "event": lambda _: structlog.get_logger("tests.forged").warning(FORGED),
    "value": lambda _: structlog.get_logger("tests.forged").warning("x", title=FORGED),
    "list": lambda _: structlog.get_logger("tests.forged").warning("x", a=[FORGED]),
    "traceback": fail,
}


@pytest.mark.parametrize("form", ["keyvalue", "json"])
@pytest.mark.parametrize("act", ACTS.values(), ids=list(ACTS))
def test_no_text_ends_a_line_of_the_log_or_steers_a_terminal(form: str, act: Any):
    text = written(form, act)
    assert text.count("\n") == 1
    assert text.endswith("\n")
    assert text[:-1].isprintable()
    if form == "json":
        json.loads(text)


def output_of(*command: str, **environment: str) -> str:
    inherited = {k: v for k, v in os.environ.items() if not k.startswith("DJANGO_")}
    done = subprocess.run(
        [sys.executable, "manage.py", *command],
        cwd=CHECKOUT,
        env={**inherited, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout + done.stderr


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("DATABASE_URL", f"postgres://board:{SECRET}@127.0.0.1:1/board"),
        ("DATABASE_URL", f"postgres://board:{SECRET}/x@127.0.0.1:1/board"),
        ("DATABASE_URL", f"postgres://board:{SECRET}#x@127.0.0.1:port/board"),
        ("DATABASE_URL", f"mysql://board:{SECRET}@127.0.0.1/board"),
        ("REDIS_URL", f"redis://:{SECRET}@127.0.0.1:port/0"),
        ("REDIS_URL", f"http://:{SECRET}@127.0.0.1/0"),
        ("FRONTIERBOARD_ALERT_URL", f"ftp://chat.example.org/{SECRET}"),
        ("GITHUB_API_URL", f"http://u:{SECRET}@example.org"),
    ],
)
def test_no_setting_that_is_wrong_is_told_with_its_secret(name: str, value: str):
    told = output_of("migrate", "--check", **{name: value})
    assert told
    assert SECRET not in told


def test_no_error_of_github_names_the_token():
    options = Options(base="http://127.0.0.1:1", token=SECRET, tries=1)
    transport = Transport(options)
    with pytest.raises(GitHubError) as told:
        transport.fetch(transport.url("/repos/a/b"))
    text = written("keyvalue", lambda logger: logger.error("x", exc_info=told.value))
    assert "Traceback" in text
    assert SECRET not in text
    transport.close()


def test_no_error_of_an_alert_names_the_address(settings):
    settings.FRONTIERBOARD_ALERT_URL = f"http://127.0.0.1:1/{SECRET}"
    with pytest.raises(AlertError) as told:
        _send("a message")
    text = written("keyvalue", lambda logger: logger.error("x", exc_info=told.value))
    assert SECRET not in text
    assert not isinstance(told.value.__cause__, requests.RequestException)


def test_tasks_are_given_ids_and_no_secrets():
    """What a task is given stands in the broker and in lines about its failure."""
    named = {
        name
        for task in vars(tasks).values()
        if hasattr(task, "apply_async")
        for name in task.run.__code__.co_varnames[: task.run.__code__.co_argcount]
    }
    for name in named - {"self"}:
        assert not any(word in name for word in ("token", "secret", "url", "password"))


@pytest.mark.django_db
def test_an_error_page_tells_nothing_of_the_settings(client, monkeypatch, settings):
    settings.GITHUB_TOKEN = SECRET
    client.raise_request_exception = False

    def broken(*_: object) -> None:
        raise RuntimeError(SECRET)

    monkeypatch.setattr("dashboard.views.help.render", broken)
    answer = client.get("/help")
    assert answer.status_code == 500
    assert SECRET not in answer.content.decode()
    assert "Traceback" not in answer.content.decode()
