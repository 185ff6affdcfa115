"""What can go wrong between here and GitHub; each message is one line for a person."""

from datetime import UTC, datetime, timedelta


class GitHubError(Exception):
    """Something that GitHub, or the way to it, did not give."""


class NotFoundError(GitHubError):
    """No such thing, or one that may not be seen with this token."""


class ForbiddenError(GitHubError):
    """The token is refused, or does not reach this far."""


class GoneError(GitHubError):
    """It existed and was deleted for good; asking again is no use."""


class RateLimitedError(GitHubError):
    """GitHub takes no more requests before ``until`` (UTC)."""

    def __init__(self, until: datetime) -> None:
        super().__init__(
            f"GitHub's rate limit is reached; it ends at {until:%Y-%m-%d %H:%M:%S} UTC"
        )
        self.until = until

    @classmethod
    def after(cls, seconds: float) -> "RateLimitedError":
        """Return the error of a limit that ends in some seconds."""
        return cls(datetime.now(UTC) + timedelta(seconds=seconds))


class RejectedError(GitHubError):
    """Understood and not taken; the same again is not taken either."""


class TooLargeError(GitHubError):
    """A body longer than is taken."""


class RefusedAddressError(GitHubError):
    """A redirect to where nothing is fetched from."""


class StoppedError(GitHubError):
    """Given up because whoever asked is no longer there."""


class UnreachableError(GitHubError):
    """No usable answer after all tries."""
