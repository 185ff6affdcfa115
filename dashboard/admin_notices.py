"""The staff page of notices, markers and breaks; who says them is who is logged in."""

from collections.abc import Iterable
from typing import Any

from django.db import transaction
from django.db.models.query import QuerySet
from django.http import HttpRequest
from django.utils import timezone

from dashboard.admin_derived import BaseAdmin
from dashboard.forms.notice import NoticeForm
from dashboard.ingest_requests import request_history_derivation
from dashboard.models import Generation, Notice


class NoticeAdmin(BaseAdmin):
    """Notes on pages; markers and breaks, after which histories are derived again.

    Kept pages show notices: each change of one is a change of the data.
    """

    form = NoticeForm
    list_display = [
        *("kind", "text", "config_key", "framework", "model", "run"),
        *("at", "expires_at", "author"),
    ]
    list_filter = ["kind", "model", "framework"]
    list_select_related = ["config_key", "run"]
    search_fields = ["text", "author", "config_key__key", "=run__github_run_id"]
    autocomplete_fields = ["config_key", "run"]
    fields = [
        *("kind", "text", "config_key", "framework", "model", "run"),
        *("at", "expires_at"),
    ]

    def get_changeform_initial_data(self, request: HttpRequest) -> dict[str, Any]:
        """Let a notice hold from now on unless somebody says otherwise."""
        return {"at": timezone.now(), **super().get_changeform_initial_data(request)}

    def save_model(
        self, request: HttpRequest, obj: Notice, form: Any, change: Any
    ) -> None:
        """Store who says it; ask for the histories of its old and new scope."""
        before = list(Notice.objects.filter(pk=obj.pk))
        obj.author = request.user.get_username()
        super().save_model(request, obj, form, change)
        self._derive_again(request, [*before, obj])
        Generation.bump()

    def delete_model(self, request: HttpRequest, obj: Notice) -> None:
        """Delete a notice and what it did to histories."""
        with transaction.atomic():
            self._derive_again(request, [obj])
            super().delete_model(request, obj)
            Generation.bump()

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Notice]) -> None:
        """Delete notices and what they did to histories; the worker is told after."""
        with transaction.atomic():
            self._derive_again(request, queryset)
            super().delete_queryset(request, queryset)
            Generation.bump()

    def _derive_again(self, request: HttpRequest, notices: Iterable[Notice]) -> None:
        """Ask once for each scope in which histories have, or had, a part."""
        scopes = {tuple(n.scope.items()) for n in notices if n.is_in_history}
        for scope in sorted(scopes):
            request_history_derivation(
                scope=dict(scope), requested_by=request.user.get_username()
            )
