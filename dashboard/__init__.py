"""Frontierboard's Django project and its core app."""

from dashboard.celery import app as celery_app

__all__ = ["celery_app"]
