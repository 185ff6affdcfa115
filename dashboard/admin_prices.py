"""The staff page of prices and power of GPUs; who sets one is who is logged in."""

from typing import Any

from django.db.models.query import QuerySet
from django.http import HttpRequest

from dashboard.admin_derived import BaseAdmin
from dashboard.forms.prices import HardwarePriceForm
from dashboard.models import Generation, HardwarePrice


class HardwarePriceAdmin(BaseAdmin):
    """Prices and power by GPU and day; costs of pages follow."""

    form = HardwarePriceForm
    list_display = [
        *("hardware", "valid_from", "hyperscaler", "neocloud", "rental", "power_kw"),
        *("placeholders", "note", "source", "author", "made_at"),
    ]
    list_filter = ["valid_from", "hardware"]
    search_fields = ["hardware", "source", "author"]
    ordering = ["-valid_from", "hardware"]
    fields = [
        *("hardware", "valid_from", "hyperscaler", "neocloud", "rental", "power_kw"),
        *("placeholders", "note", "source"),
    ]

    def save_model(
        self, request: HttpRequest, obj: HardwarePrice, form: Any, change: Any
    ) -> None:
        """Store who sets it; pages show what it makes of costs."""
        obj.author = request.user.get_username()
        super().save_model(request, obj, form, change)
        Generation.bump()

    def delete_model(self, request: HttpRequest, obj: HardwarePrice) -> None:
        """Delete a row; the one before it counts again."""
        super().delete_model(request, obj)
        Generation.bump()

    def delete_queryset(
        self, request: HttpRequest, queryset: QuerySet[HardwarePrice]
    ) -> None:
        """Delete rows; those before them count again."""
        super().delete_queryset(request, queryset)
        Generation.bump()
