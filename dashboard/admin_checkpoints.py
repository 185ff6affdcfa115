"""The staff page of checkpoints: their spellings, each with its reason."""

from datetime import datetime
from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib import admin
from django.contrib.admin.options import TabularInline
from django.db import models
from django.http import HttpRequest

from dashboard.admin_derived import BaseAdmin
from dashboard.forms.checkpoints import SpellingsFormSet
from dashboard.ingest_requests import request_checkpoint_replay
from dashboard.models import Checkpoint, CheckpointAlias
from dashboard.vocabulary.checkpoints import SPELLINGS, read_name, spellings_of
from dashboard.vocabulary.models import model_label

# The class takes parameters in its stubs only.
if TYPE_CHECKING:
    BaseInline = TabularInline[Any, Any]
else:
    BaseInline = TabularInline


class CheckpointAliasInline(BaseInline):
    """The spellings of a checkpoint, each with its reason; the author is the login."""

    model = CheckpointAlias
    formset = SpellingsFormSet
    fields = ["spelling", "reason", "author", "made"]
    readonly_fields = ["author", "made"]
    verbose_name, verbose_name_plural = "spelling", "spellings"
    extra = 1
    formfield_overrides = {
        models.TextField: {"widget": forms.Textarea({"rows": 2, "cols": 36})}
    }

    @admin.display(description="Made at")
    def made(self, obj: CheckpointAlias) -> datetime | None:
        """Return when a stored spelling was made; a new one has no time yet."""
        return obj.made_at if obj.pk else None


class CheckpointAdmin(BaseAdmin):
    """Checkpoints with what their names say; saving one names its runs anew."""

    list_display = ["name", "publisher", "release", "quantisation", "family"]
    search_fields = ["name", "spellings__spelling"]
    fields = ["name", "built_in"]
    readonly_fields = ["built_in"]
    inlines = [CheckpointAliasInline]

    @admin.display
    def publisher(self, obj: Checkpoint) -> str:
        """Return who published the weights."""
        return read_name(obj.name).publisher

    @admin.display
    def release(self, obj: Checkpoint) -> str:
        """Return the weights without their quantisation."""
        return read_name(obj.name).release

    @admin.display
    def quantisation(self, obj: Checkpoint) -> str:
        """Return how the weights were quantised."""
        return read_name(obj.name).quantisation

    @admin.display
    def family(self, obj: Checkpoint) -> str:
        """Return the model that the weights belong to."""
        return model_label(read_name(obj.name).family)

    @admin.display(description="Built-in spellings", empty_value="none")
    def built_in(self, obj: Checkpoint) -> str:
        """Say which spellings need no row here, and why; a row goes before them."""
        spellings = sorted(spellings_of(obj.name))
        return "; ".join(f"{text} ({SPELLINGS[text].reason})" for text in spellings)

    def save_model(
        self, request: HttpRequest, obj: Checkpoint, form: Any, change: Any
    ) -> None:
        """Save, and ask for the runs that served the checkpoint again."""
        super().save_model(request, obj, form, change)
        request_checkpoint_replay(
            checkpoint=obj, requested_by=request.user.get_username()
        )

    def save_formset(
        self,
        request: HttpRequest,
        form: Any,
        formset: Any,
        change: Any,
    ) -> None:
        """Save spellings; who wrote one last is its author."""
        for row in formset.forms:
            if row.has_changed():
                row.instance.author = request.user.get_username()
        super().save_formset(request, form, formset, change)
