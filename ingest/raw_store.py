"""Raw artifact bytes, kept for good under their sha256."""

from typing import BinaryIO

from django.core.files import File
from django.core.files.storage import Storage, storages

from dashboard.vocabulary.raw_files import raw_path


def keep(stream: BinaryIO, sha256: str, size: int) -> bool:
    """Store bytes under their hash; return False where they already were.

    A file of another size is what a killed worker left: it is written again.
    """
    storage, path = storages["raw"], raw_path(sha256)
    if _stored_size(storage, path) == size:
        return False
    # Overwrites: two workers that keep the same bytes write the same file.
    storage.save(path, File(stream))
    return True


def kept_file(sha256: str) -> BinaryIO | None:
    """Open the bytes of a hash, None where they are not kept."""
    try:
        # Django's File reads as the file it wraps does.
        return storages["raw"].open(raw_path(sha256))  # type: ignore[return-value]
    except FileNotFoundError:
        return None


def _stored_size(storage: Storage, path: str) -> int | None:
    try:
        return storage.size(path)
    except FileNotFoundError:
        return None
