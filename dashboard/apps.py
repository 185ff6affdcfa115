"""The core app's registration."""

from django.apps import AppConfig
from django.db.backends.signals import connection_created

from dashboard.timestamps import read_quickly


class DashboardConfig(AppConfig):
    name = "dashboard"

    def ready(self) -> None:
        """Have every connection made from now on read its timestamps quickly."""
        connection_created.connect(read_quickly, dispatch_uid="timestamps")
