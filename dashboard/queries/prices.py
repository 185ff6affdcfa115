"""Prices and power of GPUs: every row in one query."""

from datetime import datetime

from django.utils import timezone

from dashboard.models import HardwarePrice
from dashboard.vocabulary.prices import NO_CUSTOM, Custom, PriceRow, Prices


def prices_at(moment: datetime | None, custom: Custom = NO_CUSTOM) -> Prices:
    """Return what counts on the UTC day of ``moment``, None is today."""
    day = (moment or timezone.now()).date()
    found = HardwarePrice.objects.filter(valid_from__lte=day).values_list(
        *("hardware", "valid_from", "hyperscaler", "neocloud", "rental"),
        *("power_kw", "placeholders", "note"),
    )
    rows = [
        PriceRow(hardware, since, owned, neocloud, rental, kw, tuple(holding), note)
        for hardware, since, owned, neocloud, rental, kw, holding, note in found
    ]
    return Prices(rows, day, custom)
