"""How many fetches people who are not logged in may cause, each and all together."""

from datetime import UTC, datetime, timedelta

import structlog
from django.conf import settings
from django.core.cache import cache
from django.http import HttpRequest
from django.utils import timezone
from django.utils.crypto import salted_hmac
from redis.exceptions import RedisError

from dashboard.views.clients import client_network

HOUR_S = 3600
# Long enough for whoever was first to store the request for a run.
AT_ONCE_S = 5

log = structlog.get_logger(__name__)


class LimitReachedError(Exception):
    """No more fetches before ``until`` (UTC); the message is one line."""

    def __init__(self, whose: str, until: datetime) -> None:
        super().__init__(
            f"The limit of fetches per hour {whose} is reached; "
            f"it ends at {until:%Y-%m-%d %H:%M} UTC"
        )
        self.until = until


def is_first(run_id: int) -> bool:
    """Tell whether nobody else asked for this run within the last moment.

    Of many that open one link at the same time only one is counted.
    """
    try:
        return bool(cache.add(f"asking:{run_id}", 1, AT_ONCE_S))
    except RedisError:
        return True


def count_fetch(request: HttpRequest, run_id: int) -> None:
    """Count a fetch that this client causes; raises LimitReachedError.

    People who are logged in are not counted. What is refused counts for nobody.
    """
    if request.user.is_authenticated:
        return
    now = timezone.now().astimezone(UTC)
    hour = now.replace(minute=0, second=0, microsecond=0)
    try:
        _count(_client(request), hour)
    except LimitReachedError:
        cache.delete(f"asking:{run_id}")
        raise
    except RedisError as error:
        # Without the counters nobody is kept from a page; the worker has limits too.
        log.warning("fetches are not counted", error=str(error))


def _count(client: str, hour: datetime) -> None:
    counters = (
        (f"by-{client}", settings.FRONTIERBOARD_FETCHES_PER_CLIENT, "for one reader"),
        ("by-all", settings.FRONTIERBOARD_FETCHES_PER_HOUR, "for all readers"),
    )
    counted: list[str] = []
    for who, most, whose in counters:
        key = f"fetches:{hour:%Y%m%d%H}:{who}"
        cache.add(key, 0, 2 * HOUR_S)
        counted.append(key)
        if cache.incr(key) > most:
            for taken in counted:
                cache.decr(taken)
            raise LimitReachedError(whose, hour + timedelta(hours=1))


def _client(request: HttpRequest) -> str:
    """Return a mark of the client: its address is not kept."""
    mark = salted_hmac("fetches", client_network(request), algorithm="sha256")
    return mark.hexdigest()[:24]
