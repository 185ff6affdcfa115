"""Raw artifact bytes, kept for good under their sha256."""

from typing import BinaryIO

from django.core.files import File
from django.core.files.storage import Storage, storages


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


def _storage() -> Storage:
    return storages["raw"]
