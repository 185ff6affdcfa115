"""Whole answers kept for everybody who is not logged in, packed, until the data change.

An answer is named by the generation of the data, the software, its whole address and
whatever else of the request shapes it. It lies in one of a fixed number of slots, so
that strangers who make up addresses can push answers out, and never fill the cache.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from hashlib import sha256
from typing import Any, NamedTuple, TypeGuard

import structlog
from django.conf import settings
from django.core.cache import cache
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.utils.cache import get_conditional_response, patch_vary_headers
from django_http_compression.middleware import (  # type: ignore[attr-defined]
    best_coding,
    # Re-exported nowhere, but it knows which of them a version of Python has.
    brotli_compress,
    gzip_compress,
    zstd_compress,
)
from redis import RedisError

from dashboard.caching import current_generation
from dashboard.compression import gunzipped, gzipped
from dashboard.vocabulary.version import VERSION

log = structlog.get_logger(__name__)

# At most SLOTS * MOST_BYTES of the cache are ever taken, by each shelf.
SLOTS, MOST_BYTES = 128, 1 << 20
LONGEST_ADDRESS = 2000
# Whoever makes an answer has so long before another one tries; the others look so often
# whether it is there, and make it themselves after so long.
CLAIM_S, LOOK_S, PATIENCE_S = 10, 0.02, 4.0
# What the views look at beside the address. Requests with these are never kept: an
# answer to them may say more than the address does.
SHAPING = ("HX-Request", "HX-Target", "HX-History-Restore-Request")
UNKEPT = ("X-Changed", "X-Waiting", "Authorization")
PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "zstd": lambda body: zstd_compress(body, level=6),
    "br": lambda body: brotli_compress(body, quality=5),
    "gzip": lambda body: gzip_compress(body, max_random_bytes=0),
    # Kept packed all the same, and unpacked for who takes it only so.
    "identity": gzipped,
}

View = Callable[..., HttpResponseBase]
Stamp = Callable[[], object]


class Kept(NamedTuple):
    """A packed answer under its whole name."""

    name: str
    etag: str
    headers: tuple[tuple[str, str], ...]
    body: bytes


def kept(stamp: Stamp = str, shelf: str = "page") -> Callable[[View], View]:
    """Keep the answers of a view to anonymous readers.

    ``stamp`` returns what the page shows beside the data of the generation. An answer
    is kept for FRONTIERBOARD_KEPT_SECONDS at most, so that what it says of times
    relative to now stays true to the minute; 0 keeps none. What lies on one ``shelf``
    pushes nothing off another.

    1. Nobody's own answer is looked for or kept. 2. What is kept is sent as it is.
    3. Of many who ask for an absent one, the first makes it and the others wait for it.
    """

    def decorated(view: View) -> View:
        @wraps(view)
        def answer(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
            if not _is_anybodys(request):
                return view(request, *args, **kwargs)
            coding = best_coding(request.headers.get("Accept-Encoding", ""))
            name = f"{shelf}:{_name(request, coding, stamp())}"
            if (found := _found(name)) is not None:
                return _response(request, found, coding)
            if request.method == "HEAD":
                # What is made for it may be less than the page: nobody waits for it.
                return _told(request, name, coding, view(request, *args, **kwargs))
            with _turn(name) as (is_first, awaited):
                if awaited is not None:
                    return _response(request, awaited, coding)
                made = view(request, *args, **kwargs)
                if not is_first or not _may_be_kept(made, request):
                    return made
                return _response(request, _keep(name, coding, made), coding)

        return answer

    return decorated


def _is_anybodys(request: HttpRequest) -> bool:
    """Tell whether anybody else would be answered alike."""
    own = (settings.SESSION_COOKIE_NAME, "messages")
    return (
        settings.FRONTIERBOARD_KEPT_SECONDS > 0
        and request.method in {"GET", "HEAD"}
        and not any(name in request.COOKIES for name in own)
        and not any(name in request.headers for name in UNKEPT)
        and len(request.get_full_path()) <= LONGEST_ADDRESS
    )


def _may_be_kept(
    made: HttpResponseBase, request: HttpRequest
) -> TypeGuard[HttpResponse]:
    """Tell whether an answer holds nothing that is one reader's.

    Neither cookies nor a CSRF token, which no two readers may share; and nothing that
    the view says to be of the moment.
    """
    is_whole = isinstance(made, HttpResponse) and made.status_code == 200  # noqa: PLR2004
    return (
        is_whole
        and not made.cookies
        and not made.has_header("Cache-Control")
        and not request.META.get("CSRF_COOKIE_NEEDS_UPDATE")
        and not request.session.modified
    )


def _name(request: HttpRequest, coding: str, stamp: object) -> str:
    """Return the name of an answer: no two that differ have the same one."""
    parts = (
        *(VERSION, str(current_generation()), request.build_absolute_uri(), coding),
        *(request.headers.get(header, "") for header in SHAPING),
        str(stamp),
    )
    return sha256("\n".join(map(repr, parts)).encode()).hexdigest()


def _slot(name: str) -> str:
    shelf, _, digest = name.partition(":")
    return f"{shelf}:{int(digest[:8], 16) % SLOTS}"


def _found(name: str) -> Kept | None:
    found: Kept | None = cache.get(_slot(name))
    return found if found is not None and found.name == name else None


def _keep(name: str, coding: str, made: HttpResponse) -> Kept:
    """Pack an answer and keep it, unless it is too large."""
    found = _packed(name, coding, made)
    if len(found.body) <= MOST_BYTES:
        cache.set(_slot(name), found, settings.FRONTIERBOARD_KEPT_SECONDS)
    return found


def _told(
    request: HttpRequest, name: str, coding: str, made: HttpResponseBase
) -> HttpResponseBase:
    """Return an answer with the headers of a kept one."""
    if not _may_be_kept(made, request):
        return made
    return _response(request, _packed(name, coding, made), coding)


def _packed(name: str, coding: str, made: HttpResponse) -> Kept:
    etag = f'W/"{sha256(made.content).hexdigest()[:32]}"'
    return Kept(name, etag, tuple(made.items()), PACKERS[coding](made.content))


def _response(request: HttpRequest, found: Kept, coding: str) -> HttpResponse:
    body = gunzipped(found.body) if coding == "identity" else found.body
    response = HttpResponse(body, headers=dict(found.headers))
    if coding != "identity":
        response["Content-Encoding"] = coding
    response["ETag"] = found.etag
    # Who is logged in gets another answer, and nobody else may keep this one unasked.
    patch_vary_headers(response, ["Accept-Encoding", "Cookie"])
    response["Cache-Control"] = "no-cache"
    answer = get_conditional_response(request, etag=found.etag, response=response)
    return response if answer is None else answer


@contextmanager
def _turn(name: str) -> Iterator[tuple[bool, Kept | None]]:
    """Yield whether to make an answer for the others, or the one somebody else made."""
    claim = f"pages:{name}"
    try:
        is_first = bool(cache.add(claim, 1, CLAIM_S))
    except RedisError:
        # Nobody would find it.
        yield False, None
        return
    if not is_first:
        yield False, _awaited(name, claim)
        return
    try:
        yield True, None
    finally:
        _forget(claim)


def _awaited(name: str, claim: str) -> Kept | None:
    """Wait until an answer is there, or nobody makes one any more."""
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        time.sleep(LOOK_S)
        is_made = cache.get(claim) is None
        if (found := _found(name)) is not None or is_made:
            return found
    return None


def _forget(claim: str) -> None:
    try:
        cache.delete(claim)
    except RedisError as error:
        # It ends by itself.
        log.warning("claim stays", error=type(error).__name__)
