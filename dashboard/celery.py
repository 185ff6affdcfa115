"""The Celery application; tasks are found in the installed apps.

A task's log lines carry its name and id, and the id of the web request that asked for
it. A worker tells that it lives whenever it sends its heartbeat.
"""

import os
import time
from typing import Any

import structlog
from celery import Celery, signals

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "dashboard.settings")

app = Celery("frontierboard")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()

ASKED_BY = "asked_by_request"
# Celery's heartbeat beats every 2 s.
TOLD_EVERY_S = 5.0
_told_at = [float("-inf")]


@signals.before_task_publish.connect
def _pass_request_on(headers: dict[str, Any] | None = None, **_: object) -> None:
    bound = structlog.contextvars.get_contextvars()
    if headers is not None and "request_id" in bound:
        headers[ASKED_BY] = bound["request_id"]


@signals.task_prerun.connect
def _bind_task(task_id: str, task: Any, **_: object) -> None:
    structlog.contextvars.clear_contextvars()
    bound = {"task": task.name, "task_id": task_id}
    if asked_by := getattr(task.request, ASKED_BY, None):
        bound["request_id"] = str(asked_by)
    structlog.contextvars.bind_contextvars(**bound)


@signals.task_postrun.connect
def _unbind_task(**_: object) -> None:
    structlog.contextvars.clear_contextvars()


@signals.heartbeat_sent.connect
def _tell_of_life(sender: Any, **_: object) -> None:
    # Its module needs the settings, which this one must not read while it is loaded.
    from dashboard.telemetry import note_sign_of_life  # noqa: PLC0415

    now = time.monotonic()
    if now - _told_at[0] >= TOLD_EVERY_S:
        _told_at[0] = now
        note_sign_of_life(str(sender.eventer.hostname))
