"""A listed run and its downloads as one bundle, read while bytes still arrive."""

import shutil
import time
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from ingest.artifacts.bundles import ArtifactSource, Bundle, listed_artifact
from ingest.fetching.choice import beyond, downloaded_ids, is_bulk, listed_bytes
from ingest.fetching.downloads import Downloads
from ingest.fetching.listing import ListedRun
from ingest.github import GitHub

LEFT_BEHIND_S = 24 * 3600


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is fetched of a run, and where it lies meanwhile; sizes in bytes.

    ``max_run`` bounds what is downloaded of the run in all; ``with_traces`` asks for
    raw artifacts of replays too. ``stored`` are ids of
    artifacts whose bytes are kept already, ``gone`` of those that GitHub said to be
    deleted.
    """

    folder: Path
    max_artifact: int
    max_run: int
    max_log: int
    with_traces: bool = False
    stored: Collection[int] = ()
    gone: Collection[int] = ()


@contextmanager
def fetched(github: GitHub, listed: ListedRun, wanted: Wanted) -> Iterator[Bundle]:
    """Download a listed run's artifacts and give the bundle of it.

    The files stay on disk when reading fails, for whoever tries again, and go when
    it succeeded.
    """
    folder = wanted.folder / str(listed.run["id"])
    _forget_left_behind(wanted.folder)
    folder.mkdir(parents=True, exist_ok=True)
    downloads = Downloads(github, folder, wanted.max_artifact, wanted.max_run)
    try:
        yield _bundle(listed, wanted, downloads)
    except BaseException:
        # A worker has seconds to end in, a download may take minutes.
        github.stop()
        raise
    finally:
        downloads.stop()
    shutil.rmtree(folder, ignore_errors=True)


def _bundle(listed: ListedRun, wanted: Wanted, downloads: Downloads) -> Bundle:
    sources = [listed_artifact(str(i.get("name", "")), i) for i in listed.artifacts]
    chosen = downloaded_ids(
        listed.artifacts,
        listed.jobs,
        wanted.max_log,
        with_traces=wanted.with_traces,
    )
    for source in sources:
        source.expired = source.expired or source.github_id in wanted.gone
        _say_why_not(source, wanted.stored, chosen)
    _leave_out(listed, sources, wanted)
    coming = [s for s in sources if not s.missing and not s.is_listed]
    coming.sort(key=is_bulk)
    ids = [s.github_id for s in coming if s.github_id is not None]
    downloads.start(ids)
    for source, artifact_id in zip(coming, ids, strict=True):
        source.loader = partial(downloads.contents, artifact_id)
    return Bundle(
        run=listed.run,
        attempts=listed.attempts,
        jobs=listed.jobs,
        artifacts=sources,
        configs=listed.configs,
        notices=list(listed.gaps),
    )


def _say_why_not(
    source: ArtifactSource, stored: Collection[int], chosen: Collection[object]
) -> None:
    """Say of an artifact why its bytes are not asked for, if they are not."""
    if source.github_id is None:
        source.missing = "GitHub names no id of it"
    elif source.github_id in stored:
        source.missing = "kept already"
    elif source.github_id not in chosen:
        source.is_listed = True
    elif source.expired:
        source.missing = "expired"


def _leave_out(
    listed: ListedRun, sources: Iterable[ArtifactSource], wanted: Wanted
) -> None:
    """Leave out what would be too much, and say so; what is kept already counts."""
    kept = sum(listed_bytes(s) for s in sources if s.github_id in wanted.stored)
    coming = [s for s in sources if not s.missing and not s.is_listed]
    excess = beyond(coming, wanted.max_run - kept)
    why = f"left out: of a run at most {wanted.max_run:,} bytes are downloaded"
    for source in excess:
        source.missing = why
    if excess:
        listed.gaps.append(f"{len(excess)} of {len(coming)} new artifacts {why}")


def _forget_left_behind(folder: Path) -> None:
    """Delete downloads that nobody came back for in a day."""
    for child in folder.glob("*"):
        if time.time() - child.stat().st_mtime > LEFT_BEHIND_S:
            shutil.rmtree(child, ignore_errors=True)
