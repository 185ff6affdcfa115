"""Opening a zip from outside, and what reading it can raise, however it is broken."""

import lzma
import struct
import zipfile
import zlib
from pathlib import Path
from typing import BinaryIO

# bz2 raises OSError; RuntimeError is a password, NotImplementedError a method;
# ValueError an offset before the start, or a name that is no text.
UNREADABLE: tuple[type[Exception], ...] = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    EOFError,
    OSError,
    NotImplementedError,
    RuntimeError,
    ValueError,
    struct.error,
)

# The others unpack without bound, however little is asked for at a time.
METHODS = frozenset({zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED})
# Python makes an object of each entry before anybody can count them, 46 bytes at least.
LONGEST_DIRECTORY = 16 << 20
_SIZE_OF_DIRECTORY = 5  # its place in what zipfile reads of a zip's end


def open_archive(source: Path | BinaryIO) -> zipfile.ZipFile:
    """Open a zip whose directory is not too long; raises one of `UNREADABLE`."""
    if isinstance(source, Path):
        with source.open("rb") as file:
            _require_short_directory(file)
    else:
        _require_short_directory(source)
    return zipfile.ZipFile(source)


def _require_short_directory(file: BinaryIO) -> None:
    # The reader that ZipFile itself goes by: another could be told another size.
    end = zipfile._EndRecData(file)  # type: ignore[attr-defined]  # noqa: SLF001
    size = end[_SIZE_OF_DIRECTORY] if end else 0
    if size > LONGEST_DIRECTORY:
        text = f"its directory has {size} bytes, {LONGEST_DIRECTORY} allowed"
        raise zipfile.BadZipFile(text)
