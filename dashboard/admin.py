"""The staff pages: what is derived is read only, corrections go through their module.

Members of the group ``triage`` and superusers may correct.
"""

from collections.abc import Callable, Iterable
from dataclasses import fields as parts_of
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.contrib.admin.helpers import ActionForm
from django.contrib.auth.models import Group, User
from django.db.models import Model
from django.db.models.query import QuerySet
from django.http import HttpRequest
from django.utils import timezone

from dashboard import corrections
from dashboard.admin_accounts import AccountAdmin, AccountGroupAdmin
from dashboard.admin_checkpoints import CheckpointAdmin
from dashboard.admin_comments import PullRequestCommentAdmin
from dashboard.admin_derived import BaseAdmin, DerivedAdmin
from dashboard.admin_floors import EvalFloorAdmin
from dashboard.admin_notices import NoticeAdmin
from dashboard.admin_prices import HardwarePriceAdmin
from dashboard.forms.pairing import BaseForm, ReuseLinkForm
from dashboard.ingest_requests import (
    RequestRefusedError,
    request_replay,
    request_repository_derivation,
    request_run,
)
from dashboard.models import (
    ApiToken,
    Checkpoint,
    ConfigKey,
    Correction,
    EvalFloor,
    HardwarePrice,
    IngestRequest,
    Notice,
    PullRequestComment,
    Regression,
    Repository,
    ReuseLink,
    Run,
    Sweep,
)
from dashboard.permissions import may_correct


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


admin.site.register(Checkpoint, CheckpointAdmin)
# Django registered its own.
admin.site.unregister([User, Group])
admin.site.register(User, AccountAdmin)
admin.site.register(Group, AccountGroupAdmin)


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


@admin.register(Regression)
class RegressionAdmin(DerivedAdmin):
    """To look at; state and owner are changed on the page of the regression."""

    list_display = [
        "id",
        "config_key",
        "scenario",
        "kind",
        "state",
        "owner",
        "change",
        "run",
        "recovered_by",
        "is_active",
    ]
    list_filter = ["state", "kind", "is_active", "is_strong"]
    list_select_related = ["config_key", "owner", "run", "recovered_by"]
    search_fields = ["config_key__key", "=run__github_run_id"]


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


def _target_names() -> list[str]:
    return [part.name for part in parts_of(corrections.Target)]


class CorrectionForm(BaseForm):
    """A correction that says beside the fields why it cannot be made."""

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        if not self.errors:
            target = corrections.Target(**{n: cleaned[n] for n in _target_names()})
            if refusal := corrections.why_not(target):
                self.add_error(None, refusal)
        return cleaned


@admin.register(Correction)
class CorrectionAdmin(CorrectingAdmin):
    form = CorrectionForm
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
        target = corrections.Target(**{n: getattr(obj, n) for n in _target_names()})
        made = corrections.correct(
            target=target, author=request.user.get_username(), reason=obj.reason
        )
        obj.pk = made.pk
        obj.refresh_from_db()

    @admin.action(permissions=["correct"], description="Undo the selected corrections")
    def undo(self, request: HttpRequest, queryset: QuerySet[Correction]) -> None:
        self._correct(request, queryset, "correction", corrections.undo)


@admin.register(ApiToken)
class ApiTokenAdmin(BaseAdmin):
    """Tokens are made and revoked, never changed; the secret is shown once."""

    list_display = [
        "name",
        "prefix",
        "repository",
        "can_triage",
        "created_by",
        "created_at",
        "last_used_at",
        "revoked_at",
        "revoked_by",
    ]
    list_filter = ["repository", ("revoked_at", admin.EmptyFieldListFilter)]
    list_select_related = ["repository"]
    search_fields = ["name", "=prefix"]
    fields = ["name", "repository", "can_triage"]
    actions = ["revoke"]

    def has_change_permission(
        self,
        request: HttpRequest,  # noqa: ARG002  # Django's signature
        obj: Model | None = None,  # noqa: ARG002  # Django's signature
    ) -> bool:
        return False

    has_delete_permission = has_change_permission

    def has_revoke_permission(self, request: HttpRequest) -> bool:
        return self.has_add_permission(request)

    def save_model(
        self,
        request: HttpRequest,
        obj: ApiToken,
        form: Any,
        change: Any,
    ) -> None:
        plain = obj.renew()
        obj.created_by = request.user.get_username()
        super().save_model(request, obj, form, change)
        self.message_user(
            request,
            f"The token is {plain} - copy it now, it cannot be shown again.",
            messages.WARNING,
        )

    @admin.action(permissions=["revoke"], description="Revoke the selected tokens")
    def revoke(self, request: HttpRequest, queryset: QuerySet[ApiToken]) -> None:
        valid = queryset.filter(revoked_at__isnull=True)
        count = valid.update(
            revoked_at=timezone.now(), revoked_by=request.user.get_username()
        )
        self.message_user(request, f"Revoked: {count}.")


@admin.register(ReuseLink)
class ReuseLinkAdmin(BaseAdmin):
    """Which run a merge publishes; one that was not found may be paired by hand."""

    form = ReuseLinkForm
    list_display = [
        "merge_run_id",
        "source_run_id",
        "pr_number",
        "method",
        "evidence",
        "found_at",
    ]
    list_filter = ["method"]
    search_fields = ["=merge_run_id", "=source_run_id"]
    fields = ["repository", "merge_run_id", "source_run_id", "pr_number", "evidence"]

    def has_add_permission(self, request: HttpRequest) -> bool:
        return may_correct(request.user)

    def has_change_permission(
        self,
        request: HttpRequest,
        obj: Model | None = None,  # noqa: ARG002  # Django's signature
    ) -> bool:
        return may_correct(request.user)

    def has_delete_permission(
        self,
        request: HttpRequest,  # noqa: ARG002  # Django's signature
        obj: Model | None = None,  # noqa: ARG002  # Django's signature
    ) -> bool:
        return False

    def save_model(
        self,
        request: HttpRequest,
        obj: ReuseLink,
        form: Any,
        change: Any,
    ) -> None:
        obj.method = ReuseLink.Method.MANUAL
        super().save_model(request, obj, form, change)
        author = request.user.get_username()
        for run in Run.objects.filter(github_run_id=obj.merge_run_id):
            request_replay(run=run, requested_by=author)
        if Run.objects.filter(github_run_id=obj.source_run_id).exists():
            return
        name = obj.repository.full_name
        try:
            request_run(run_id=obj.source_run_id, repository=name, requested_by=author)
        except RequestRefusedError as error:
            self.message_user(request, f"Not asked for: {error}", messages.ERROR)


admin.site.register(EvalFloor, EvalFloorAdmin)
admin.site.register(HardwarePrice, HardwarePriceAdmin)
admin.site.register(Notice, NoticeAdmin)
admin.site.register(PullRequestComment, PullRequestCommentAdmin)
