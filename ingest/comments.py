"""The one comment on a pull request that tells the verdicts on its runs."""

import hashlib
from enum import StrEnum

import structlog
from django.conf import settings
from django.utils import timezone

from dashboard.analysis.comment_body import comment_body, comment_marker
from dashboard.analysis.verdict_report import markdown_report
from dashboard.ingest_requests import request_comment
from dashboard.models import PullRequestComment, Repository, Run
from dashboard.queries.run_verdicts import run_verdict, stored_run
from dashboard.vocabulary.texts import one_line
from ingest.claims import comment_claimed
from ingest.connection import commenting
from ingest.github import (
    CommentingGitHub,
    ForbiddenError,
    GitHubError,
    GoneError,
    NotFoundError,
    UnreachableError,
)
from ingest.github.comments import id_of
from ingest.run_facts import COMPLETED

log = structlog.get_logger(__name__)

LONGEST_ERROR = 500
# Whose a token is does not change: by address and token, for this process.
_own_ids: dict[tuple[str, str], int] = {}


class NoCommentError(Exception):
    """Why a pull request gets no comment; the message is one line."""


class Outcome(StrEnum):
    """What became of a comment."""

    CREATED = "created"
    EDITED = "edited"
    SAME = "unchanged"
    DELETED = "deleted by a person; not made again"


def ask_for_comment(github_run_id: int) -> None:
    """Ask for the comment on a run that was just fetched, where it is to have one."""
    run = stored_run(github_run_id)
    if run is not None and run.status == COMPLETED and not why_none(run):
        request_comment(run=run)


def why_none(run: Run) -> str:
    """Return why nothing is said of a run on a pull request; empty: it may be."""
    if not settings.FRONTIERBOARD_PR_COMMENTS:
        return "comments are off: FRONTIERBOARD_PR_COMMENTS is 0"
    if not run.repository.is_official:
        return f"{run.repository.full_name} is not an official repository"
    if run.publication != Run.Publication.UNOFFICIAL:
        return f"run {run.github_run_id} is {run.publication}"
    if run.pr_number is None:
        return f"run {run.github_run_id} belongs to no pull request"
    return ""


def comment_run(github_run_id: int, *, again: bool = False) -> Outcome:
    """Tell the verdict on a stored run on its pull request.

    Raises NoCommentError, GitHubError and AlreadyRunningError.
    """
    run = stored_run(github_run_id)
    if run is None:
        raise NoCommentError(f"run {github_run_id} is not stored here")
    if run.pr_number is None or why_none(run):
        raise NoCommentError(why_none(run))
    return update_comment(run.repository, run.pr_number, run, again=again)


def update_comment(
    repository: Repository, pr_number: int, run: Run, *, again: bool = False
) -> Outcome:
    """Put a run's verdict into the comment on its pull request.

    1. Claim the comment: one worker per pull request. 2. Keep the run's report beside
    those of the other runs; newest run first, whoever comes last. 3. Leave it at that
    where GitHub has this text, or a person deleted the comment and nobody asks
    ``again``. 4. Find the comment by its id, else by the marker among those of the
    token's own user: it may have been made without an answer. 5. Edit or create it.

    What goes wrong is kept as one line. Raises NoCommentError, GitHubError and
    AlreadyRunningError.
    """
    with comment_claimed(repository.full_name, pr_number):
        row, _ = PullRequestComment.objects.get_or_create(
            repository=repository, pr_number=pr_number
        )
        try:
            outcome = _delivered(row, run, again=again)
        except (GitHubError, NoCommentError) as error:
            row.error = one_line(str(error), LONGEST_ERROR)
            row.save()
            raise
        row.error = ""
        row.save()
    log.info("commented", pr=pr_number, run_id=run.github_run_id, outcome=outcome.value)
    return outcome


def _delivered(row: PullRequestComment, run: Run, *, again: bool) -> Outcome:
    sections = _sections(row, run)
    body = comment_body(_marker(), list(sections.values()))
    digest = hashlib.sha256(body.encode()).hexdigest()
    if not again and row.comment_id is not None and row.body_sha256 == digest:
        return Outcome.SAME
    with commenting(row.repository.full_name) as github:
        pull = github.pull(row.pr_number)
        _refuse_other(pull, run)
        # Only now: what belongs elsewhere must not come with the next run either.
        row.sections = sections
        if row.is_deleted and not again:
            return Outcome.DELETED
        if row.comment_id is None:
            row.comment_id = _own_comment(github, row.pr_number)
        outcome = _edited(github, row, body)
        if outcome is None or (outcome is Outcome.DELETED and again):
            is_open = pull.get("state") == "open"
            outcome = _created(github, row, body, may_begin=is_open or again)
    if outcome is not Outcome.DELETED:
        row.body_sha256, row.updated_at = digest, timezone.now()
        row.is_deleted = False
    return outcome


def _sections(row: PullRequestComment, run: Run) -> dict[str, str]:
    """Return the reports by run id, newest run first, with that of the run as it is.

    Runs that are hidden by now, or not stored any more, lose theirs.
    """
    found = run_verdict(run)
    report = markdown_report(found.facts, found.verdicts)
    reports = {**row.sections, str(run.github_run_id): report}
    runs = Run.objects.filter(
        repository=row.repository, github_run_id__in=[int(key) for key in reports]
    ).exclude(publication=Run.Publication.HIDDEN)
    newest_first = runs.order_by("-created_at", "-github_run_id")
    keys = [str(pk) for pk in newest_first.values_list("github_run_id", flat=True)]
    return {key: reports[key] for key in keys}


def _refuse_other(pull: dict[str, object], run: Run) -> None:
    """Raise NoCommentError where the pull request is not that of the run.

    A run may name a number of a fork, or one that only its changelog tells. After a
    forced push the branch counts; the default branch is that of many forks.
    """
    head = pull.get("head")
    sha, ref = (head.get("sha"), head.get("ref")) if isinstance(head, dict) else (0, 0)
    is_branch = ref == run.branch != run.repository.default_branch
    if sha != run.sha and not is_branch:
        raise NoCommentError(
            f"#{run.pr_number} is not the pull request of run {run.github_run_id}:"
            " neither its commit nor its branch"
        )


def _edited(
    github: CommentingGitHub, row: PullRequestComment, body: str
) -> Outcome | None:
    """Edit the comment that is known; None: there is none so far."""
    if row.comment_id is None:
        return None
    try:
        github.edit_comment(row.comment_id, body)
    except (NotFoundError, GoneError) as error:
        if _is_there(github, row.comment_id):
            raise _not_allowed(row) from error
        row.comment_id, row.is_deleted = None, True
        return Outcome.DELETED
    return Outcome.EDITED


def _created(
    github: CommentingGitHub, row: PullRequestComment, body: str, *, may_begin: bool
) -> Outcome:
    if not may_begin:
        raise NoCommentError(f"#{row.pr_number} is closed: no comment is begun there")
    try:
        row.comment_id = id_of(github.create_comment(row.pr_number, body))
    except NotFoundError as error:
        raise _not_allowed(row) from error
    return Outcome.CREATED


def _not_allowed(row: PullRequestComment) -> ForbiddenError:
    """Return what "not found" means for something that can be seen."""
    name = row.repository.full_name
    return ForbiddenError(f"GITHUB_COMMENT_TOKEN may not comment in {name}")


def _is_there(github: CommentingGitHub, comment_id: int) -> bool:
    try:
        github.comment(comment_id)
    except (NotFoundError, GoneError):
        return False
    return True


def _own_comment(github: CommentingGitHub, pr_number: int) -> int | None:
    """Return the oldest comment of the token's user that begins with the marker."""
    own_id, marker = _own_id(github), _marker()
    for comment in github.comments(pr_number):
        is_own = id_of(comment.get("user")) == own_id
        if is_own and str(comment.get("body") or "").startswith(marker):
            return id_of(comment)
    return None


def _own_id(github: CommentingGitHub) -> int:
    key = (settings.GITHUB_API_URL, settings.GITHUB_COMMENT_TOKEN)
    if key not in _own_ids:
        found = github.user_id()
        if found is None:
            raise UnreachableError("GitHub does not tell whose token comments")
        _own_ids[key] = found
    return _own_ids[key]


def _marker() -> str:
    return comment_marker(settings.FRONTIERBOARD_URL)
