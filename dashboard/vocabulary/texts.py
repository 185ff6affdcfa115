"""Text from outside made inert: what would steer a terminal, a line or an eye."""

import re

LONGEST = 300
# What a spreadsheet takes for a formula, the full-width forms of the signs too.
FORMULA_STARTS = (*"=+-@\t\r\n", *"\uff1d\uff0b\uff0d\uff20")
# Direction marks, embeddings, overrides and isolates: they reorder what follows.
_BIDI = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_LINE_END = re.compile("[\u2028\u2029]")
_LOG_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_PICTURES = 0x2400
_DELETE, _DELETE_PICTURE = 0x7F, "\u2421"
_ASCII_CONTROLS = 0x20


def one_line(text: str, longest: int = LONGEST) -> str:
    """Return text as one line: no controls, nothing that turns its direction.

    What is longer than ``longest`` characters ends in an ellipsis.
    """
    if len(text) <= longest and text.isprintable() and text == " ".join(text.split()):
        return text
    plain = " ".join(_CONTROL.sub(" ", _BIDI.sub("", text)).split())
    return plain if len(plain) <= longest else f"{plain[: longest - 1]}\u2026"


def as_references(html: str) -> str:
    """Return HTML that means the same and holds what steers as references only.

    Ends of lines and tabs stay: in the source of a page they steer nothing.
    """
    if html.isprintable():  # which nothing is that steers
        return html
    for steering in (_BIDI, _LINE_END, _LOG_CONTROL):
        html = steering.sub(lambda found: f"&#x{ord(found[0]):x};", html)
    return html


def log_text(text: str) -> str:
    """Return lines of a log with control characters drawn instead of obeyed."""
    lines = text.replace("\r\n", "\n")
    return _LOG_CONTROL.sub(_picture, _BIDI.sub("\ufffd", lines))


def _picture(found: re.Match[str]) -> str:
    code = ord(found[0])
    if code < _ASCII_CONTROLS:
        return chr(_PICTURES + code)
    return _DELETE_PICTURE if code == _DELETE else "\ufffd"
