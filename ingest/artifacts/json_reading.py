"""JSON bytes to values and back to one canonical text; lenient, lossless, bounded."""

import hashlib
import json
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import orjson

# What the fast writer takes: 254 lists within each other, and what is in them.
_DEPTH = 255
BOM = b"\xef\xbb\xbf"
# Whole numbers of 20 digits and more, which the fast parser would round. Where 2 digits
# begin, and 2 again 2 places behind, 4 do; then 8, 16 and 20.
_LONG = 20
_REACHES = (1, 2, 4, 8, 4)
_PART = 1 << 16  # bytes, and as many truths: they stay in the processor's cache
_WHOLE = re.compile(rb"[0-9]+(?![0-9.eE])")
# By sign: whether it may stand within a number before more of its digits.
_GOES_ON = np.isin(np.arange(256), list(b"0123456789.eE+"))


class BadJsonError(ValueError):
    """Bytes that are not JSON, or nested too deeply; the message says where."""


class TooLargeError(BadJsonError):
    """Bytes that would take more memory than they are allowed."""


@dataclass(frozen=True, slots=True)
class Parsed:
    """A value, and whether the fast parser took it (then it has no NaN in it)."""

    value: object
    strict: bool


def parse(data: bytes) -> Parsed:
    """Parse JSON; NaN, infinities, long integers and lone surrogates are allowed.

    Raises `BadJsonError`.
    """
    data = data.removeprefix(BOM)
    if not _has_long_integer(data):
        try:
            return Parsed(orjson.loads(data), strict=True)
        except orjson.JSONDecodeError:
            pass
    return Parsed(_lenient(data), strict=False)


def _has_long_integer(data: bytes) -> bool:
    return any(_WHOLE.match(data, start) for start in _long_numbers(data))


def _long_numbers(data: bytes) -> Iterator[int]:
    """Yield where numbers begin that have 20 digits before any other sign."""
    signs = np.frombuffer(data, np.uint8)
    for start in range(0, len(signs), _PART):
        # Without a sign below zero: what is less than "0" becomes a large number.
        runs = signs[start : start + _PART + _LONG - 1] - ord("0") < 10  # noqa: PLR2004
        for reach in _REACHES:
            runs = runs[:-reach] & runs[reach:]
        if runs.any():
            places = start + np.flatnonzero(runs)
            begins = (places == 0) | ~_GOES_ON[signs[places - 1]]
            yield from places[begins].tolist()


def _lenient(data: bytes) -> object:
    try:
        return json.loads(data.decode("utf-8", "surrogatepass"))
    except UnicodeDecodeError as error:
        raise BadJsonError(f"not UTF-8 at byte {error.start}") from error
    except json.JSONDecodeError as error:
        where = f"line {error.lineno} column {error.colno}"
        raise BadJsonError(f"{error.msg} at {where}") from error
    except RecursionError as error:
        raise BadJsonError("nested too deeply") from error
    except ValueError as error:
        raise BadJsonError(str(error)) from error


def canonical(value: object, *, strict: bool = False) -> tuple[str, str]:
    """Return the canonical text of a value and the SHA-256 of it, hex.

    Keys are sorted, no spaces. Equal content gives equal text whatever it was read
    from; NaN and infinities stay as tokens. ``strict`` says that the value has none.
    Raises `BadJsonError` where it is nested too deeply.
    """
    try:
        encoded = _encoded(value, strict=strict)
    except RecursionError as error:
        raise BadJsonError("nested too deeply") from error
    return encoded.decode(), hashlib.sha256(encoded).hexdigest()


def _encoded(value: object, *, strict: bool) -> bytes:
    if strict or _is_finite(value, _DEPTH):
        try:
            return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
        except orjson.JSONEncodeError:
            # Long integers, lone surrogates, or too deep: the slow writer decides.
            _is_finite(value, _DEPTH)
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()


def _is_finite(value: object, depth: int) -> bool:
    if depth == 0:
        raise BadJsonError("nested too deeply")
    if isinstance(value, float):
        return math.isfinite(value)
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        # All of them, not up to the first NaN: what stands behind may be too deep.
        found = [_is_finite(inner, depth - 1) for inner in value]
        return all(found)
    return True


def is_storable(text: str) -> bool:
    """Tell whether a canonical text holds no escape of what tables cannot hold."""
    # Hardly any text has an escape at all, which is seen at once.
    return "\\" not in text or ("\\u0000" not in text and "\\ud" not in text)


def storable(value: object) -> object:
    """Return a value whose strings a table can hold.

    NUL and lone surrogates, which PostgreSQL refuses, become U+FFFD.
    """
    if isinstance(value, str):
        text = value.replace("\0", "\ufffd")
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, dict):
        return {storable(name): storable(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [storable(inner) for inner in value]
    return value
