"""Names and addresses at the forge, only of texts that are safe to link to."""

import re
from urllib.parse import quote, urlsplit

_PART = r"[A-Za-z0-9_.-]"
# Neither part is . or .., which in an address would lead elsewhere; 200 at most.
REPOSITORY = rf"(?!\.\.?/){_PART}{{1,99}}/(?!\.\.?(?!{_PART})){_PART}{{1,100}}"
OWNER_AND_NAME = re.compile(REPOSITORY)
_SHA = re.compile(r"[0-9a-fA-F]{7,64}")


def web_link(text: str) -> str:
    """Return an http(s) address unchanged, and an empty text for anything else."""
    try:
        parts = urlsplit(text.strip())
    except ValueError:
        return ""
    is_web = parts.scheme in {"http", "https"} and bool(parts.netloc)
    return text.strip() if is_web else ""


def commit_link(run_url: str, sha: str) -> str:
    """Return the address of a commit of the run's repository, or an empty text."""
    base = _repository_link(run_url)
    return f"{base}/commit/{quote(sha)}" if base and _SHA.fullmatch(sha) else ""


def pull_link(run_url: str, number: int | None) -> str:
    """Return the address of a pull request beside the run, or an empty text."""
    base = _repository_link(run_url)
    return f"{base}/pull/{number}" if base and number is not None else ""


def repository_of(run_url: str) -> str:
    """Return owner and name of the repository of a run, or an empty text."""
    named = urlsplit(_repository_link(run_url)).path.strip("/")
    return named if OWNER_AND_NAME.fullmatch(named) else ""


def job_link(run_url: str, job_id: int) -> str:
    """Return the address of a job's log, or an empty text."""
    base = _repository_link(run_url)
    return f"{web_link(run_url)}/job/{job_id}" if base else ""


def _repository_link(run_url: str) -> str:
    """Cut ``https://host/owner/name/actions/runs/1`` down to its repository."""
    base, found, _ = web_link(run_url).partition("/actions/")
    return base if found else ""
