"""Names as a database can hold and index them: whole characters, no endless text."""

import hashlib

_DIGEST = 12


def clean_text(text: str) -> str:
    """Return text without NUL and without halves of surrogate pairs."""
    clean = text.replace("\0", "\N{REPLACEMENT CHARACTER}")
    return clean.encode("utf-8", "replace").decode()


def shortened(text: str, length: int) -> str:
    """Cut a text; a digest at its end keeps different texts different."""
    if len(text) <= length:
        return text
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    return f"{text[: length - _DIGEST - 1]}~{digest[:_DIGEST]}"
