"""Which database a request reads from: the replica, where it may lag unnoticed.

Only what readers without a name look at is read from a replica. Whoever is logged in or
brings a token sees what was just written, and so does a request that wrote something.

A replica lags, and kept answers are named by the generation. The generation is read
from where the data are read, and before them; so what is kept under a generation is
never older than it, however far the replica is behind.
"""

from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

from django.conf import settings
from django.db.models import Model
from django.http import HttpRequest, HttpResponse

PRIMARY, REPLICA = "default", "replica"
SAFE = frozenset({"GET", "HEAD"})
# Whether something is at work, asked for or just logged in has to be known at once.
FRESH = frozenset({"ingestrequest", "fetch", "apitoken", "webhookdelivery"})
# Pages of people who write, and requests that fetch.
WRITING = ("/admin", "/login", "/logout", "/webhooks/")

_reads_replica: ContextVar[bool] = ContextVar("reads_replica", default=False)


class ReplicaRouter:
    """Sends reads of this app to the replica while a request allows it."""

    def db_for_read(self, model: type[Model], **_hints: Any) -> str:
        """Return the replica only for what may be a little older."""
        meta = model._meta  # noqa: SLF001  Django's own way to ask
        is_ours = meta.app_label == "dashboard" and meta.model_name not in FRESH
        return REPLICA if is_ours and _reads_replica.get() else PRIMARY

    def db_for_write(self, model: type[Model], **_hints: Any) -> str:  # noqa: ARG002
        """Return the primary; from now on the request reads what it wrote."""
        _reads_replica.set(False)
        return PRIMARY

    def allow_relation(self, *_objects: Model, **_hints: Any) -> bool:
        """Both hold the same rows."""
        return True

    def allow_migrate(self, db: str, *_args: Any, **_hints: Any) -> bool:
        """The replica is migrated by replication."""
        return db == PRIMARY


class ReplicaMiddleware:
    """Lets requests of nameless readers read from the replica, where there is one."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Answer, reading from wherever this reader may."""
        token = _reads_replica.set(_may_lag(request))
        try:
            return self.get_response(request)
        finally:
            _reads_replica.reset(token)


def _may_lag(request: HttpRequest) -> bool:
    is_nameless = (
        settings.SESSION_COOKIE_NAME not in request.COOKIES
        and "Authorization" not in request.headers
    )
    return (
        REPLICA in settings.DATABASES
        and request.method in SAFE
        and is_nameless
        # The link of a run: it may ask for it, and is looked at until it is there.
        and not any(name.lower().startswith("unofficialrun") for name in request.GET)
        and not request.path_info.startswith(WRITING)
    )
