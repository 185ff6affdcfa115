"""The ends of stored server logs of points that did not come: why they failed."""

import re
from collections.abc import Iterable
from typing import NamedTuple

from django.core.files.storage import storages
from django.db.models import Q

from dashboard.models import Artifact, Point, Run
from dashboard.vocabulary.frameworks import canonical_framework
from dashboard.vocabulary.raw_files import raw_path
from dashboard.vocabulary.texts import log_text

SERVER_LOGS = "server_logs"
LONGEST_TAIL = 16 * 1024
MOST_LOGS = 12
_NAME = re.compile(
    r"_(?P<precision>[^_]{1,20})_(?P<framework>[^_]{1,40})_tp(?P<tp>\d{1,5})[^_]*"
    r"_disagg-(?:true|false)_spec-(?P<spec>[A-Za-z0-9_]{1,40}?)"
    r"_conc(?P<conc>\d{1,9}(?:x\d{1,9})*)"
)
_TEXTS = (".log", ".txt", ".out", ".err")


class LogTail(NamedTuple):
    """The end of one log. ``text`` is inert; ``left_out`` counts bytes before it."""

    artifact: str
    member: str
    attempt: int
    text: str
    left_out: int


class _Place(NamedTuple):
    """What a log's name and a point both tell."""

    tp: int | None
    spec: str
    framework: str
    precision: str
    concurrency: int


class _Member(NamedTuple):
    name: str
    size: int
    sha256: str


def failed_logs(run: Run, artifacts: Iterable[Artifact]) -> list[LogTail]:
    """Return the ends of the stored server logs that no point of the run came of.

    A point that a person took out did come.

    At most ``MOST_LOGS``, ``LONGEST_TAIL`` bytes each.
    """
    logs = [a for a in artifacts if a.kind == SERVER_LOGS and a.members]
    measured = _measured(run) if logs else set()
    failed = [log for log in logs if measured.isdisjoint(_places(log.name))]
    tails = (_tail(log) for log in failed[:MOST_LOGS])
    return [tail for tail in tails if tail is not None]


def _measured(run: Run) -> set[_Place]:
    came = Point.objects.filter(
        Q(is_current=True) | Q(is_excluded=True), sweep__run=run
    )
    rows = came.values_list(
        "deployment__tp",
        "deployment__spec_method",
        "sweep__config_key__framework",
        "sweep__precision",
        "concurrency",
    )
    return {
        _Place(tp, spec, canonical_framework(framework), precision, concurrency)
        for tp, spec, framework, precision, concurrency in rows
    }


def _places(name: str) -> list[_Place]:
    """Return which points a log is of; none where its name does not tell."""
    found = _NAME.search(name)
    if found is None:
        return []
    return [
        _Place(
            int(found["tp"]),
            found["spec"].lower(),
            canonical_framework(found["framework"].lower()),
            found["precision"].lower(),
            int(concurrency),
        )
        for concurrency in found["conc"].split("x")
    ]


def _tail(artifact: Artifact) -> LogTail | None:
    """Return the end of an artifact's longest text, None where it is not stored."""
    members = [_Member(*member) for member in artifact.members]
    texts = [m for m in members if m.sha256 and m.name.lower().endswith(_TEXTS)]
    if not texts:
        return None
    member = max(texts, key=lambda m: m.size)
    left_out = max(member.size - LONGEST_TAIL, 0)
    try:
        with storages["raw"].open(raw_path(member.sha256), "rb") as stream:
            stream.seek(left_out)
            end = stream.read(LONGEST_TAIL)
    except OSError:  # deleted, or the store cannot be used: the page does without
        return None
    text = log_text(end.decode(errors="replace"))
    return LogTail(artifact.name, member.name, artifact.attempt, text, left_out)
