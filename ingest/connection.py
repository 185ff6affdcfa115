"""The connection to GitHub as the settings describe it."""

import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from django.conf import settings
from django.core.cache import caches
from django.core.cache.backends.base import BaseCache

from dashboard.telemetry import note_budget
from ingest.github import Answers, CommentingGitHub, GitHub, Options, Transport
from ingest.github.transport import Answer

KEPT_S = 24 * 3600
Listener = Callable[[Mapping[str, str]], None]


@dataclass(frozen=True, slots=True)
class CachedAnswers:
    """Keeps answers in the cache for a day, so that unchanged ones cost no quota.

    Packed: lists of jobs repeat themselves, and shrink to a tenth.
    """

    store: BaseCache

    def get(self, key: str) -> Answer | None:
        """Return the answer of a key."""
        found: Answer | None = self.store.get(key)
        if found is None:
            return None
        return {**found, "body": zlib.decompress(found["body"])}

    def set(self, key: str, value: Answer) -> None:
        """Keep an answer."""
        packed = zlib.compress(value["body"], level=1)
        self.store.set(key, {**value, "body": packed}, KEPT_S)


@contextmanager
def connected(repository: str) -> Iterator[GitHub]:
    """Give a repository's interface; its connections are closed at the end."""
    with _transport(settings.GITHUB_TOKEN, note_budget) as transport:
        yield GitHub(transport, repository)


@contextmanager
def commenting(repository: str) -> Iterator[CommentingGitHub]:
    """Give a repository's interface to comments; its token may write these."""
    with _transport(settings.GITHUB_COMMENT_TOKEN) as transport:
        yield CommentingGitHub(transport, repository)


@contextmanager
def _transport(token: str, listen: Listener | None = None) -> Iterator[Transport]:
    options = Options(
        base=settings.GITHUB_API_URL,
        token=token,
        near_s=settings.GITHUB_WAIT_SECONDS,
        read_s=settings.GITHUB_TIMEOUT_SECONDS,
    )
    # One cache object for all threads: theirs would be left open when they end.
    answers: Answers = CachedAnswers(caches["default"])
    transport = Transport(options, answers, listen)
    try:
        yield transport
    finally:
        transport.close()
