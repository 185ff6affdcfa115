"""Raw artifact bytes, kept for good under their sha256."""

import hashlib
from typing import BinaryIO

from django.core.files import File
from django.core.files.storage import Storage, storages

CHUNK = 1 << 20


def raw_path(sha256: str) -> str:
    """Return where bytes lie: two levels of folders keep listings short."""
    return f"{sha256[:2]}/{sha256[2:4]}/{sha256}"


def is_kept(sha256: str, size: int) -> bool:
    """Tell whether bytes are stored whole. A torn write has another size."""
    storage, path = _storage(), raw_path(sha256)
    return storage.exists(path) and storage.size(path) == size


def keep(stream: BinaryIO, sha256: str, size: int) -> bool:
    """Store bytes under their hash; return False where they already were.

    A file of the wrong size is what a killed worker left: it is written again.
    """
    if is_kept(sha256, size):
        return False
    storage, path = _storage(), raw_path(sha256)
    if storage.exists(path):
        storage.delete(path)
    storage.save(path, File(stream))
    return True


def open_raw(sha256: str) -> File[bytes]:
    """Open stored bytes; FileNotFoundError where they are not kept."""
    return _storage().open(raw_path(sha256))


def digest_of(stream: BinaryIO) -> tuple[str, int]:
    """Return sha256 and size of a stream, read in pieces."""
    digest, size = hashlib.sha256(), 0
    while piece := stream.read(CHUNK):
        digest.update(piece)
        size += len(piece)
    return digest.hexdigest(), size


def _storage() -> Storage:
    return storages["raw"]
