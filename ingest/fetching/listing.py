"""What GitHub says of a run: attempts, jobs, artifacts, pull request, config files."""

from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TypeVar

from ingest.github import (
    GitHub,
    GitHubError,
    Listing,
    NotFoundError,
    RateLimitedError,
)

PARALLEL = 8
MAX_ATTEMPTS = 50
CONFIG_NAMES = ("amd-master.yaml", "nvidia-master.yaml", "runners.yaml")
# The second one is where the files were until they moved.
CONFIG_FOLDERS = ("configs", ".github/configs")

JsonObject = dict[str, object]
Result = TypeVar("Result")


@dataclass(slots=True)
class ListedRun:
    """A run without its bytes. ``gaps`` are lines about what could not be had now.

    ``jobs`` is None where they are not known as a whole.
    """

    run: JsonObject
    attempts: list[JsonObject]
    jobs: list[JsonObject] | None = None
    artifacts: list[JsonObject] = field(default_factory=list)
    configs: dict[str, str] = field(default_factory=dict)
    gaps: list[str] = field(default_factory=list)


def list_run(
    github: GitHub, run: JsonObject, known_configs: Mapping[str, str]
) -> ListedRun:
    """Ask for everything that hangs on a run, in parallel.

    Config files that are known already are not asked for. Raises GitHubError where
    the artifacts cannot be listed, or a limit stands in the way of anything; what
    else is missing becomes a gap.
    """
    run_id, sha = int(str(run["id"])), str(run.get("head_sha") or "")
    listed = ListedRun(run, [run], configs=dict(known_configs))
    with ThreadPoolExecutor(PARALLEL) as pool:
        artifacts = pool.submit(_whole, lambda: github.artifacts(run_id))
        jobs = pool.submit(_whole, lambda: github.jobs(run_id))
        older = [pool.submit(github.attempt, run_id, n) for n in _older_attempts(run)]
        pulls = pool.submit(_pulls, github, run, sha)
        missing = [n for n in CONFIG_NAMES if sha and n not in known_configs]
        configs = {n: pool.submit(_config, github, n, sha) for n in missing}
    listed.artifacts = _artifacts(artifacts.result(), listed.gaps)
    listed.jobs = _jobs(jobs, listed.gaps)
    _add_attempts(listed, older)
    _add_configs(listed, configs)
    _add_pull(listed, pulls)
    return listed


def _whole(ask: Callable[[], Listing]) -> Listing:
    """Ask again once where a list is not whole: it may have grown meanwhile."""
    listing = ask()
    return listing if listing.is_complete else ask()


def _older_attempts(run: JsonObject) -> range:
    newest = run.get("run_attempt")
    return range(1, min(newest, MAX_ATTEMPTS) if isinstance(newest, int) else 1)


def _artifacts(listing: Listing, gaps: list[str]) -> list[JsonObject]:
    if not listing.is_complete:
        count = f"{len(listing.items)} of {listing.total}"
        gaps.append(f"the list of artifacts is incomplete: {count}")
    return listing.items


def _jobs(asked: Future[Listing], gaps: list[str]) -> list[JsonObject] | None:
    listing = _answer(asked, "the jobs", gaps)
    if listing is None or listing.is_complete:
        return None if listing is None else listing.items
    count = f"{len(listing.items)} of {listing.total}"
    gaps.append(f"the list of jobs is incomplete: {count}")
    return None


def _add_attempts(listed: ListedRun, older: list[Future[JsonObject]]) -> None:
    """Add attempts oldest first; GitHub forgets old ones, which is no gap."""
    known = []
    for number, asked in enumerate(older, start=1):
        attempt = _answer(asked, f"attempt {number}", listed.gaps, may_be_absent=True)
        known += [attempt] if attempt is not None else []
    listed.attempts = [*known, listed.run]


def _config(github: GitHub, name: str, sha: str) -> bytes | None:
    """Return a config file at a commit, None where the commit has none."""
    for folder in CONFIG_FOLDERS:
        try:
            return github.file(f"{folder}/{name}", sha)
        except NotFoundError:
            continue
    return None


def _add_configs(listed: ListedRun, asked: Mapping[str, Future[bytes | None]]) -> None:
    for name, future in asked.items():
        content = _answer(future, name, listed.gaps)
        if content is None:
            continue
        try:
            listed.configs[name] = content.decode().replace(
                "\0", "\N{REPLACEMENT CHARACTER}"
            )
        except UnicodeDecodeError:
            listed.gaps.append(f"{name}: not a text")


def _pulls(github: GitHub, run: JsonObject, sha: str) -> list[JsonObject]:
    """Ask for the pull requests of a run's commit where the run does not name one."""
    return [] if run.get("pull_requests") or not sha else github.pulls_of_commit(sha)


def _add_pull(listed: ListedRun, asked: Future[list[JsonObject]]) -> None:
    """Name the one pull request of the run's commit, as runs of forks do not."""
    pulls = _answer(asked, "the pull request", [], may_be_absent=True) or []
    sha = listed.run.get("head_sha")
    fitting = [p for p in pulls if sha in (_head_sha(p), p.get("merge_commit_sha"))]
    if len(fitting) == 1:
        number = {"number": fitting[0].get("number")}
        listed.run = {**listed.run, "pull_requests": [number]}
        listed.attempts[-1] = listed.run


def _head_sha(pull: JsonObject) -> object:
    head = pull.get("head")
    return head.get("sha") if isinstance(head, dict) else None


def _answer(
    asked: Future[Result], what: str, gaps: list[str], *, may_be_absent: bool = False
) -> Result | None:
    """Return an answer, or None with a gap; a limit ends it all."""
    try:
        return asked.result()
    except RateLimitedError:
        raise
    except NotFoundError as error:
        if not may_be_absent:
            gaps.append(f"{what}: {error}")
    except GitHubError as error:
        gaps.append(f"{what}: {error}")
    return None
