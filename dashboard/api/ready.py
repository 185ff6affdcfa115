"""Answers made of texts that are JSON already: joined, packed, never parsed again."""

import gzip
import zlib
from collections.abc import Callable, Iterable, Iterator
from hashlib import sha256

from django.core.cache import cache
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.utils.cache import patch_vary_headers

from dashboard.caching import current_generation, data_etag
from dashboard.vocabulary.version import VERSION

JSON = "application/json"
# A quarter of the time of the usual level for a tenth more bytes.
LEVEL = 1
# Bytes of a packed answer that is kept, and for how long at most.
MOST_KEPT = 8 << 20
KEPT_S = 86_400
GZIP_WINDOW = 16 + zlib.MAX_WBITS
# So many characters are sent at a time.
PIECE = 1 << 16


def ready_etag(request: HttpRequest, *_args: object, **_asked: object) -> str:
    """Return an ETag of data, software, address and packing."""
    packed = "-gzip" if _takes_gzip(request) else ""
    return f'{data_etag(request)[:-1]}{packed}"'


def array(
    request: HttpRequest, asked: object, make: Callable[[], Iterable[str]]
) -> HttpResponse:
    """Answer with an array of objects, kept until the data change.

    ``asked`` says what is asked for, apart from how the address writes it.
    """
    key = _key(request, asked)
    packed: bytes | None = cache.get(key)
    if packed is None:
        body = f"[{','.join(make())}]".encode()
        packed = gzip.compress(body, LEVEL, mtime=0)
        if len(packed) <= MOST_KEPT:
            cache.set(key, packed, KEPT_S)
    if _takes_gzip(request):
        return _response(packed, is_packed=True)
    return _response(gzip.decompress(packed), is_packed=False)


def whole(body: bytes) -> HttpResponse:
    """Answer with JSON that is small."""
    return _response(body, is_packed=False)


def _response(body: bytes, *, is_packed: bool) -> HttpResponse:
    response = HttpResponse(body, content_type=JSON)
    if is_packed:
        response["Content-Encoding"] = "gzip"
    patch_vary_headers(response, ["Accept-Encoding"])
    return response


def _key(request: HttpRequest, asked: object) -> str:
    text = f"{VERSION} {current_generation()} {request.path} {asked}"
    return f"ready:{sha256(text.encode()).hexdigest()}"


def streamed(request: HttpRequest, texts: Iterable[str]) -> StreamingHttpResponse:
    """Answer with an array that is sent while it is made."""
    pieces = _pieces(texts)
    is_packed = _takes_gzip(request)
    response = StreamingHttpResponse(
        _packed(pieces) if is_packed else pieces, content_type=JSON
    )
    if is_packed:
        response["Content-Encoding"] = "gzip"
    patch_vary_headers(response, ["Accept-Encoding"])
    return response


def _pieces(texts: Iterable[str]) -> Iterator[bytes]:
    """Join texts to an array, in pieces that are worth sending."""
    pending, size, separator = ["["], 0, ""
    for text in texts:
        pending.append(f"{separator}{text}")
        separator = ","
        size += len(text)
        if size >= PIECE:
            yield "".join(pending).encode()
            pending, size = [], 0
    pending.append("]")
    yield "".join(pending).encode()


def _packed(pieces: Iterable[bytes]) -> Iterator[bytes]:
    packer = zlib.compressobj(LEVEL, zlib.DEFLATED, GZIP_WINDOW)
    for piece in pieces:
        yield packer.compress(piece) + packer.flush(zlib.Z_SYNC_FLUSH)
    yield packer.flush()


def _takes_gzip(request: HttpRequest) -> bool:
    accepted = request.headers.get("Accept-Encoding", "")
    named = [part.strip().partition(";") for part in accepted.split(",")]
    return any(
        name == "gzip" and option.strip() not in {"q=0", "q=0.0"}
        for name, _, option in named
    )
