"""Django's Redis cache, counted for /metrics, and no reason for an error when away.

What is kept can always be made again: without a Redis every page is made anew. What
counts in it (`add`, `incr`) still raises RedisError, so that limits may decide.
"""

from collections.abc import Iterable
from typing import Any

import structlog
from django.core.cache.backends.redis import RedisCache
from redis import RedisError

from dashboard.counters import count_cache_read

log = structlog.get_logger(__name__)

_ABSENT = object()


class CountedRedisCache(RedisCache):
    """The same cache; what is looked for is counted by its kind."""

    def get(self, key: Any, default: Any = None, version: int | None = None) -> Any:
        """Return what is kept, else the default."""
        try:
            found = super().get(key, _ABSENT, version)
        except RedisError as error:
            _warn(error)
            found = _ABSENT
        count_cache_read(key, is_hit=found is not _ABSENT)
        return default if found is _ABSENT else found

    def get_many(
        self, keys: Iterable[Any], version: int | None = None
    ) -> dict[Any, Any]:
        """Return what is kept of many keys."""
        asked = list(keys)
        found: dict[Any, Any] = {}
        try:
            found = super().get_many(asked, version)
        except RedisError as error:
            _warn(error)
        for key in asked:
            count_cache_read(key, is_hit=key in found)
        return found

    def set(self, *args: Any, **kwargs: Any) -> None:
        """Keep a value if that can be done now."""
        try:
            super().set(*args, **kwargs)
        except RedisError as error:
            _warn(error)

    def set_many(self, *args: Any, **kwargs: Any) -> Any:
        """Keep values if that can be done now."""
        try:
            return super().set_many(*args, **kwargs)
        except RedisError as error:
            _warn(error)
            return []


def _warn(error: RedisError) -> None:
    log.warning("cache away", error=type(error).__name__)
