"""Tells a chat about new regressions: a message per run, each at most once.

A worker that is killed between the claim and the message loses that message: a chat
that hears of a regression twice is read less than a list that never forgets.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta

import requests
from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet
from django.urls import reverse

from dashboard.models import Regression, Run
from dashboard.vocabulary.scenarios import scenario_label
from dashboard.vocabulary.texts import one_line

# What an import brings of the past is no news.
NEWS = timedelta(days=7)
MOST_LINES = 20
LONGEST_TITLE = 200
LONGEST_SUMMARY = 300
CONNECT_S, READ_S = 5, 10

# Slack reads these as links and commands; the others would be read as a mention.
_ESCAPED = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", "@": "@\u200b"})


class AlertError(Exception):
    """A message could not be delivered; its regressions wait for the next try.

    The address of a chat is a secret, so the reason never holds it.
    """


def announce(now: datetime) -> int:
    """Send what was not announced yet of the last days; return how many messages.

    1. Find the runs that have something to tell. 2. Per run, claim its regressions:
    of several workers one gets each row. 3. Send. 4. Give the claim back where that
    failed and raise AlertError, after trying the other runs.
    """
    if not settings.FRONTIERBOARD_ALERT_URL:
        return 0
    waiting = _waiting(now).order_by("run__created_at", "run_id")
    failure: AlertError | None = None
    sent = 0
    for run_id in dict.fromkeys(waiting.values_list("run_id", flat=True)):
        rows = _claimed(run_id, now)
        if not rows:
            continue
        try:
            _send(message(rows))
        except AlertError as error:
            ids = [row.pk for row in rows]
            Regression.objects.filter(pk__in=ids).update(announced_at=None)
            failure = error
        else:
            sent += 1
    if failure is not None:
        raise failure
    return sent


def _waiting(now: datetime) -> QuerySet[Regression]:
    return Regression.objects.filter(
        is_active=True,
        announced_at__isnull=True,
        run__created_at__gte=now - NEWS,
    ).exclude(run__publication=Run.Publication.HIDDEN)


def _claimed(run_id: int, now: datetime) -> list[Regression]:
    """Mark a run's regressions as announced and return those that were not."""
    with transaction.atomic():
        locked = _waiting(now).filter(run_id=run_id).select_related("run", "config_key")
        free = locked.select_for_update(of=("self",), skip_locked=True, no_key=True)
        rows = list(free.order_by("config_key__key", "scenario", "kind"))
        ids = [row.pk for row in rows]
        Regression.objects.filter(pk__in=ids).update(announced_at=now)
    return rows


def message(rows: Sequence[Regression]) -> str:
    """Return what is said of the regressions of one run; strangers' text is inert."""
    run = rows[0].run
    count = f"{len(rows)} regression{'' if len(rows) == 1 else 's'}"
    lines = [
        f"{count} in run {run.github_run_id}: {_inert(run.title, LONGEST_TITLE)}",
        *(_line(row) for row in rows[:MOST_LINES]),
    ]
    if len(rows) > MOST_LINES:
        where = _address(f"{reverse('regressions')}?run={run.github_run_id}")
        lines.append(f"and {len(rows) - MOST_LINES} more: {where}")
    return "\n".join(lines)


def _line(row: Regression) -> str:
    change = "" if row.change is None else f" {row.change * 100:+.1f} %"
    key = _inert(row.config_key.key, LONGEST_TITLE)
    what = f"{key} {_inert(scenario_label(row.scenario), 40)}: {row.kind}{change}"
    summary = _inert(row.summary, LONGEST_SUMMARY)
    return f"- {what} ({summary}) {_address(row.get_absolute_url())}"


def _inert(text: str, longest: int) -> str:
    return one_line(text, longest).translate(_ESCAPED)


def _address(path: str) -> str:
    return f"{settings.FRONTIERBOARD_URL}{path}"


def _send(text: str) -> None:
    try:
        answer = requests.post(
            settings.FRONTIERBOARD_ALERT_URL,
            json={"text": text},
            timeout=(CONNECT_S, READ_S),
            allow_redirects=False,
        )
    except requests.RequestException as error:
        raise AlertError(f"no answer: {type(error).__name__}") from None
    if not answer.ok or answer.is_redirect:
        raise AlertError(f"refused with status {answer.status_code}")
