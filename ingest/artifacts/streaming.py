"""The records of an array of JSON, one by one, without holding the array."""

import re
from collections.abc import Iterator
from typing import BinaryIO

from ingest.artifacts.json_reading import BOM, BadJsonError, TooLargeError, parse
from ingest.artifacts.members import MemberError, read_some

_CHUNK = 1 << 20
# What is passed over in one go: whole strings and all that is no sign. Commas are signs
# only between the elements. A quotation mark that is left begins an incomplete string.
_BETWEEN = re.compile(rb'(?:[^"\[\]{},]++|"(?:[^"\\]++|\\.)*+")*+', re.DOTALL)
_WITHIN = re.compile(rb'(?:[^"\[\]{}]++|"(?:[^"\\]++|\\.)*+")*+', re.DOTALL)
_OPEN, _CLOSED = frozenset(b"[{"), frozenset(b"]}")
_WHITE = b" \t\r\n"


def starts_with_array(stream: BinaryIO) -> bool:
    """Tell whether the first sign of the bytes opens an array."""
    while chunk := read_some(stream, 4096):
        text = chunk.removeprefix(BOM).lstrip()
        if text:
            return text.startswith(b"[")
    return False


def stream_records(stream: BinaryIO, record_limit: int) -> Iterator[object]:
    """Yield the elements of a top-level array, as `parse` reads each.

    ``record_limit`` is in bytes. Raises `BadJsonError`, after the elements that stand
    before the fault.
    """
    for text in _Elements(stream, record_limit):
        yield parse(text).value


class _Elements:
    """Cuts the text of an array into those of its elements.

    Only strings and brackets are looked at; whether an element is JSON, and whether
    its brackets are a pair, its parser finds.
    """

    def __init__(self, stream: BinaryIO, allowed: int) -> None:
        self._stream = stream
        self._allowed = allowed
        self._text = b""  # from the end of the last element on
        self._place = 0  # how far of it was looked at
        self._depth = 0
        self._is_over = False

    def __iter__(self) -> Iterator[bytes]:
        has_elements = False
        while self._read():
            for text in self._complete():
                # Nothing at all is no element, but between commas it is a fault.
                if has_elements or not self._is_over or text.strip(_WHITE):
                    yield text
                has_elements = True
            if self._is_over and self._text.strip(_WHITE):
                raise BadJsonError("something stands outside of the array")
        if not self._is_over:
            raise BadJsonError("the text ends within the array")

    def _read(self) -> bool:
        self._require_short(len(self._text))
        try:
            chunk = read_some(self._stream, _CHUNK)
        except MemberError as error:
            raise BadJsonError(str(error)) from error
        self._text += chunk
        return chunk != b""

    def _complete(self) -> Iterator[bytes]:
        """Yield the elements that end in what was read so far."""
        begin = 0
        while (place := self._next_sign()) is not None:
            sign = self._text[place]
            self._place = place + 1
            self._step(sign)
            if self._depth == 1 and sign in _OPEN:
                begin = self._place
            elif self._ends(sign):
                self._require_short(place - begin)
                yield self._text[begin:place]
                begin = self._place
        self._text = self._text[begin:]
        self._place -= begin

    def _next_sign(self) -> int | None:
        """Return where the next bracket or comma is; None where more must be read."""
        skipped = _BETWEEN if self._depth <= 1 else _WITHIN
        found = skipped.match(self._text, self._place)
        self._place = found.end() if found else self._place
        is_cut = self._text[self._place : self._place + 1] in (b"", b'"')
        return None if is_cut else self._place

    def _step(self, sign: int) -> None:
        """Follow the depth; only one array stands at the top."""
        if self._depth == 0 and (self._is_over or sign != ord("[")):
            raise BadJsonError("something stands outside of the array")
        if sign in _OPEN:
            self._depth += 1
        elif sign in _CLOSED:
            self._depth -= 1
            self._is_over = self._depth == 0

    def _require_short(self, length: int) -> None:
        if length > self._allowed:
            raise TooLargeError(f"a record is longer than {self._allowed} bytes")

    def _ends(self, sign: int) -> bool:
        """Tell whether a sign stands behind an element of the array."""
        if sign in _CLOSED:
            return self._depth == 0
        return sign == ord(",") and self._depth == 1
