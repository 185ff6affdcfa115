"""The cache epoch: part of every cache key, bumped by ingest in its transaction."""

from hashlib import sha256

from django.http import HttpRequest
from django.utils import timezone

from dashboard.models import Generation
from dashboard.vocabulary.version import VERSION


def current_generation() -> int:
    """Return the number of the data's present state; 0 before anything was stored."""
    number = Generation.objects.values_list("number", flat=True).first()
    return 0 if number is None else number


def data_etag(request: HttpRequest) -> str:
    """Return an ETag that changes with the data, the software and the address.

    And once a day, as the price of a GPU counts from a day on. Only for answers that
    hold nothing else, such as a time relative to now.
    """
    day = timezone.now().date()
    parts = f"{VERSION} {current_generation()} {day} {request.get_full_path()}"
    return f'"{sha256(parts.encode()).hexdigest()[:32]}"'
