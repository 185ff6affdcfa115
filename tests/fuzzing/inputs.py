"""Bent artifacts: records, JSON bytes and archives, each made of one seed.

Hypothesis draws the seed only: drawing every choice by itself would take three times
as long as reading what comes of it.
"""

import copy
import io
import json
import stat
import struct
import warnings
import zipfile
from dataclasses import dataclass, field
from random import Random
from typing import Any

from hypothesis import strategies as st

from tests.fuzzing.sound import (
    BEFORE,
    BEHIND,
    IN_OTHER_ARTIFACT,
    IN_OTHER_MEMBER,
    SOUND,
    good,
    written,
)

Path = tuple[Any, ...]

ODD_TEXTS = (
    "",
    " ",
    "unknown",
    "NaN",
    "1e999",
    "true",
    "8",
    "-1",
    "8k/1k",
    "1_000",
    "\u0661\u0662",  # digits of another script
    "\u00b2",  # a digit that is no number
    "\ud800",  # half a pair
    "\0",
    "\u202e\u2066\u2028\x1b[31m",
    "=1+1",
    "a/../../b",
    "*" * 60,
    "0x10",
    "2026-13-45T99:00:00Z",
    "9999-12-31T23:59:59-23:59",
    "l" * 3000,
)
ODD_NUMBERS = (
    0,
    -0.0,
    -1,
    1,
    2**31,
    2**63,
    -(2**63) - 1,
    10**25,
    10**400,
    1e308,
    1e-320,
    -1e308,
    float("nan"),
    float("inf"),
    float("-inf"),
)
ODD_VALUES: tuple[object, ...] = (None, True, False, [], {}, [[]], {"": {}}, [None])
# Written in place of a marked text: what Python's writer would not write.
TOKENS = (
    b"1e999",
    b"-0",
    b"-1e-999",
    b"1" * 400,
    b'"\\ud83d"',
    b'"\\udc00\\ud800"',
    b'"\\u0000"',
    b'1,"conc":2,"tp":"x"',
    b"[" * 300 + b"]" * 300,
    b'{"a":' * 260 + b"1" + b"}" * 260,
)
BROKEN_TOKENS = (
    b"1" * 5000,
    b"[" * 5000 + b"]" * 5000,
    b"[" * 2000,
    b"1E+",
    b"'a'",
    b"\xff\xfe",
    b"\xef\xbb\xbf",
    b"//",
    b"nul",
    b'"\\x"',
    b"}",
    b"\0",
)
MEMBER_NAMES = (
    "../evil.json",
    "/etc/evil.json",
    "C:\\evil.json",
    "a\\b.json",
    "a//b.json",
    "./a.json",
    "n" * 5000 + ".json",
    "a\u202e.json",
    ".json",
    "results_\ufffd.json",
    "deep/" * 200 + "a.json",
)
METHODS = (
    zipfile.ZIP_STORED,
    zipfile.ZIP_DEFLATED,
    zipfile.ZIP_BZIP2,
    zipfile.ZIP_LZMA,
)
MARK = "@odd@"

ODD_LETTERS = "aZ09_-./ \t\n\"'\\{}<>&\u00e9\u4e2d\u202e\U0001f600"


def _odd(dice: Random) -> object:
    """Return a value that no sound record has in its place."""
    return dice.choice(
        (
            dice.choice(ODD_TEXTS),
            dice.choice(ODD_NUMBERS),
            dice.choice(ODD_VALUES),
            dice.randint(-10, 2**40),
            struct.unpack("<d", dice.randbytes(8))[0],
            _letters(dice, 6),
        )
    )


def _letters(dice: Random, most: int) -> str:
    return "".join(dice.choices(ODD_LETTERS, k=dice.randint(0, most)))


@dataclass(slots=True)
class Case:
    """A run's artifacts as (name, bytes of a zip), and which good rows must come out.

    ``streams``: the reader is given so little memory that it reads piece by piece.
    """

    artifacts: list[tuple[str, bytes]]
    survivors: set[int] = field(default_factory=set)
    streams: bool = False


def case_of(dice: Random) -> Case:
    """Make one bent artifact beside a sound one, which stands before or behind it."""
    bend = dice.choice((_bent_record, _bent_record, _bent_bytes, _bent_zip))
    case: Case = bend(dice)
    beside = ("bmk_good", packed([("good.json", written([good(IN_OTHER_ARTIFACT)]))]))
    case.artifacts.insert(dice.randint(0, 1), beside)
    case.survivors.add(IN_OTHER_ARTIFACT)
    return case


# A seed is all that is drawn, and all that a finding names.
cases = st.randoms(use_true_random=True).map(case_of)


def packed(members: list[tuple[str | zipfile.ZipInfo, bytes]]) -> bytes:
    """Write a zip."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name, content in members:
            archive.writestr(name, content)
    return stream.getvalue()


def _bent_record(dice: Random) -> Case:
    """Bend values of a record; in an array it stands between two good ones."""
    name, member, value = dice.choice(SOUND)
    # What is streamed is strict JSON: there is nothing lenient that reads piecewise.
    streams = dice.choice((True, False))
    bent = value
    for _ in range(dice.randint(1, 4)):
        bent = _bend(dice, bent)
    survivors = set()
    if isinstance(value, list) and isinstance(bent, list) and name == "results_bmk":
        bent = [good(BEFORE), *bent, good(BEHIND)]
        survivors = {BEFORE, BEHIND}
    content = written(bent)
    if streams and _is_lenient(content):
        streams = False
    token = dice.choice(TOKENS)
    content = content.replace(f'"{MARK}"'.encode(), token)
    if not _is_json(content):
        survivors = set()
    return _beside_member(name, member, content, survivors, streams=streams)


def _is_lenient(content: bytes) -> bool:
    return any(word in content for word in (b"NaN", b"Infinity"))


def _is_json(content: bytes) -> bool:
    """Ask another parser than the ones that are tested."""
    try:
        json.loads(content)
    except ValueError:
        return False
    return True


def _beside_member(
    name: str, member: str, content: bytes, survivors: set[int], *, streams: bool
) -> Case:
    members: list[tuple[str | zipfile.ZipInfo, bytes]] = [(member, content)]
    if name == "results_bmk":
        members.append(("agg_good.json", written([good(IN_OTHER_MEMBER)])))
        survivors = survivors | {IN_OTHER_MEMBER}
    return Case([(name, packed(members))], survivors, streams)


def _bend(dice: Random, value: Any) -> Any:
    """Change one place of a value: replaced, taken out, renamed, wrapped or doubled."""
    path = dice.choice(_paths(value))
    if not path:
        return value if isinstance(value, list) else _odd(dice)
    value = copy.deepcopy(value)
    holder = value
    for step in path[:-1]:
        holder = holder[step]
    _CHANGES[dice.randint(0, len(_CHANGES) - 1)](dice, holder, path[-1])
    return value


def _paths(value: object, path: Path = ()) -> list[Path]:
    found = [path]
    inner: list[tuple[Any, Any]] = []
    if isinstance(value, dict):
        inner = list(value.items())
    elif isinstance(value, list):
        inner = list(enumerate(value))
    for step, part in inner[:60]:
        found += _paths(part, (*path, step))
    return found


def _replace(dice: Random, holder: Any, step: Any) -> None:
    holder[step] = _odd(dice)


def _mark(_dice: Random, holder: Any, step: Any) -> None:
    holder[step] = MARK


def _take_out(_dice: Random, holder: Any, step: Any) -> None:
    del holder[step]


def _rename(dice: Random, holder: Any, step: Any) -> None:
    if isinstance(holder, dict):
        holder[dice.choice((*ODD_TEXTS, _letters(dice, 4)))] = holder.pop(step)


def _wrap(dice: Random, holder: Any, step: Any) -> None:
    inner = holder[step]
    holder[step] = [inner] if dice.choice((True, False)) else {str(step): inner}


def _as_text(_dice: Random, holder: Any, step: Any) -> None:
    holder[step] = str(holder[step])


def _double(dice: Random, holder: Any, step: Any) -> None:
    if isinstance(holder, list):
        holder.extend([holder[step]] * dice.randint(1, 20))
    else:
        holder[f"{step}2"] = holder[step]


_CHANGES = (
    _replace,
    _replace,
    _replace,
    _mark,
    _take_out,
    _rename,
    _wrap,
    _as_text,
    _double,
)


def _bent_bytes(dice: Random) -> Case:
    """Bend the bytes of a member's JSON."""
    name, member, value = dice.choice(SOUND)
    content = written(value)
    for _ in range(dice.randint(1, 4)):
        content = _bend_bytes(dice, content)
    return _beside_member(
        name, member, content, set(), streams=dice.choice((True, False))
    )


def _bend_bytes(dice: Random, content: bytes) -> bytes:
    """Overwrite, insert, cut or repeat a piece."""
    start = dice.randint(0, len(content))
    end = min(len(content), start + dice.choice((0, 1, 1, 2, 8, 64, 4096)))
    token = dice.choice((*TOKENS, *BROKEN_TOKENS, dice.randbytes(dice.randint(0, 4))))
    piece = dice.choice((token, b"", content[start:end] * 3))
    return content[:start] + piece + content[end:]


def _bent_zip(dice: Random) -> Case:
    """Bend an archive: its members' headers by rules, then its bytes by chance."""
    name, member, value = dice.choice(SOUND)
    members = [
        (_odd_info(dice, member), _odd_content(dice, value))
        for _ in range(dice.randint(1, 3))
    ]
    archive = bytearray(_packed_oddly(members))
    for _ in range(dice.randint(0, 4)):
        _bend_archive(dice, archive)
    return Case([(name, bytes(archive))], streams=dice.choice((True, False)))


def _packed_oddly(members: list[tuple[zipfile.ZipInfo, bytes]]) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive, warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of two equal names
        for info, content in members:
            archive.writestr(info, content)
    return stream.getvalue()


def _odd_info(dice: Random, member: str) -> zipfile.ZipInfo:
    name = dice.choice((member, member, member, *MEMBER_NAMES))
    info = zipfile.ZipInfo(name)
    info.compress_type = dice.choice((zipfile.ZIP_DEFLATED, *METHODS))
    if dice.randint(0, 9) == 0:
        info.external_attr = (stat.S_IFLNK | 0o777) << 16
    return info


def _odd_content(dice: Random, value: object) -> bytes:
    kind = dice.randint(0, 30)
    if kind == 0:
        return b" " * (1_200_000)  # unpacks to more than its packed size allows
    if kind == 1:
        return packed([("inner.json", written(value))])
    return written(value)


def _bend_archive(dice: Random, archive: bytearray) -> None:
    """Change bytes where headers are, or anywhere."""
    signature = dice.choice((b"PK\x03\x04", b"PK\x01\x02", b"PK\x05\x06", b""))
    base = max(archive.rfind(signature), 0) if signature else 0
    reach = 46 if signature else max(len(archive) - 1, 0)
    place = min(base + dice.randint(0, reach), max(len(archive) - 4, 0))
    change = dice.randint(0, 3)
    if change == 0:
        del archive[place:]
    elif change == 1:
        archive[place : place + 4] = struct.pack("<I", dice.randint(0, 2**32 - 1))
    elif change == 2:
        archive[place:place] = dice.randbytes(dice.randint(0, 8))
    elif archive:
        archive[place] ^= 1 << dice.randint(0, 7)
