"""The cache epoch: part of every cache key, bumped by ingest in its transaction."""

from dashboard.models import Generation


def current_generation() -> int:
    """Return the number of the data's present state; 0 before anything was stored."""
    number = Generation.objects.values_list("number", flat=True).first()
    return 0 if number is None else number
