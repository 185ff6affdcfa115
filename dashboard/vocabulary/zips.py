"""What reading a zip from outside can raise, whichever way it is broken."""

import lzma
import zipfile
import zlib

# bz2 raises OSError; RuntimeError is a password, NotImplementedError a method.
UNREADABLE: tuple[type[Exception], ...] = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    EOFError,
    OSError,
    NotImplementedError,
    RuntimeError,
)
