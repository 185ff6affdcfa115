"""What operators ask: whether the process answers, and whether it can do its work."""

from collections.abc import Callable, Iterator

from celery import current_app
from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from kombu.exceptions import OperationalError

BROKER_SECONDS = 2


@require_safe
def healthz(_request: HttpRequest) -> HttpResponse:
    return HttpResponse("ok", content_type="text/plain")


@require_safe
@never_cache
def readyz(_request: HttpRequest) -> JsonResponse:
    """Answer 503 with a reason for each part that is not ready."""
    faults = dict(_faults())
    body = {"ready": not faults, "reasons": faults}
    return JsonResponse(body, status=503 if faults else 200)


def _faults() -> Iterator[tuple[str, str]]:
    checks: tuple[tuple[str, Callable[[], str]], ...] = (
        ("database", _database_fault),
        ("broker", _broker_fault),
    )
    for name, check in checks:
        if fault := check():
            yield name, fault


def _database_fault() -> str:
    """Return why the tables cannot be used; addresses and passwords stay out of it."""
    try:
        executor = MigrationExecutor(connection)
        missing = executor.migration_plan(executor.loader.graph.leaf_nodes())
    except DatabaseError as error:
        return f"no answer ({type(error).__name__})"
    return f"{len(missing)} migrations are not applied" if missing else ""


def _broker_fault() -> str:
    try:
        with current_app.connection_for_write(connect_timeout=BROKER_SECONDS) as broker:
            broker.ensure_connection(max_retries=1, timeout=BROKER_SECONDS)
    except OperationalError as error:
        return f"no answer ({type(error).__name__})"
    return ""
