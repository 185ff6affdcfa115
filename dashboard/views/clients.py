"""From where a request comes: the address, or the network, that one client has."""

import ipaddress
import re

from django.conf import settings
from django.http import HttpRequest

IPV6_PREFIX = 64
_BRACKETED = re.compile(r"\A\[([^\]]*)\](?::\d+)?\Z")


def client_network(request: HttpRequest) -> str:
    """Return the address of a client; of IPv6 its whole network of 64 bits.

    Behind a trusted proxy the address that the proxy itself saw counts: whatever
    stands before it in X-Forwarded-For the client may have written.
    """
    address: str = request.META.get("REMOTE_ADDR", "")
    if settings.FRONTIERBOARD_TRUST_PROXY:
        seen = request.META.get("HTTP_X_FORWARDED_FOR", "").rpartition(",")[2].strip()
        address = seen or address
    return _network(address)


def _network(address: str) -> str:
    """Return what one client has: an IPv4 address or the network of an IPv6 one.

    Some proxies write the port behind it, and IPv4 as a part of IPv6.
    """
    host = _BRACKETED.sub(r"\1", address)
    if host.count(":") == 1:
        host = host.partition(":")[0]
    try:
        parsed = ipaddress.ip_address(host)
    except ValueError:
        return address
    if isinstance(parsed, ipaddress.IPv4Address):
        return str(parsed)
    if parsed.ipv4_mapped is not None:
        return str(parsed.ipv4_mapped)
    return str(ipaddress.IPv6Network((int(parsed), IPV6_PREFIX), strict=False))
