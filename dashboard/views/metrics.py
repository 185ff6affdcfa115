"""/metrics for Prometheus, and who may read it."""

import ipaddress
import os
from http import HTTPStatus

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils.crypto import constant_time_compare
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from prometheus_client import (
    CONTENT_TYPE_PLAIN_0_0_4,
    REGISTRY,
    CollectorRegistry,
    generate_latest,
)
from prometheus_client.multiprocess import MultiProcessCollector

from dashboard.views.metric_families import SiteCollector


@require_safe
@never_cache
def metrics(request: HttpRequest) -> HttpResponse:
    """Answer whoever has the token or comes from one of the networks, nobody else."""
    token, networks = settings.FRONTIERBOARD_METRICS_TOKENS, _networks()
    if not token and not networks:
        return _refusal(HTTPStatus.NOT_FOUND)
    if _has_token(request) or _is_near(request, networks):
        text = _counted() + _told()
        return HttpResponse(text, content_type=CONTENT_TYPE_PLAIN_0_0_4)
    if token:
        refused = _refusal(HTTPStatus.UNAUTHORIZED)
        refused["WWW-Authenticate"] = 'Bearer realm="metrics"'
        return refused
    return _refusal(HTTPStatus.FORBIDDEN)


def _counted() -> bytes:
    """Return what this machine's web processes counted, all of them together."""
    if "PROMETHEUS_MULTIPROC_DIR" not in os.environ:
        return generate_latest(REGISTRY)
    registry = CollectorRegistry()
    MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
    return generate_latest(registry)


def _told() -> bytes:
    """Return what database and broker tell: the same in every process."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(SiteCollector())
    return generate_latest(registry)


def _has_token(request: HttpRequest) -> bool:
    scheme, _, given = request.headers.get("Authorization", "").partition(" ")
    is_bearer = scheme.lower() == "bearer"
    tokens = settings.FRONTIERBOARD_METRICS_TOKENS
    # Every token is compared, so that the time tells nothing of which one is right.
    matches = [constant_time_compare(given.strip(), token) for token in tokens]
    return is_bearer and any(matches)


def _networks() -> list[ipaddress.IPv4Network | ipaddress.IPv6Network]:
    found: list[ipaddress.IPv4Network | ipaddress.IPv6Network] = (
        settings.FRONTIERBOARD_METRICS_NETWORKS
    )
    return found


def _is_near(
    request: HttpRequest,
    networks: list[ipaddress.IPv4Network | ipaddress.IPv6Network],
) -> bool:
    """Tell whether the socket's other end is in a network and speaks for itself.

    Everybody comes from the address of a proxy: what one passed on needs the token.
    """
    if "X-Forwarded-For" in request.headers or "Forwarded" in request.headers:
        return False
    try:
        address = ipaddress.ip_address(request.META.get("REMOTE_ADDR", ""))
    except ValueError:
        return False
    mapped = getattr(address, "ipv4_mapped", None) or address
    return any(mapped in network for network in networks)


def _refusal(status: HTTPStatus) -> HttpResponse:
    return HttpResponse(status.phrase, status=status, content_type="text/plain")
