"""What all staff pages share, and those of rows that nobody edits by hand."""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from django.contrib import messages
from django.contrib.admin import ModelAdmin
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.contrib.admin.widgets import AutocompleteSelect
from django.db.models import ForeignKey, Model
from django.db.models.query import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect

# The class takes a parameter in its stubs only.
if TYPE_CHECKING:
    PlainAdmin = ModelAdmin[Any]
else:
    PlainAdmin = ModelAdmin

_ROW_ID = re.compile(r"[0-9]{1,18}")


class LegibleSelect(AutocompleteSelect):
    """Shows a refused form again, also where what was chosen is no row's number."""

    def optgroups(self, name: str, value: Sequence[str], attr: Any = None) -> Any:
        """Return what is chosen, without what the database cannot be asked for."""
        legible = [row for row in value if _ROW_ID.fullmatch(str(row))]
        return super().optgroups(name, legible, attr)


class BaseAdmin(PlainAdmin):
    """Answers forged numbers of rows with a sentence, where Django raises."""

    def formfield_for_foreignkey(
        self, db_field: "ForeignKey[Any, Any]", request: HttpRequest, **given: Any
    ) -> Any:
        """Return the field of a row that is looked for by typing."""
        if db_field.name in self.get_autocomplete_fields(request):
            given.setdefault("widget", LegibleSelect(db_field, self.admin_site))
        return super().formfield_for_foreignkey(db_field, request, **given)

    def response_action(
        self, request: HttpRequest, queryset: QuerySet[Any], *given: Any, **named: Any
    ) -> HttpResponse | None:
        """Carry out an action on the chosen rows, if they can be rows."""
        chosen = request.POST.getlist(ACTION_CHECKBOX_NAME)
        if not all(_ROW_ID.fullmatch(row) for row in chosen):
            self.message_user(request, "No such row was listed.", messages.ERROR)
            return HttpResponseRedirect(request.get_full_path())
        return super().response_action(request, queryset, *given, **named)


class DerivedAdmin(BaseAdmin):
    """Rows that the pipeline makes: to look at, never to edit."""

    def has_add_permission(
        self,
        request: HttpRequest,  # noqa: ARG002  # Django's signature
    ) -> bool:
        """Rows come with runs."""
        return False

    def has_change_permission(
        self,
        request: HttpRequest,  # noqa: ARG002  # Django's signature
        obj: Model | None = None,  # noqa: ARG002  # Django's signature
    ) -> bool:
        """The worker alone writes what is known of them."""
        return False

    has_delete_permission = has_change_permission
