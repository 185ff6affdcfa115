"""How often one client may be wrong at the logins of the site and of its staff pages.

Counted by client, not by account: nobody can lock another person out by being wrong
under that name. The counts are in the cache and end by themselves; no row is written.
"""

from http import HTTPStatus
from typing import Any

import structlog
from axes.handlers.cache import AxesCacheHandler
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from redis.exceptions import RedisError

log = structlog.get_logger(__name__)


class LoginFailures(AxesCacheHandler):  # type: ignore[misc]  # axes has no types
    """The counts of failed logins; without Redis nobody is counted or kept out."""

    def get_failures(self, request: HttpRequest, credentials: Any = None) -> int:
        """Return how often this client was wrong lately."""
        try:
            return int(super().get_failures(request, credentials))
        except RedisError as error:
            log.warning("failed logins are not counted", error=str(error))
            return 0

    def user_login_failed(self, *args: Any, **kwargs: Any) -> None:
        """Count a failed login."""
        try:
            super().user_login_failed(*args, **kwargs)
        except RedisError as error:
            log.warning("failed logins are not counted", error=str(error))


def locked_out(request: HttpRequest, *_answers: object) -> HttpResponse:
    """Say that this client has to wait, and how long at most."""
    wait = settings.AXES_COOLOFF_TIME
    minutes = int(wait.total_seconds()) // 60
    page = render(
        request,
        "locked_out.html",
        {"minutes": minutes},
        status=HTTPStatus.TOO_MANY_REQUESTS,
    )
    page["Retry-After"] = str(int(wait.total_seconds()))
    return page
