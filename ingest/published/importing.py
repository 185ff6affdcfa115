"""Published history into tables, as official runs whose points no artifact says."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from django.db import transaction
from django.db.models import QuerySet

from dashboard.models import Generation, PublishedRow, RawRecord, Run
from dashboard.vocabulary import provenance
from ingest.artifacts.bundles import Bundle
from ingest.artifacts.json_reading import canonical
from ingest.batches import ingest_bundles
from ingest.pipeline import Report
from ingest.progress import Progress, silent
from ingest.published.files import JsonObject, Published
from ingest.published.runs import (
    PublishedRun,
    Records,
    bundle_of,
    published_runs,
)

# Runs that are ingested in one transaction: other writers wait for so long.
AT_ONCE = 50

Known = dict[tuple[int, str], set[str]]  # record hashes by run id and artifact


@dataclass(slots=True)
class ImportedHistory:
    """What an import did: runs by outcome, rows by what became of them, problems."""

    runs: int = 0
    new_runs: int = 0
    changed_runs: int = 0
    points: int = 0
    evals: int = 0
    skips: Counter[str] = field(default_factory=Counter)
    day_rows: int = 0
    changed_day_rows: int = 0
    problems: list[str] = field(default_factory=list)

    def count(self, report: Report, *, is_new: bool) -> None:
        """Count what the ingestion of a run, or of one attempt of it, did."""
        self.new_runs += is_new
        self.changed_runs += not is_new
        self.points += report.points
        self.evals += report.evals
        self.skips.update(report.skips)


def import_published(
    published: Published, *, repository: str, progress: Progress = silent
) -> ImportedHistory:
    """Store what was published; the same again changes nothing.

    1. Rows of runs become records of artifacts that no upload can have the name of,
    and are ingested as every run is, each in its own transaction: artifacts win
    wherever they are or come. Records that are stored already are left out. 2. Rows of
    days replace what was known of their days.
    """
    runs = published_runs(published)
    done = ImportedHistory(runs=len(runs), problems=published.problems)
    stored = {run.github_run_id: run for run in _stored(runs)}
    taken = 0
    for turn in _turns(runs, stored, repository):
        progress("importing runs", taken, len(runs))
        batch = ingest_bundles(turn)
        done.problems += batch.refused
        for report in batch.reports:
            done.count(report, is_new=report.run_id not in stored)
        taken += len(turn)
    progress("importing days")
    _import_days(published, done)
    return done


def _turns(
    runs: Sequence[PublishedRun], stored: Mapping[int, Run], repository: str
) -> Iterator[list[Bundle]]:
    """Yield bundles of what is not stored yet, a few at once, no run twice at once."""
    known = _known_records(run.run_id for run in runs)
    turns: list[list[Bundle]] = []
    for run in runs:
        of_run = stored.get(run.run_id)
        run.settle_attempts(of_run.attempt if of_run else 1)
        facts = _facts(run, of_run, repository)
        fresh = [
            bundle_of(run, attempt, records, facts)
            for attempt in sorted(run.attempts)
            if (records := _fresh(run, run.attempts[attempt], known))
        ]
        turns += [[] for _ in range(len(turns), len(fresh))]
        for turn, bundle in zip(turns, fresh, strict=False):
            turn.append(bundle)
    for turn in turns:
        for start in range(0, len(turn), AT_ONCE):
            yield turn[start : start + AT_ONCE]


def _known_records(run_ids: Iterable[int]) -> Known:
    found = RawRecord.objects.filter(
        artifact__run__github_run_id__in=list(run_ids),
        artifact__kind=provenance.PUBLISHED,
    )
    names = ("artifact__run__github_run_id", "artifact__name", "sha256")
    known: Known = {}
    for run_id, artifact, sha256 in found.values_list(*names):
        known.setdefault((run_id, artifact), set()).add(sha256)
    return known


def _stored(runs: Iterable[PublishedRun]) -> QuerySet[Run]:
    return Run.objects.filter(github_run_id__in=[run.run_id for run in runs])


def _fresh(run: PublishedRun, records: Records, known: Known) -> Records:
    """Return the records that are not stored yet."""
    fresh = {
        artifact: {
            sha256: text
            for sha256, text in texts.items()
            if sha256 not in known.get((run.run_id, artifact), ())
        }
        for artifact, texts in records.items()
    }
    return {artifact: texts for artifact, texts in fresh.items() if texts}


def _facts(run: PublishedRun, stored: Run | None, repository: str) -> JsonObject:
    """Return the run object: what was published, else what is stored of the run.

    Where only the day is known the run is put at its first moment.
    """
    told = run.facts
    title = told.get("name") or (stored.title if stored else "")
    conclusion = told.get("conclusion") or (stored.conclusion if stored else "")
    at = told.get("created_at") or (
        stored.created_at.isoformat() if stored else f"{run.day}T00:00:00Z"
    )
    url = told.get("html_url") or (
        f"https://github.com/{repository}/actions/runs/{run.run_id}"
    )
    return {
        "repository": {"full_name": repository},
        "display_title": title,
        "conclusion": conclusion,
        "created_at": at,
        "html_url": url,
    }


def _import_days(published: Published, done: ImportedHistory) -> None:
    kinds = PublishedRow.Kind
    lists = [
        (kinds.AVAILABILITY, _by_day(published.rows.get("availability", []))),
        (kinds.RELIABILITY, _by_day(published.rows.get("reliability", []))),
        (kinds.CONFIG, published.configs),
    ]
    with transaction.atomic():
        for kind, days in lists:
            done.day_rows += sum(map(len, days.values()))
            done.changed_day_rows += _replace_days(kind, days)
        if done.changed_day_rows:
            Generation.bump()


def _by_day(rows: Iterable[JsonObject]) -> dict[str, list[JsonObject]]:
    days: dict[str, list[JsonObject]] = {}
    for row in rows:
        days.setdefault(row["date"], []).append(row)
    return days


def _replace_days(kind: str, days: dict[str, list[JsonObject]]) -> int:
    """Let the rows of these days be exactly the given ones; return how many changed."""
    wanted = {
        (day, sha256): (text, times)
        for day, rows in days.items()
        for (text, sha256), times in Counter(_texts(rows)).items()
    }
    stored = PublishedRow.objects.filter(kind=kind, date__in=list(days))
    gone, same = [], set()
    for pk, day, sha256, times in stored.values_list("pk", "date", "sha256", "times"):
        place = (day.isoformat(), sha256)
        if wanted.get(place, ("", 0))[1] == times:
            same.add(place)
        else:
            gone.append(pk)
    PublishedRow.objects.filter(pk__in=gone).delete()
    new = [
        PublishedRow(kind=kind, date=day, sha256=sha256, body=text, times=times)
        for (day, sha256), (text, times) in wanted.items()
        if (day, sha256) not in same
    ]
    PublishedRow.objects.bulk_create(new, batch_size=5_000)
    return len(gone) + len(new)


def _texts(rows: Iterable[JsonObject]) -> Iterator[tuple[str, str]]:
    return (canonical(row, strict=True) for row in rows)
