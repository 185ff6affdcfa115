"""The core app's registration."""

from django.apps import AppConfig


class DashboardConfig(AppConfig):
    name = "dashboard"
