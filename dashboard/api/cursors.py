"""Cursors: where a page ended, written so that nobody builds on how.

A cursor holds the ids of the last row and a digest of what was asked. The next page
begins after that row, so that rows stored meanwhile never repeat or hide one.
"""

import binascii
from base64 import urlsafe_b64decode, urlsafe_b64encode
from hashlib import sha256

import orjson

from dashboard.api.errors import RequestFault
from dashboard.vocabulary.inputs import LARGEST_ID

LONGEST = 400
Place = tuple[int | str, ...]


def cursor_after(place: Place, question: object) -> str:
    """Return the cursor of what follows a row, for the same question only."""
    text = orjson.dumps([_digest(question), *place])
    return urlsafe_b64encode(text).decode().rstrip("=")


def place_of(cursor: str, question: object, first: Place) -> Place | None:
    """Return the place that a cursor means, None without one; raises RequestFault.

    ``first`` tells how many parts a place has, and their types.
    """
    if not cursor:
        return None
    digest, *place = _parts(cursor)
    if [type(part) for part in place] != [type(part) for part in first]:
        raise _no_cursor()
    if any(isinstance(part, int) and not 0 <= part <= LARGEST_ID for part in place):
        raise _no_cursor()
    if digest != _digest(question):
        said = "This cursor belongs to other filters: begin without one."
        raise RequestFault("cursor", said)
    return tuple(place)


def _parts(cursor: str) -> list[int | str]:
    try:
        padded = cursor[:LONGEST] + "=" * (-len(cursor) % 4)
        found = orjson.loads(urlsafe_b64decode(padded.encode("ascii")))
    except (binascii.Error, ValueError):
        raise _no_cursor() from None
    if not isinstance(found, list) or not found:
        raise _no_cursor()
    return found


def _no_cursor() -> RequestFault:
    allowed = ["what next_cursor of an answer says"]
    return RequestFault("cursor", "This is no cursor.", allowed=allowed)


def _digest(question: object) -> str:
    return sha256(repr(question).encode("utf-8", "replace")).hexdigest()[:12]
