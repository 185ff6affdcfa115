"""Where the raw bytes of a run lie in the store, by their sha256."""


def raw_path(sha256: str) -> str:
    """Return where bytes lie. One level of folders: each costs as much as a file."""
    return f"{sha256[:2]}/{sha256}"
