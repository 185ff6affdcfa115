"""Published rows as bundles, one per run and attempt: ingested as all others are."""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from io import BytesIO
from typing import Any

from dashboard.vocabulary import provenance
from ingest.artifacts.bundles import ArtifactSource, Bundle
from ingest.artifacts.json_reading import canonical
from ingest.artifacts.members import Contents, MemberSource
from ingest.published.files import JsonObject, Published

MOST_ID = 2**63 - 1
_URL = re.compile(r"/actions/runs/([0-9]{1,19})(?:/attempts/([0-9]{1,4}))?/?$")
# Which artifact the rows of a file become; newest rows before older ones.
ARTIFACTS = {
    "benchmarks": provenance.BENCHMARKS,
    "benchmarks-history": provenance.HISTORY,
    "evaluations": provenance.EVALUATIONS,
}

Texts = dict[str, str]  # canonical text by its sha256
Records = dict[str, Texts]  # by artifact


@dataclass(slots=True)
class PublishedRun:
    """One run: its day, what the workflow file says of it, and records by attempt.

    Attempt 0 holds the records that do not name theirs.
    """

    run_id: int
    day: str
    facts: JsonObject = field(default_factory=dict)
    attempts: dict[int, Records] = field(default_factory=dict)

    def add(self, attempt: int, artifact: str, row: JsonObject) -> None:
        """Add a record; equal ones count once."""
        text, sha256 = canonical(row, strict=True)
        records = self.attempts.setdefault(attempt, {})
        records.setdefault(artifact, {})[sha256] = text

    def settle_attempts(self, newest_known: int) -> None:
        """Give records without an attempt the newest that is known."""
        open_ones = self.attempts.pop(0, {})
        newest = max([*self.attempts, int(self.facts.get("run_attempt") or 1)])
        records = self.attempts.setdefault(max(newest, newest_known), {})
        for artifact, texts in open_ones.items():
            records.setdefault(artifact, {}).update(texts)


def published_runs(published: Published) -> list[PublishedRun]:
    """Gather what was published by run, oldest first; rows of no run are told."""
    runs: dict[int, PublishedRun] = {}
    for file, artifact in ARTIFACTS.items():
        refused = 0
        for row in published.rows.get(file, []):
            found = run_and_attempt(row.get("run_url"))
            if found is None:
                refused += 1
                continue
            run_id, attempt = found
            run = runs.setdefault(run_id, PublishedRun(run_id, row["date"]))
            run.add(attempt, artifact, row)
        if refused:
            line = f"{file}: {refused} rows left out: their run_url names no run"
            published.problems.append(line)
    _add_workflows(runs, published)
    return sorted(runs.values(), key=lambda run: (run.day, run.run_id))


def run_and_attempt(url: object) -> tuple[int, int] | None:
    """Return the id and the attempt, 0 without one, that an address names."""
    found = _URL.search(url) if isinstance(url, str) else None
    if found is None or not 0 < int(found[1]) <= MOST_ID:
        return None
    return int(found[1]), int(found[2] or 0)


def bundle_of(
    run: PublishedRun, attempt: int, records: Records, facts: JsonObject
) -> Bundle:
    """Return the records of one attempt as a bundle with the given run object."""
    return Bundle(
        run=facts | {"id": run.run_id, "run_attempt": attempt},
        attempts=[{"run_attempt": attempt}],
        jobs=None,
        artifacts=[
            ArtifactSource(artifact, loader=_loader(artifact, texts.values()))
            for artifact, texts in records.items()
        ],
    )


def _add_workflows(runs: dict[int, PublishedRun], published: Published) -> None:
    for row in published.runs:
        run_id = _id(row.get("github_run_id"))
        if run_id is None:
            continue
        run = runs.setdefault(run_id, PublishedRun(run_id, row["date"]))
        run.facts = row
        run.add(0, provenance.RUN, row)
    days: dict[str, int] = defaultdict(int)
    for row in published.changelogs:
        run_id = _id(row.get("workflow_run_id"))
        if run_id in runs:
            runs[run_id].add(0, provenance.CHANGELOG, row)
        else:
            days[str(row.get("date"))] += 1
    published.problems += [
        f"changelogs of {day}: {count} left out: their run is not named"
        for day, count in days.items()
    ]


def _id(value: Any) -> int | None:
    text = str(value)
    return int(text) if re.fullmatch(r"[0-9]{1,19}", text) else None


def _loader(artifact: str, texts: Iterable[str]) -> Callable[[Any], Contents]:
    """Return a way to the one member that holds the records as an array."""
    data = f"[{','.join(texts)}]".encode()
    name = f"{artifact.removeprefix(provenance.PREFIX)}.json"
    return lambda _limits: Contents(
        [MemberSource(name, len(data), lambda: BytesIO(data))]
    )
