"""What commands take: repositories, commits, texts; else one line that says why."""

import re
from pathlib import Path

from django.core.management.base import CommandError

from dashboard.vocabulary.links import OWNER_AND_NAME

COMMIT = re.compile(r"[0-9a-f]{7,64}")
MOST_BYTES = 20_000_000


def commit(text: str) -> str:
    """Return a commit in lower case; raises CommandError."""
    sha = text.lower()
    if not COMMIT.fullmatch(sha):
        raise CommandError(f"--sha: not a commit: {text!r}")
    return sha


def repository_name(text: str) -> str:
    """Return ``owner/name``; raises CommandError."""
    if not OWNER_AND_NAME.fullmatch(text):
        raise CommandError(f"--repo: no owner/name: {text[:80]!r}")
    return text


def text_of(path: Path) -> str:
    """Read a file of UTF-8; raises CommandError."""
    try:
        # A device has no size: what is read is counted.
        with path.open("rb") as file:
            content = file.read(MOST_BYTES + 1)
        if len(content) > MOST_BYTES:
            raise CommandError(f"{path}: more than {MOST_BYTES:,} bytes")
        return content.decode()
    except OSError as error:
        raise CommandError(f"cannot be read: {error}") from error
    except UnicodeDecodeError as error:
        raise CommandError(f"{path}: cannot be read: {error}") from error
