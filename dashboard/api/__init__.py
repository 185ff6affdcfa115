"""The JSON interface: one module per resource, put together here."""

from dashboard.api.application import api

__all__ = ["api"]
