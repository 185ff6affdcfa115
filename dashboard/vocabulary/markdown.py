"""Text from outside as inert Markdown: it links, mentions and formats nothing."""

import re

from dashboard.vocabulary.texts import one_line

# What could format, link or leave a table's cell; within a line, not at its start.
_PUNCTUATION = re.compile(r"[\\`*_{}\[\]()<>#!|~&@:/.$]")
# Mentions and references are found after the Markdown was read, escaped or not.
_REFERENCES = re.compile(r"[@#](?=\w)|\bGH-(?=\d)", re.IGNORECASE)
_TICKS = re.compile("`+")
_WIDTHLESS = "\u200b"


def code(text: str, longest: int = 120) -> str:
    """Return text as a code span, where nothing is a link, a mention or a format."""
    line = one_line(text, longest)
    if not line:
        return ""
    runs = {len(found) for found in _TICKS.findall(line)}
    fence = "`" * next(n for n in range(1, len(runs) + 2) if n not in runs)
    pad = " " if line.startswith("`") or line.endswith("`") else ""
    # A table's cell ends at a bar even within code.
    bare = line.replace("|", "\\|")
    return f"{fence}{pad}{bare}{pad}{fence}"


def plain(text: str, longest: int = 600) -> str:
    """Return text that reads as it is written, without meaning to Markdown."""
    line = _REFERENCES.sub(lambda found: found[0] + _WIDTHLESS, one_line(text, longest))
    return _PUNCTUATION.sub(lambda found: f"\\{found[0]}", line)
