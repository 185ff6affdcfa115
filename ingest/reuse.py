"""The run whose measurements a merge publishes, found through the merge's pull request.

A merged pull request may publish the sweep of its last run instead of measuring again.
Its run then holds a changelog and nothing else, and no artifact says which run it was.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice

from dashboard.models import Artifact, Repository, ReuseLink
from ingest.artifacts.names import READ_KINDS, Kind, kind_of
from ingest.fetching import ListedRun
from ingest.github import ForbiddenError, GitHub, NotFoundError
from ingest.jobs import parse_job_name

COMMAND = re.compile(
    r"^[ \t]*/reuse-sweep-run(?:[ \t]+(\d{1,18}))?[ \t]*\r?$", re.MULTILINE
)
TRUSTED = frozenset({"OWNER", "MEMBER", "COLLABORATOR"})
FORBIDDING_LABELS = frozenset({"evals-only", "agentx-fast"})
PINNABLE = frozenset({"success", "failure", "cancelled"})
RESULTS = frozenset({Kind.RESULTS, Kind.EVAL_RESULTS, Kind.POINT_AGENTIC})
MAX_CANDIDATES = 10
MAX_LOOKED_AT = 300
COMMENT, NEWEST = ReuseLink.Method.COMMENT, ReuseLink.Method.NEWEST

JsonObject = Mapping[str, object]


class UnresolvedError(Exception):
    """No source can be named; the message says why, in one line."""


@dataclass(frozen=True, slots=True)
class Found:
    """The source run, and by which rule it was found."""

    source_run_id: int
    pr_number: int
    method: str
    evidence: str = ""


def publishes_another_run(listed: ListedRun, repository: Repository) -> bool:
    """Tell whether a run is a merge that reuses another run's measurements.

    A finished push of the sweep workflow to the default branch that says what
    changed, but has no result and no job that was to make one: the producer decided
    so. Where the jobs are not known nothing is concluded.
    """
    run = listed.run
    kinds = {kind_of(str(item.get("name", ""))) for item in listed.artifacts}
    return (
        repository.is_official
        and run.get("event") == "push"
        and run.get("status") == "completed"
        and run.get("path") == repository.sweep_workflow
        and run.get("head_branch") == repository.default_branch
        and kinds & READ_KINDS == {Kind.CHANGELOG}
        and listed.jobs is not None
        and not any(_measures(job) for job in listed.jobs)
    )


def _measures(job: JsonObject) -> bool:
    is_skipped = job.get("conclusion") == "skipped"
    return not is_skipped and parse_job_name(str(job.get("name", ""))) is not None


def resolve(github: GitHub, listed: ListedRun, repository: Repository) -> Found:
    """Name the source of a merge that publishes another run.

    1. The one pull request merged as the commit. 2. The newest comment of somebody
    who may decide with ``/reuse-sweep-run``: an id in it names the run. 3. Else the
    newest successful run of the pull request's branch at one of its commits whose
    results are still there, or stored here. Raises UnresolvedError and GitHubError.
    """
    pull = _merged_pull(github, str(listed.run.get("head_sha")))
    number = _number(pull)
    commits = {str(commit.get("sha")) for commit in github.pull_commits(number)}
    comment = _deciding_comment(github, number)
    pinned = _pinned_id(comment)
    if pinned is not None:
        run_id = _pinned(github, pinned, commits, repository)
        found = Found(run_id, number, COMMENT, _text(comment, "html_url"))
    else:
        run_id = _newest(github, _branch(pull), commits, repository)
        found = Found(run_id, number, NEWEST, f"pull request {number}")
    if run_id == listed.run.get("id"):
        raise UnresolvedError("the comment names the merge's own run")
    return found


def stored_link(run_id: int) -> ReuseLink | None:
    """Return what was found earlier, or paired by hand: that is not asked again."""
    return ReuseLink.objects.filter(merge_run_id=run_id).first()


def store_link(run_id: int, repository: Repository, found: Found) -> ReuseLink:
    """Keep what was found; a link that is there already stays."""
    link, _ = ReuseLink.objects.get_or_create(
        merge_run_id=run_id,
        defaults={
            "repository": repository,
            "source_run_id": found.source_run_id,
            "pr_number": found.pr_number,
            "method": found.method,
            "evidence": found.evidence[:2000],
        },
    )
    return link


def _merged_pull(github: GitHub, sha: str) -> JsonObject:
    pulls = github.pulls_of_commit(sha)
    merged = [p for p in pulls if p.get("merge_commit_sha") == sha]
    merged = [p for p in merged if p.get("merged_at")]
    if len(merged) != 1:
        raise UnresolvedError(f"{len(merged)} pull requests were merged as {sha[:8]}")
    if forbidding := _labels(merged[0]) & FORBIDDING_LABELS:
        raise UnresolvedError(f"the pull request is labelled {min(forbidding)}")
    return merged[0]


def _labels(pull: JsonObject) -> set[str]:
    labels = pull.get("labels")
    return (
        {_text(label, "name") for label in labels}
        if isinstance(labels, list)
        else set()
    )


def _deciding_comment(github: GitHub, number: int) -> JsonObject | None:
    """Return the newest comment that tells to reuse, of somebody who may tell.

    Where comments may not be read there is none: the merge's own run shows that it
    reuses, a comment only says which run.
    """
    try:
        comments = github.comments(number)
    except (NotFoundError, ForbiddenError):
        return None
    deciding = [
        comment
        for comment in comments
        if comment.get("author_association") in TRUSTED
        and COMMAND.search(_text(comment, "body"))
    ]
    return max(deciding, key=lambda c: _text(c, "created_at"), default=None)


def _pinned_id(comment: JsonObject | None) -> int | None:
    found = COMMAND.findall(_text(comment, "body"))
    return int(found[-1]) if found and found[-1] else None


def _pinned(
    github: GitHub, run_id: int, commits: set[str], repository: Repository
) -> int:
    """Return a run that a comment names; it may have failed, but must be of the PR."""
    run = github.run(run_id)
    fits = _is_of_pull(run, commits, repository) and run.get("conclusion") in PINNABLE
    if not fits:
        raise UnresolvedError(f"run {run_id} is no finished sweep of the pull request")
    return run_id


def _newest(
    github: GitHub, branch: str, commits: set[str], repository: Repository
) -> int:
    """Return the newest successful run of a branch at a commit of the pull request."""
    runs = github.workflow_runs(
        repository.sweep_workflow,
        event="pull_request",
        branch=branch,
        status="success",
    )
    fitting = (
        run
        for run in islice(runs, MAX_LOOKED_AT)
        if _is_of_pull(run, commits, repository)
    )
    newest = sorted(fitting, key=lambda run: _text(run, "created_at"), reverse=True)
    for run in newest[:MAX_CANDIDATES]:
        run_id = int(str(run.get("id")))
        if _has_results(github, run_id):
            return run_id
    raise UnresolvedError("no run of the pull request has usable results")


def _is_of_pull(run: JsonObject, commits: set[str], repository: Repository) -> bool:
    return (
        run.get("event") == "pull_request"
        and run.get("path") == repository.sweep_workflow
        and run.get("head_sha") in commits
    )


def _has_results(github: GitHub, run_id: int) -> bool:
    """Tell whether a run's results can be had, from GitHub or from what is stored."""
    there = [i for i in github.artifacts(run_id).items if i.get("expired") is not True]
    if any(kind_of(_text(item, "name")) in RESULTS for item in there):
        return True
    stored = Artifact.objects.filter(
        run__github_run_id=run_id, state=Artifact.State.FETCHED
    )
    names = stored.values_list("name", flat=True)
    return any(kind_of(name) in RESULTS for name in names)


def _branch(pull: JsonObject) -> str:
    return _text(pull.get("head"), "ref")


def _number(pull: JsonObject) -> int:
    number = pull.get("number")
    if not isinstance(number, int):
        raise UnresolvedError("the pull request has no number")
    return number


def _text(mapping: object, name: str) -> str:
    value = mapping.get(name) if isinstance(mapping, Mapping) else None
    return value if isinstance(value, str) else ""
