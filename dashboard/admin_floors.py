"""The staff page of the floors of evals; who sets one is who is logged in."""

from typing import Any

from django.db.models.query import QuerySet
from django.http import HttpRequest

from dashboard.admin_derived import BaseAdmin
from dashboard.forms.floors import EvalFloorForm
from dashboard.models import EvalFloor, Generation


class EvalFloorAdmin(BaseAdmin):
    """Floors by model, task and day; scores stay, what they say follows."""

    form = EvalFloorForm
    list_display = [
        *("model", "task", "minimum", "filters", "valid_from"),
        *("source", "author", "made_at"),
    ]
    list_filter = ["task", "model"]
    search_fields = ["model", "task", "source", "author"]
    ordering = ["task", "model", "-valid_from"]
    fields = ["model", "task", "minimum", "filters", "valid_from", "source"]

    def save_model(
        self, request: HttpRequest, obj: EvalFloor, form: Any, change: Any
    ) -> None:
        """Store who sets it; pages show what it makes of scores."""
        obj.author = request.user.get_username()
        super().save_model(request, obj, form, change)
        Generation.bump()

    def delete_model(self, request: HttpRequest, obj: EvalFloor) -> None:
        """Delete a floor; the one before it counts again."""
        super().delete_model(request, obj)
        Generation.bump()

    def delete_queryset(
        self, request: HttpRequest, queryset: QuerySet[EvalFloor]
    ) -> None:
        """Delete floors; those before them count again."""
        super().delete_queryset(request, queryset)
        Generation.bump()
