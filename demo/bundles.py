"""Writes the story's runs to disk, a bundle for each."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path
from typing import Any

from demo import forge
from demo.masters import RUNNERS, Masters, first_masters, runners_text
from demo.repository import commit, run_id
from demo.runs import Event, Run
from demo.story import story
from demo.uploads import Upload, as_json
from demo.workflow import Record, play


@dataclass(frozen=True, slots=True)
class Chapter:
    """A run with its place in history. ``base`` and ``head`` are commits."""

    run: Run
    number: int
    created: datetime
    base: str
    head: str
    masters: Masters


def write_bundles(folder: Path, until: date) -> list[Path]:
    """Write the bundles of all runs, the newest started on ``until``; oldest first.

    Equal dates give equal bytes. Files of former bundles of the same names are
    overwritten, and artifacts that the story no longer has stay.
    """
    chapters = list(_chapters(until))
    numbers = {chapter.run.name: chapter for chapter in chapters}
    return [_write(folder, chapter, numbers) for chapter in chapters]


def _chapters(until: date) -> Iterator[Chapter]:
    """Walk through history: pushes change the masters of all later runs."""
    main, head = first_masters(), commit("the beginning")
    for number, run in enumerate(story()):
        day = datetime.combine(until - timedelta(days=run.days), time(), UTC)
        created = day + timedelta(seconds=round(run.hour * 3600))
        own = main.edited(run.edits)
        sha = commit(f"{run.name} {number}")
        yield Chapter(run, number, created, head, sha, own)
        if run.event is Event.PUSH:
            main, head = own, sha


def _write(folder: Path, chapter: Chapter, chapters: dict[str, Chapter]) -> Path:
    changelog = forge.changelog(chapter.run, chapter.base, chapter.head)
    record = play(chapter.run, chapter.masters, chapter.created, changelog)
    if chapter.run.reuses is not None:
        _reuse(record, chapter, chapters[chapter.run.reuses])
    identity = forge.Identity(run_id(chapter.number), chapter.base, chapter.head)
    bundle = folder / f"{chapter.number:02}-{chapter.run.name}"
    write_bundle(bundle, chapter.run, identity, record, chapter.masters)
    return bundle


def write_bundle(
    bundle: Path, run: Run, identity: forge.Identity, record: Record, masters: Masters
) -> None:
    """Write one run as a bundle: objects, configs and unpacked artifacts."""
    runs = forge.run_objects(run, identity, record.spans)
    _write_text(bundle / "run.json", as_json(runs[-1]))
    if len(runs) > 1:
        _write_text(bundle / "run.attempts.json", as_json(runs))
    if record.jobs:
        jobs = forge.job_objects(identity, record.jobs)
        _write_text(bundle / "jobs.json", as_json(jobs))
    _write_masters(bundle / "repo" / "configs", masters)
    _write_uploads(bundle, run, identity, record.uploads)


def _reuse(record: Record, chapter: Chapter, source: Chapter) -> None:
    document = forge.reuse_document(
        forge.Identity(run_id(source.number), source.base, source.head),
        run_id(chapter.number),
        source.run.pull_request,
    )
    created = record.spans[-1][1]
    files = {"reuse_source_run.json": as_json(document)}
    record.uploads.append(Upload("reused-ingest-metadata", files, created))


def _write_masters(folder: Path, masters: Masters) -> None:
    for name, text in masters.texts:
        _write_text(folder / name, text)
    _write_text(folder / RUNNERS, runners_text())


def _write_uploads(
    bundle: Path, run: Run, identity: forge.Identity, uploads: list[Upload]
) -> None:
    listed: list[dict[str, Any]] = []
    ordered = sorted(uploads, key=lambda upload: (upload.created, upload.name))
    for number, upload in enumerate(ordered):
        item = forge.artifact_object(run, identity, number, upload)
        listed.append(item)
        folder = bundle / "artifacts" / f"{item['id']}-{upload.name}"
        for name, text in upload.files.items():
            _write_text(folder / name, text)
    _write_text(bundle / "artifacts.json", as_json(listed))


def _write_text(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8", newline="\n")
