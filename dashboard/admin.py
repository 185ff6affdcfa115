"""The staff pages: what is derived is read only, corrections go through their module.

Members of the group ``triage`` and superusers may correct.
"""

from collections.abc import Callable, Iterable
from dataclasses import fields as parts_of
from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib import admin, messages
from django.contrib.admin.helpers import ActionForm
from django.contrib.admin.options import ModelAdmin
from django.contrib.auth.models import AnonymousUser, User
from django.db.models import Model
from django.db.models.query import QuerySet
from django.http import HttpRequest

from dashboard import corrections
from dashboard.ingest_requests import (
    request_checkpoint_replay,
    request_repository_derivation,
)
from dashboard.models import (
    Checkpoint,
    ConfigKey,
    Correction,
    IngestRequest,
    Repository,
    Run,
    Sweep,
)

# The class takes a parameter in its stubs only.
if TYPE_CHECKING:
    BaseAdmin = ModelAdmin[Any]
else:
    BaseAdmin = ModelAdmin

TRIAGE = "triage"


def may_correct(user: User | AnonymousUser) -> bool:
    """Tell whether a user may hide, hold, publish, exclude and undo."""
    if not user.is_active:
        return False
    return user.is_superuser or user.groups.filter(name=TRIAGE).exists()


class DerivedAdmin(BaseAdmin):
    """Rows that the pipeline makes: to look at, never to edit."""

    def has_add_permission(
        self,
        request: HttpRequest,  # noqa: ARG002  # Django's signature
    ) -> bool:
        return False

    def has_change_permission(
        self,
        request: HttpRequest,  # noqa: ARG002  # Django's signature
        obj: Model | None = None,  # noqa: ARG002  # Django's signature
    ) -> bool:
        return False

    has_delete_permission = has_change_permission


class ReasonForm(ActionForm):
    reason = forms.CharField(required=False, label="Reason")


class CorrectingAdmin(DerivedAdmin):
    """A list whose actions correct, each with the reason typed beside it."""

    action_form = ReasonForm

    def has_correct_permission(self, request: HttpRequest) -> bool:
        return may_correct(request.user)

    def _correct(
        self,
        request: HttpRequest,
        rows: Iterable[Any],
        name: str,
        act: Callable[..., Correction],
    ) -> None:
        reason = request.POST.get("reason", "")
        author = request.user.get_username()
        try:
            for row in rows:
                act(**{name: row}, author=author, reason=reason)
        except corrections.CorrectionRefusedError as error:
            self.message_user(request, str(error), messages.ERROR)
        else:
            self.message_user(request, "Stored; the pages follow in a moment.")


@admin.register(Repository)
class RepositoryAdmin(BaseAdmin):
    list_display = ["full_name", "is_official", "sweep_workflow", "default_branch"]
    list_filter = ["is_official"]
    search_fields = ["full_name"]

    def save_model(
        self, request: HttpRequest, obj: Repository, form: Any, change: Any
    ) -> None:
        super().save_model(request, obj, form, change)
        request_repository_derivation(
            repository=obj, requested_by=request.user.get_username()
        )


@admin.register(Checkpoint)
class CheckpointAdmin(BaseAdmin):
    list_display = ["name", "aliases"]
    search_fields = ["name"]

    def save_model(
        self, request: HttpRequest, obj: Checkpoint, form: Any, change: Any
    ) -> None:
        super().save_model(request, obj, form, change)
        request_checkpoint_replay(
            checkpoint=obj, requested_by=request.user.get_username()
        )


@admin.register(ConfigKey)
class ConfigKeyAdmin(DerivedAdmin):
    list_display = ["key", "model", "precision", "hardware", "framework"]
    list_filter = ["model", "precision", "hardware", "is_synthetic"]
    search_fields = ["key"]


@admin.register(Run)
class RunAdmin(DerivedAdmin):
    list_display = [
        "github_run_id",
        "title",
        "repository",
        "conclusion",
        "publication",
        "received_count",
        "planned_count",
        "created_at",
    ]
    list_filter = ["publication", "repository", "conclusion"]
    list_select_related = ["repository"]
    search_fields = ["=github_run_id", "title", "branch"]
    date_hierarchy = "created_at"


@admin.register(Sweep)
class SweepAdmin(CorrectingAdmin):
    list_display = [
        "config_key",
        "scenario",
        "run",
        "checkpoint",
        "state",
        "state_reason",
        "received_count",
        "planned_count",
        "measured_at",
    ]
    list_filter = ["state", "scenario"]
    list_select_related = ["config_key", "run", "checkpoint"]
    search_fields = ["config_key__key", "=run__github_run_id"]
    actions = ["hold", "publish"]

    @admin.action(permissions=["correct"], description="Hold the selected sweeps")
    def hold(self, request: HttpRequest, queryset: QuerySet[Sweep]) -> None:
        self._correct(request, queryset, "sweep", corrections.hold_sweep)

    @admin.action(permissions=["correct"], description="Publish the selected sweeps")
    def publish(self, request: HttpRequest, queryset: QuerySet[Sweep]) -> None:
        self._correct(request, queryset, "sweep", corrections.publish_sweep)


@admin.register(IngestRequest)
class IngestRequestAdmin(DerivedAdmin):
    list_display = [
        "kind",
        "target",
        "state",
        "step",
        "requested_by",
        "requested_at",
        "finished_at",
    ]
    list_filter = ["state", "kind"]
    search_fields = ["target", "=github_run_id"]


@admin.register(Correction)
class CorrectionAdmin(CorrectingAdmin):
    list_display = [
        "action",
        "run",
        "config_key",
        "scenario",
        "author",
        "reason",
        "made_at",
        "undone_at",
        "undone_by",
    ]
    list_filter = ["action", ("undone_at", admin.EmptyFieldListFilter)]
    list_select_related = ["run", "config_key"]
    search_fields = ["=run__github_run_id", "reason", "author"]
    autocomplete_fields = ["run", "config_key"]
    fields = [
        "action",
        "run",
        "attempt",
        "config_key",
        "scenario",
        "deployment",
        "concurrency",
        "reason",
    ]
    actions = ["undo"]

    def has_add_permission(self, request: HttpRequest) -> bool:
        return may_correct(request.user)

    def save_model(
        self,
        request: HttpRequest,
        obj: Correction,
        form: Any,  # noqa: ARG002  # Django's signature
        change: Any,  # noqa: ARG002  # Django's signature
    ) -> None:
        names = [part.name for part in parts_of(corrections.Target)]
        target = corrections.Target(**{name: getattr(obj, name) for name in names})
        made = corrections.correct(
            target=target, author=request.user.get_username(), reason=obj.reason
        )
        obj.pk = made.pk
        obj.refresh_from_db()

    @admin.action(permissions=["correct"], description="Undo the selected corrections")
    def undo(self, request: HttpRequest, queryset: QuerySet[Correction]) -> None:
        self._correct(request, queryset, "correction", corrections.undo)
