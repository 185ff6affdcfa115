"""Connections to hosts that a redirect names: to the internet and nowhere else.

A name may have another address by the time it is connected to than when it was
checked, so the address that was reached is looked at before a byte is sent. Behind a
proxy the proxy connects, and it is the one to refuse.
"""

import socket
from typing import Any

from requests.adapters import HTTPAdapter
from urllib3.connection import HTTPSConnection
from urllib3.connectionpool import HTTPSConnectionPool

from ingest.github.addresses import is_public, parsed_address
from ingest.github.errors import RefusedAddressError


class PublicConnection(HTTPSConnection):
    """A connection that is given up where it leads into a private network."""

    def _new_conn(self) -> socket.socket:
        connection = super()._new_conn()
        address = parsed_address(str(connection.getpeername()[0]))
        if not is_public(address):
            connection.close()
            raise RefusedAddressError(f"refused a private address of {self.host}")
        return connection


class PublicPool(HTTPSConnectionPool):
    """A pool of such connections."""

    ConnectionCls = PublicConnection


class PublicAdapter(HTTPAdapter):
    """Serves a session's https addresses by such connections."""

    def init_poolmanager(self, *args: Any, **kwargs: Any) -> None:
        """Make the pools; those of a proxy are made elsewhere."""
        super().init_poolmanager(*args, **kwargs)
        schemes = {**self.poolmanager.pool_classes_by_scheme, "https": PublicPool}
        self.poolmanager.pool_classes_by_scheme = schemes
