"""The ingest app's registration."""

from django.apps import AppConfig


class IngestConfig(AppConfig):
    name = "ingest"
