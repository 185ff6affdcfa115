"""Which runs a link asks to see: ``unofficialRun(s)`` in the forms people paste."""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from django.http import QueryDict

from dashboard.vocabulary.inputs import LARGEST_ID
from dashboard.vocabulary.links import REPOSITORY
from dashboard.vocabulary.texts import one_line

MOST_RUNS = 8
WRITTEN = "unofficialruns"
_NAMES = frozenset({"unofficialrun", "unofficialruns"})
_LARGEST_ATTEMPT = 2**31 - 1
_LONGEST_QUOTE = 80
_MOST_QUOTED = 20
_PLAIN = re.compile(r"([0-9]{1,19})(?:/attempts/([0-9]{1,10}))?/?")
_ADDRESS = re.compile(
    rf"(?:https?://)?[A-Za-z0-9.:-]+/({REPOSITORY})"
    r"/actions/runs/([0-9]{1,19})(?:/attempts/([0-9]{1,10}))?(?:[/?#].*)?"
)


class AskedRun(NamedTuple):
    """One run of a link. Without an attempt the newest usable points of all count.

    ``repository`` is the owner/name of an address, empty where an id came alone.
    """

    run_id: int
    attempt: int | None = None
    repository: str = ""

    @property
    def token(self) -> str:
        """Return how the run is written in a link."""
        attempt = "" if self.attempt is None else f"/attempts/{self.attempt}"
        if self.repository:
            of = f"https://github.com/{self.repository}/actions/runs/"
            return f"{of}{self.run_id}{attempt}"
        return f"{self.run_id}{attempt}"

    @property
    def label(self) -> str:
        """Return the run and its attempt in words."""
        of = "" if self.attempt is None else f", attempt {self.attempt}"
        return f"run {self.run_id}{of}"


class Asked(NamedTuple):
    """What a link asks for: the usable runs, and a sentence per refused part."""

    runs: tuple[AskedRun, ...] = ()
    refused: tuple[str, ...] = ()
    name: str = WRITTEN

    @property
    def is_unusable(self) -> bool:
        """Tell whether runs were asked for and none of them can be shown."""
        return bool(self.refused) and not self.runs


def is_parameter(name: str) -> bool:
    """Tell whether a parameter, in any case, names unofficial runs."""
    return name.lower() in _NAMES


def asked_runs(query: QueryDict) -> Asked:
    """Read every such parameter: a comma list of ids or addresses of runs.

    Blanks are trimmed and duplicates folded. At most ``MOST_RUNS`` runs are taken.
    """
    named = [name for name in query if is_parameter(name)]
    if not named:
        return Asked()
    texts = [text for name in named for text in query.getlist(name)]
    parts = [part.strip() for text in texts for part in str(text).split(",")]
    found = {part: read_run(part) for part in dict.fromkeys(parts) if part}
    runs = _folded(run for run in found.values() if run)
    bad = [part for part, run in found.items() if run is None]
    refused = [*_bad(named[0], bad), *_beyond(named[0], runs[MOST_RUNS:])]
    return Asked(tuple(runs[:MOST_RUNS]), tuple(refused), named[0])


def rewritten(query: QueryDict, runs: Iterable[AskedRun]) -> str:
    """Return the query with these runs in place of those it asks for."""
    kept = query.copy()
    for name in [name for name in kept if is_parameter(name)]:
        del kept[name]
    if tokens := ",".join(run.token for run in runs):
        kept[WRITTEN] = tokens
    return kept.urlencode(safe="/:,")


def read_run(text: str) -> AskedRun | None:
    """Read an id, or the address of a run, with or without an attempt."""
    repository, plain = "", _PLAIN.fullmatch(text)
    if plain:
        run_id, attempt = plain.groups()
    elif address := _ADDRESS.fullmatch(text):
        repository, run_id, attempt = address.groups()
    else:
        return None
    number = int(attempt) if attempt else None
    if not 0 < int(run_id) <= LARGEST_ID:
        return None
    if number is not None and not 0 < number <= _LARGEST_ATTEMPT:
        return None
    return AskedRun(int(run_id), number, repository)


def _folded(runs: Iterable[AskedRun]) -> list[AskedRun]:
    """Return each run and attempt once; an address says more than its bare id."""
    kept: dict[tuple[int, int | None], AskedRun] = {}
    for run in runs:
        place = (run.run_id, run.attempt)
        if place not in kept or not kept[place].repository:
            kept[place] = run
    return list(kept.values())


def _bad(name: str, parts: list[str]) -> Iterator[str]:
    for part in parts[:_MOST_QUOTED]:
        yield (
            f"{one_line(name, _LONGEST_QUOTE)}: {one_line(part, _LONGEST_QUOTE)} "
            "is no run id, nor the address of a run."
        )
    if len(parts) > _MOST_QUOTED:
        yield f"{len(parts) - _MOST_QUOTED} more are no run ids either."


def _beyond(name: str, runs: list[AskedRun]) -> Iterator[str]:
    if runs:
        left_out = ", ".join(str(run.run_id) for run in runs[:_MOST_QUOTED])
        more = len(runs) - _MOST_QUOTED
        yield (
            f"{name}: at most {MOST_RUNS} runs are shown at once; left out: {left_out}"
            f"{f' and {more} more' if more > 0 else ''}."
        )
