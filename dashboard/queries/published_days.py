"""What the official dashboard says of days: what was measured, how jobs fared, runs.

Rows that were published stand beside what official runs say here. One that says the
same is the same row, so that nothing is counted twice.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import UTC, date, datetime, time
from typing import Any

import orjson
from django.db.models import Exists, OuterRef, QuerySet, Sum
from django.db.models.functions import TruncDate

from dashboard.models import (
    Artifact,
    ChangelogEntry,
    Point,
    PublishedRow,
    Run,
    RunStat,
)
from dashboard.queries.published_grids import told_by_grids, untold_by_grids
from dashboard.queries.published_shapes import framework_of, official_at
from dashboard.vocabulary import provenance
from dashboard.vocabulary.scenarios import lengths_of

KINDS = PublishedRow.Kind
OFFICIAL = Run.Publication.OFFICIAL


def available_rows() -> list[str]:
    """Return what was measured on which day, as texts, oldest first."""
    published = _published(KINDS.AVAILABILITY)
    measured, is_all = told_by_grids()
    if not is_all:
        # What no grid tells is read from points.
        others = Point.objects.filter(sweep__in=untold_by_grids())
        if published:
            others = others.exclude(facts__provenance=provenance.PUBLISHED)
        measured.update(map(_text, _configs_of(others)))
    # A text begins with its day.
    return list(dict.fromkeys([*published, *sorted(measured)]))


def reliability_rows() -> list[str]:
    """Return how the jobs of each run and GPU fared, as texts.

    Published rows name no run. A row of a run here that is equal to one of them is
    taken for it: the larger count of equal rows is right.
    """
    published = Counter(_published(KINDS.RELIABILITY))
    return list((published | Counter(_run_stats())).elements())


def workflows(day: date) -> dict[str, Any]:
    """Return the official runs of a day, their changelogs, and what was measured."""
    runs = _runs_of(day)
    entries = ChangelogEntry.objects.filter(run__in=runs).order_by("run", "index", "pk")
    return {
        "runs": [_run(run, day) for run in runs],
        "changelogs": [_entry(entry, day) for entry in entries.select_related("run")],
        "configs": _configs(day),
    }


def newest_day() -> date | None:
    """Return the day of the newest official run."""
    runs = Run.objects.filter(publication=OFFICIAL).annotate(at=official_at())
    newest = runs.order_by("-at").values_list("at", flat=True).first()
    return newest.astimezone(UTC).date() if newest else None


def _published(kind: str, day: date | None = None) -> list[str]:
    found = PublishedRow.objects.filter(kind=kind).order_by("date", "pk")
    if day is not None:
        found = found.filter(date=day)
    rows = found.values_list("body", "times")
    return [body for body, times in rows for _ in range(times)]


def _measured_configs(
    *, with_published: bool, day: date | None = None
) -> Iterator[dict[str, Any]]:
    """Yield what points tell was measured; published ones where nothing else tells."""
    points = Point.objects.all()
    if not with_published:
        points = points.exclude(facts__provenance=provenance.PUBLISHED)
    yield from _configs_of(points, day)


def _configs_of(
    points: QuerySet[Point], day: date | None = None
) -> Iterator[dict[str, Any]]:
    names = {
        "model": "sweep__config_key__model",
        "scenario": "sweep__scenario",
        "precision": "sweep__config_key__precision",
        "hardware": "sweep__config_key__hardware",
        "framework": "framework",
        "spec_method": "deployment__spec_method",
        "disagg": "deployment__disagg",
        "date": "day",
    }
    official = points.filter(is_current=True, sweep__run__publication=OFFICIAL)
    found = official.annotate(
        framework=framework_of("sweep__config_key"),
        day=TruncDate(official_at("sweep__run")),
    )
    if day is not None:
        found = found.filter(day=day)
    columns = list(names.values())
    for values in found.order_by("day", *columns).values_list(*columns).distinct():
        row = dict(zip(names, values, strict=True))
        isl, osl = lengths_of(row.pop("scenario"))
        yield row | {"isl": isl, "osl": osl, "date": row["date"].isoformat()}


def _run_stats() -> Iterator[str]:
    stats = RunStat.objects.filter(run__publication=OFFICIAL).exclude(hardware="")
    of_gpus = (
        stats.annotate(day=TruncDate(official_at("run")))
        .values("run", "hardware", "day")
        .annotate(succeeded=Sum("successes"), jobs=Sum("total"))
    )
    for stat in of_gpus.order_by("day", "run", "hardware"):
        yield _text(
            {
                "hardware": stat["hardware"],
                "date": stat["day"].isoformat(),
                "n_success": stat["succeeded"],
                "total": stat["jobs"],
            }
        )


def _runs_of(day: date) -> list[Run]:
    begin, end = (datetime.combine(day, at, tzinfo=UTC) for at in (time.min, time.max))
    told = Artifact.objects.filter(run=OuterRef("pk"), name=provenance.RUN)
    runs = Run.objects.filter(publication=OFFICIAL).annotate(
        at=official_at(), is_told=Exists(told)
    )
    of_day = runs.filter(at__gte=begin, at__lte=end)
    return list(of_day.order_by("at", "github_run_id"))


def _run(run: Run, day: date) -> dict[str, Any]:
    """Return a run; of one that only published rows name the day alone is known."""
    is_timed = bool(run.event or run.status) or run.is_told  # type: ignore[attr-defined]
    return {
        "github_run_id": str(run.github_run_id),
        "name": run.title or None,
        "conclusion": run.conclusion or None,
        "run_attempt": run.attempt,
        "html_url": run.url,
        "created_at": _second(run.created_at) if is_timed else None,
        "date": day.isoformat(),
    }


def _entry(entry: ChangelogEntry, day: date) -> dict[str, Any]:
    run_id = entry.run.github_run_id if entry.run else None
    return {
        "workflow_run_id": str(run_id),
        "date": day.isoformat(),
        "base_ref": entry.base_ref,
        "head_ref": entry.head_ref,
        "config_keys": entry.raw_keys,
        "description": "\n".join(entry.description),
        "pr_link": entry.pr_link,
    }


def _configs(day: date) -> list[dict[str, Any]]:
    """Return what was measured on a day, without the day."""
    published = [*_published(KINDS.CONFIG, day), *_published(KINDS.AVAILABILITY, day)]
    rows = [orjson.loads(text) for text in published]
    rows += _measured_configs(with_published=not published, day=day)
    return _distinct({k: v for k, v in row.items() if k != "date"} for row in rows)


def _distinct(rows: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    return list({_text(row): row for row in rows}.values())


def _second(at: datetime) -> str:
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _text(row: dict[str, Any]) -> str:
    """Write a row as published ones are kept: keys sorted, no spaces."""
    return orjson.dumps(row, option=orjson.OPT_SORT_KEYS).decode()
