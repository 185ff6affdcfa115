"""The staff page of comments on pull requests: to look at, and to ask for again."""

from django.conf import settings
from django.contrib import admin, messages
from django.db.models.query import QuerySet
from django.http import HttpRequest

from dashboard.admin_derived import DerivedAdmin
from dashboard.ingest_requests import request_comment
from dashboard.models import PullRequestComment, Run
from dashboard.permissions import may_correct


class PullRequestCommentAdmin(DerivedAdmin):
    """One row per pull request: which comment, and why there is none."""

    list_display = [
        *("repository", "pr_number", "comment_id", "is_deleted", "updated_at", "error"),
    ]
    list_filter = ["is_deleted", "repository"]
    list_select_related = ["repository"]
    search_fields = ["=pr_number", "error"]
    ordering = ["-updated_at", "-pk"]
    actions = ["ask_again"]

    def has_correct_permission(self, request: HttpRequest) -> bool:
        """Tell who may have a comment written again."""
        return may_correct(request.user)

    @admin.action(
        permissions=["correct"],
        description="Write the selected comments again, deleted ones too",
    )
    def ask_again(
        self, request: HttpRequest, queryset: QuerySet[PullRequestComment]
    ) -> None:
        """Ask for the newest unofficial run of each; its task tells the older ones."""
        if not settings.FRONTIERBOARD_PR_COMMENTS:
            self.message_user(
                request,
                "Comments are off: FRONTIERBOARD_PR_COMMENTS is 0.",
                messages.ERROR,
            )
            return
        for row in queryset:
            run = _newest_run(row)
            if run is None:
                line = f"#{row.pr_number} has no unofficial run."
                self.message_user(request, line, messages.WARNING)
            else:
                request_comment(run=run, again=True)
                line = f"Asked for #{row.pr_number} with run {run.github_run_id}."
                self.message_user(request, line)


def _newest_run(row: PullRequestComment) -> Run | None:
    runs = Run.objects.filter(
        repository=row.repository,
        pr_number=row.pr_number,
        publication=Run.Publication.UNOFFICIAL,
    )
    return runs.order_by("-created_at", "-github_run_id").first()
