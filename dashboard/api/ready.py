"""Answers made of texts that are JSON already: joined, packed, never parsed again."""

from collections.abc import Callable, Iterable, Iterator
from hashlib import sha256

from django.core.cache import cache
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.utils.cache import patch_vary_headers
from isal import isal_zlib

from dashboard.caching import current_generation, data_etag
from dashboard.compression import GZIP_WINDOW, LEVEL, gunzipped, gzipped
from dashboard.vocabulary.version import VERSION

JSON = "application/json"
# Bytes of a packed answer that is kept, how many are, and for how long at most.
MOST_KEPT, SLOTS = 12 << 20, 32
KEPT_S = 86_400
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
    name = _name(request, asked)
    found = _found(name)
    if found is None:
        found = gzipped(f"[{','.join(make())}]".encode())
        _keep(name, found)
    if _takes_gzip(request):
        return _response(found, is_packed=True)
    return _response(gunzipped(found), is_packed=False)


def whole(body: bytes) -> HttpResponse:
    """Answer with JSON that is small."""
    return _response(body, is_packed=False)


def _response(body: bytes, *, is_packed: bool) -> HttpResponse:
    response = HttpResponse(body, content_type=JSON)
    if is_packed:
        response["Content-Encoding"] = "gzip"
    patch_vary_headers(response, ["Accept-Encoding"])
    return response


def _name(request: HttpRequest, asked: object) -> str:
    text = f"{VERSION} {current_generation()} {request.path} {asked}"
    return sha256(text.encode()).hexdigest()


def _slot(name: str) -> str:
    """Return where an answer lies: whatever is asked for, there are SLOTS places."""
    return f"ready:{int(name[:8], 16) % SLOTS}"


def _found(name: str) -> bytes | None:
    kept: tuple[str, bytes] | None = cache.get(_slot(name))
    return kept[1] if kept is not None and kept[0] == name else None


def _keep(name: str, packed: bytes) -> None:
    if len(packed) <= MOST_KEPT:
        cache.set(_slot(name), (name, packed), KEPT_S)


def streamed(
    request: HttpRequest, asked: object, texts: Iterable[str]
) -> HttpResponse | StreamingHttpResponse:
    """Answer with an array that is sent while it is made, and kept when it is packed.

    ``asked`` says what is asked for, as in :func:`array`.
    """
    name, is_packed = _name(request, asked), _takes_gzip(request)
    kept = _found(name) if is_packed else None
    if kept is not None:
        return _response(kept, is_packed=True)
    pieces = _pieces(texts)
    response = StreamingHttpResponse(
        _kept(name, _packed(pieces)) if is_packed else pieces, content_type=JSON
    )
    if is_packed:
        response["Content-Encoding"] = "gzip"
    patch_vary_headers(response, ["Accept-Encoding"])
    return response


def _kept(name: str, pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Send packed pieces on, and keep them once all were made."""
    sent, size = list[bytes](), 0
    for piece in pieces:
        size += len(piece)
        if size <= MOST_KEPT:
            sent.append(piece)
        yield piece
    if size <= MOST_KEPT:
        _keep(name, b"".join(sent))


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
    packer = isal_zlib.compressobj(LEVEL, isal_zlib.DEFLATED, GZIP_WINDOW)
    for piece in pieces:
        yield packer.compress(piece) + packer.flush(isal_zlib.Z_SYNC_FLUSH)
    yield packer.flush()


def _takes_gzip(request: HttpRequest) -> bool:
    accepted = request.headers.get("Accept-Encoding", "")
    named = [part.strip().partition(";") for part in accepted.split(",")]
    return any(
        name == "gzip" and option.strip() not in {"q=0", "q=0.0"}
        for name, _, option in named
    )
