"""Which member of a raw agentic tree holds the requests of a point."""

import re
from collections.abc import Iterable
from typing import NamedTuple

# An index holds the name, and entries of an index have an end.
LONGEST_NAME = 500
_MEMBER = re.compile(
    r"(?:(?P<top>.{0,400}?)/)?(?P<tree>aiperf_artifacts|trace_replay)/"
    r"(?:(?P<child>[^/]+)/)?profile_export\.jsonl"
)
_CONCURRENCY = re.compile(r"(?:^|/)conc_(\d{1,9})(?:/|$)")


class TraceFile(NamedTuple):
    """A file of requests: its name in the artifact, size in bytes, SHA-256.

    ``sha256`` is empty where the bytes are not kept.
    """

    member: str
    size: int
    sha256: str


def is_trace(member: str) -> bool:
    """Tell whether a member holds one line per request of a replay."""
    return len(member) <= LONGEST_NAME and _MEMBER.fullmatch(member) is not None


def concurrency_of(member: str) -> int | None:
    """Return the concurrency that the folders of a member name, None without."""
    found = _MEMBER.fullmatch(member)
    named = _CONCURRENCY.search(found["top"] or "") if found else None
    return int(named[1]) if named else None


def trace_of(
    members: Iterable[TraceFile], concurrency: int, *, is_alone: bool
) -> TraceFile | None:
    """Return the file of one concurrency, None where none or several could be meant.

    A folder ``conc_<N>`` says whose it is; a file without one counts where the
    artifact ``is_alone``, made for this concurrency only. The present tree comes
    before the older ``trace_replay``, and a file of the tree itself before one of its
    child. Equal bytes are one file, whatever they are called.
    """
    found = [file for file in members if is_trace(file.member)]
    own = [f for f in found if concurrency_of(f.member) == concurrency]
    if not own and is_alone:
        own = [f for f in found if concurrency_of(f.member) is None]
    ranked = sorted(own, key=_rank)
    best = [file for file in ranked if _rank(file)[:2] == _rank(ranked[0])[:2]]
    different = {file.sha256 or file.member for file in best}
    return best[0] if len(different) == 1 else None


def _rank(file: TraceFile) -> tuple[bool, bool, str]:
    found = _MEMBER.fullmatch(file.member)
    older = found is not None and found["tree"] == "trace_replay"
    return (older, bool(found and found["child"]), file.member)
