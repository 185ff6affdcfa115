"""Which addresses are asked: the interface's own, and where it redirects to."""

import ipaddress
import socket
from dataclasses import dataclass
from urllib.parse import SplitResult, urlsplit

from ingest.github.errors import RefusedAddressError

PORTS = {"https": 443, "http": 80}
# Addresses of IPv6 that a gateway turns into those of IPv4 which end them.
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")

Address = ipaddress.IPv4Address | ipaddress.IPv6Address


@dataclass(frozen=True, slots=True)
class Addresses:
    """The rules for one base address of the interface.

    https only, but for an interface on this machine itself: that one may use http and
    redirect to this machine. Nothing else may lead into a private network, whatever
    a redirect says.
    """

    base: str

    @property
    def is_local(self) -> bool:
        """Whether the interface is on this machine and without https."""
        parts = urlsplit(self.base)
        return parts.scheme == "http" and is_loopback(parts.hostname)

    def is_own(self, url: str) -> bool:
        """Tell whether an address is one of the interface: there the token may go."""
        return _origin(urlsplit(url)) == _origin(urlsplit(self.base))

    def check(self, url: str) -> str:
        """Return the address; raises RefusedAddressError where nothing is fetched."""
        if self.is_own(url):
            return url
        parts = urlsplit(url)
        host = parts.hostname or ""
        if self.is_local and parts.scheme == "http" and is_loopback(host):
            return url
        if parts.scheme != "https" or not host or parts.username is not None:
            raise RefusedAddressError(f"refused a redirect to {_shown(parts)}")
        if not all(map(is_public, _resolved(host))):
            where = _shown(parts)
            raise RefusedAddressError(f"refused a redirect to a private host: {where}")
        return url


def is_loopback(host: str | None) -> bool:
    """Tell whether a host name is this machine by itself."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host or "").is_loopback
    except ValueError:
        return False


def is_public(address: Address) -> bool:
    """Tell whether an address is one of the internet, however it is written."""
    if isinstance(address, ipaddress.IPv6Address):
        inner = address.ipv4_mapped or address.sixtofour
        if address in _NAT64:
            inner = ipaddress.IPv4Address(int(address) & 0xFFFF_FFFF)
        if inner is not None:
            return is_public(inner)
        if address.is_site_local:
            return False
    return address.is_global and not address.is_multicast


def parsed_address(text: str) -> Address:
    """Return the address that a socket tells, without the zone of a link."""
    return ipaddress.ip_address(text.partition("%")[0])


def _origin(parts: SplitResult) -> tuple[str, str | None, int | None]:
    return (parts.scheme, parts.hostname, _port(parts))


def _port(parts: SplitResult) -> int | None:
    try:
        return parts.port or PORTS.get(parts.scheme)
    except ValueError:
        return None


def _shown(parts: SplitResult) -> str:
    """Return an address without its query, which may hold a signature."""
    return f"{parts.scheme}://{parts.hostname or ''}"[:200]


def _resolved(host: str) -> list[Address]:
    """Return the addresses of a name; none where only a proxy can resolve it."""
    try:
        found = socket.getaddrinfo(host, None, proto=socket.IPPROTO_TCP)
    except (OSError, UnicodeError):
        return []
    return [parsed_address(str(item[4][0])) for item in found]
