"""Samples of an eval: each line of a file is one document as one filter read it."""

import math
import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import PurePosixPath
from typing import BinaryIO, NamedTuple

import orjson

from ingest.artifacts.json_reading import BadJsonError, parse
from ingest.conversion.evals import time_in
from ingest.conversion.records import RefusedError

# From here on an answer counts as right; scores between are shares of credit.
PASSING = 0.5
LONGEST_FILTER = 60
_LARGEST = 2**31 - 1
_NAME = re.compile(
    r"samples_(?P<task>.+?)"
    r"(?P<time>_\d{4}-\d{2}-\d{2}T\d{2}-\d{2}-\d{2}(?:\.\d{1,6})?)?"
    r"(?:_conc(?P<conc>\d{1,9})(?:_\d{1,9})?)?\.jsonl"
)
_USUAL_METRICS = ("exact_match", "acc")
_SCRAPS = 1 << 20


class SampleFile(NamedTuple):
    """What the name of a samples file tells; None is what it does not."""

    member: str
    task: str
    time: datetime | None
    concurrency: int | None


class Sample(NamedTuple):
    """One document as one filter read its answer; texts hold no NUL."""

    doc_id: int
    filter: str
    score: float | None
    passed: bool
    prompt: str
    target: str
    answer: str
    extracted: str


def sample_file(member: str) -> SampleFile | None:
    """Read the name ``samples_<task>_<time>[_conc<n>].jsonl``; None for others."""
    found = _NAME.fullmatch(PurePosixPath(member).name)
    if found is None:
        return None
    conc = found["conc"]
    return SampleFile(
        member,
        found["task"],
        time_in(found["time"] or ""),
        int(conc) if conc else None,
    )


def lines(stream: BinaryIO, longest: int) -> Iterator[tuple[int, bytes | None]]:
    """Yield numbered lines that are not blank, None in place of one that is too long.

    ``longest`` is in bytes. No more than one line is in memory.
    """
    number = 0
    while line := stream.readline(longest + 1):
        number += 1
        if len(line) > longest and not line.endswith(b"\n"):
            _leave_line(stream)
            yield number, None
        elif line.strip():
            yield number, line


def _leave_line(stream: BinaryIO) -> None:
    while rest := stream.readline(_SCRAPS):
        if rest.endswith(b"\n"):
            return


def sample_of(line: bytes) -> Sample:
    """Read one line; raises `RefusedError` ``bad_sample``."""
    try:
        value = parse(line.replace(b"\0", b"")).value
    except BadJsonError as error:
        raise RefusedError("bad_sample", f"not JSON: {error}") from error
    if not isinstance(value, Mapping):
        raise RefusedError("bad_sample", "the line is no object")
    score = _score(value)
    return Sample(
        doc_id=_document(value.get("doc_id")),
        filter=_filter(value.get("filter")),
        score=score,
        passed=score is not None and score >= PASSING,
        prompt=_text(_first_argument(value.get("arguments"))),
        target=_text(value.get("target")),
        answer=_text(_first_leaf(value.get("resps"))),
        extracted=_text(_first_leaf(value.get("filtered_resps"))),
    )


def _document(value: object) -> int:
    is_whole = isinstance(value, int) and not isinstance(value, bool)
    if not is_whole or not 0 <= value <= _LARGEST:  # type: ignore[operator]
        raise RefusedError("bad_sample", "doc_id is no whole number")
    return value  # type: ignore[return-value]


def _filter(value: object) -> str:
    if value is None:
        return "none"
    name = _text(value)
    if not isinstance(value, str) or not 0 < len(name) <= LONGEST_FILTER:
        raise RefusedError("bad_sample", "filter is no name")
    return name


def _score(value: Mapping[str, object]) -> float | None:
    """Return the bare metric of a line: the first that it lists, else a usual one."""
    listed = value.get("metrics")
    named = listed if isinstance(listed, list) else []
    for name in (*named, *_USUAL_METRICS):
        score = value.get(name) if isinstance(name, str) else None
        if isinstance(score, int | float) and math.isfinite(score):
            return float(score)
    return None


def _first_argument(value: object) -> object:
    """Return the prompt of ``[[prompt, settings]]`` or of ``{"gen_args_0": {...}}``."""
    if isinstance(value, Mapping):
        first = value.get("gen_args_0", next(iter(value.values()), None))
        return first.get("arg_0") if isinstance(first, Mapping) else first
    return _first_leaf(value)


def _first_leaf(value: object) -> object:
    while isinstance(value, list):
        value = value[0] if value else None
    return value


def _text(value: object) -> str:
    """Return a value as a text that tables can hold."""
    if value is None:
        return ""
    text = value if isinstance(value, str) else orjson.dumps(value).decode()
    text = text.replace("\0", "")
    try:
        text.encode()
    except UnicodeEncodeError:  # a lone half of a pair
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text
