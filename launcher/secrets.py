"""The secret key that a data folder keeps for itself."""

import os
import secrets
import tempfile
from pathlib import Path


def kept_secret_key(data: Path) -> str:
    """Return the data folder's secret key; the first call makes it.

    The key is written aside and linked into place, so that two processes that start
    together read the same whole key. Raises OSError when the folder is not writable.
    """
    path = data / "secret-key"
    if not path.exists():
        data.mkdir(parents=True, exist_ok=True)
        _place(path, secrets.token_urlsafe(50))
    return path.read_text(encoding="ascii").strip()


def _place(path: Path, text: str) -> None:
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=".secret-key-")
    with os.fdopen(descriptor, "w", encoding="ascii") as file:
        file.write(text)
    try:
        os.link(name, path)
    except FileExistsError:
        return  # another process was first: its key counts
    finally:
        Path(name).unlink()
