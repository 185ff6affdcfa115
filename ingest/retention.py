"""What the settings let go after some time: raw bytes, and documents of evals.

Records, rows and whatever follows from them stay: replay reads records. Raw bytes are
needed for documents of evals, requests of replayed points, ends of server logs, and for
reading files again with a newer parser; so those of a run that holds a current sweep,
or one that waits to become it, are kept however old they are.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import structlog
from django.conf import settings
from django.core.files.storage import storages
from django.db import connection, transaction
from django.db.models import Q, QuerySet

from dashboard.models import Artifact, EvalResult, EvalSample, Generation, Sweep
from dashboard.vocabulary.raw_files import raw_path
from ingest.claims import raw_bytes_alone

UPLOADS_AT_ONCE = 500
EVALS_AT_ONCE = 50

# Bytes of some uploads that no other upload needs: one that is younger or of a run that
# keeps its own.
_FREE = """
    WITH named AS (
        SELECT a.id, a.run_id, a.stored_at, m ->> 2 AS sha256, (m ->> 1)::bigint AS size
        FROM dashboard_artifact a, jsonb_array_elements(a.members) m
        WHERE m ->> 2 <> ''
    ), wanted AS (SELECT DISTINCT sha256 FROM named WHERE id = ANY(%s))
    SELECT sha256, max(size) FROM named JOIN wanted USING (sha256)
    GROUP BY sha256 HAVING bool_and(stored_at < %s AND run_id <> ALL(%s))
    ORDER BY sha256
"""

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Ages:
    """For how many days after they were stored things are kept; 0: for good."""

    raw: int
    samples: int

    @classmethod
    def of_settings(cls) -> "Ages":
        """Return what the settings say."""
        return cls(
            settings.FRONTIERBOARD_RAW_KEEP_DAYS,
            settings.FRONTIERBOARD_SAMPLES_KEEP_DAYS,
        )


@dataclass(slots=True)
class Forgotten:
    """What goes or went, and how many runs keep old bytes for today's record."""

    uploads: int = 0
    files: int = 0
    bytes: int = 0
    evals: int = 0
    samples: int = 0
    kept_runs: int = 0

    @property
    def is_nothing(self) -> bool:
        """Whether there was nothing to let go."""
        return not (self.uploads or self.evals)


def forget_old(ages: Ages, now: datetime, *, is_rehearsal: bool) -> Forgotten:
    """Let go what is old enough, or in a rehearsal only count it.

    1. Documents of an eval go with the note of when, in one transaction. 2. Files go
    first and the note on their uploads follows: whoever was killed in between, or is
    called twice, finds the same uploads and no file. Nobody ingests meanwhile.
    """
    done = Forgotten()
    if ages.samples:
        before = now - timedelta(days=ages.samples)
        _forget_samples(before, now, done, is_rehearsal=is_rehearsal)
    if ages.raw:
        before = now - timedelta(days=ages.raw)
        _forget_bytes(before, now, done, is_rehearsal=is_rehearsal)
    if not is_rehearsal and not done.is_nothing:
        # Kept pages are of a generation, and now say something else.
        Generation.bump()
        log.info("old bytes forgotten", files=done.files, samples=done.samples)
    return done


def kept_run_ids() -> list[int]:
    """Return the runs on which the official record of today rests."""
    states = (Sweep.State.CURRENT, Sweep.State.HELD)
    needed = Sweep.objects.filter(Q(state__in=states) | Q(extends__state__in=states))
    return list(needed.values_list("run", flat=True).distinct())


def _forget_bytes(
    before: datetime, now: datetime, done: Forgotten, *, is_rehearsal: bool
) -> None:
    kept = kept_run_ids()
    old = Artifact.objects.filter(stored_at__lt=before, bytes_forgotten_at=None)
    old = old.exclude(sha256="")
    done.kept_runs = old.filter(run__in=kept).values("run").distinct().count()
    for ids in _batches(old.exclude(run__in=kept), UPLOADS_AT_ONCE):
        if is_rehearsal:
            _count(_free(ids, before, kept), len(ids), done)
        else:
            _delete(ids, before, now, done)


def _delete(ids: list[int], before: datetime, now: datetime, done: Forgotten) -> None:
    """Delete files and note it, while no ingestion can find them there and rely on it.

    Which runs need theirs is asked again: it may have changed since.
    """
    with raw_bytes_alone():
        kept = kept_run_ids()
        uploads = Artifact.objects.filter(pk__in=ids).exclude(run__in=kept)
        still = list(uploads.values_list("pk", flat=True))
        found = _free(still, before, kept)
        for sha256, _ in found:
            storages["raw"].delete(raw_path(sha256))
        uploads.update(bytes_forgotten_at=now)
    _count(found, len(still), done)


def _free(ids: list[int], before: datetime, kept: list[int]) -> list[tuple[str, int]]:
    with connection.cursor() as cursor:
        cursor.execute(_FREE, [ids, before, kept])
        return [(sha256, size) for sha256, size in cursor.fetchall()]


def _count(found: list[tuple[str, int]], uploads: int, done: Forgotten) -> None:
    done.uploads += uploads
    done.files += len(found)
    done.bytes += sum(size for _, size in found)


def _forget_samples(
    before: datetime, now: datetime, done: Forgotten, *, is_rehearsal: bool
) -> None:
    old = EvalResult.objects.filter(stored_at__lt=before, samples_forgotten_at=None)
    old = old.exclude(samples_source="").exclude(run__in=kept_run_ids())
    for ids in _batches(old, EVALS_AT_ONCE):
        samples = EvalSample.objects.filter(eval__in=ids)
        done.evals += len(ids)
        done.samples += samples.count()
        if not is_rehearsal:
            with transaction.atomic():
                samples.delete()
                EvalResult.objects.filter(pk__in=ids).update(samples_forgotten_at=now)


def _batches(
    rows: "QuerySet[Artifact] | QuerySet[EvalResult]", size: int
) -> Iterator[list[int]]:
    """Yield ids in batches, which are known before the first of them goes."""
    ids: Sequence[int] = list(rows.order_by("pk").values_list("pk", flat=True))
    for start in range(0, len(ids), size):
        yield list(ids[start : start + size])
