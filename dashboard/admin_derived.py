"""Staff pages of rows that nobody edits by hand."""

from typing import TYPE_CHECKING, Any

from django.contrib.admin import ModelAdmin
from django.db.models import Model
from django.http import HttpRequest

# The class takes a parameter in its stubs only.
if TYPE_CHECKING:
    BaseAdmin = ModelAdmin[Any]
else:
    BaseAdmin = ModelAdmin


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
