"""GitHub's REST interface: the only code that talks to a network."""

from ingest.github.api import GitHub, Listing
from ingest.github.comments import CommentingGitHub
from ingest.github.errors import (
    ForbiddenError,
    GitHubError,
    GoneError,
    NotFoundError,
    RateLimitedError,
    RefusedAddressError,
    RejectedError,
    TooLargeError,
    UnreachableError,
)
from ingest.github.transport import Answers, Options, Transport

__all__ = [
    "Answers",
    "CommentingGitHub",
    "ForbiddenError",
    "GitHub",
    "GitHubError",
    "GoneError",
    "Listing",
    "NotFoundError",
    "Options",
    "RateLimitedError",
    "RefusedAddressError",
    "RejectedError",
    "TooLargeError",
    "Transport",
    "UnreachableError",
]
