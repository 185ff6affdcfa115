"""Uploaded bundles that nobody will ingest: found, then deleted."""

import time
from pathlib import Path

import structlog
from django.conf import settings

from dashboard.ingest_requests import ACTIVE
from dashboard.models import IngestRequest

log = structlog.get_logger(__name__)

# An upload is written in minutes and its request stored right after.
LEFT_AFTER_S = 24 * 3600


def left_uploads(now_s: float) -> list[Path]:
    """Return files of the uploads' folder that are a day old and await no worker.

    ``now_s`` in seconds since 1970. Their requests have ended, or never came to be.
    """
    folder = Path(settings.FRONTIERBOARD_UPLOADS)
    old = [path for path in folder.glob("*") if _is_old_file(path, now_s)]
    # Files first, requests second: one that is asked for in between is seen.
    awaited = IngestRequest.objects.filter(
        kind=IngestRequest.Kind.UPLOAD, state__in=ACTIVE
    )
    names = {Path(target).name for target in awaited.values_list("target", flat=True)}
    return [path for path in old if path.name not in names]


def forget_uploads() -> int:
    """Delete what is left of uploads; return how many files."""
    left = left_uploads(time.time())
    for path in left:
        path.unlink(missing_ok=True)
    if left:
        log.info("old uploads deleted", files=[path.name for path in left])
    return len(left)


def _is_old_file(path: Path, now_s: float) -> bool:
    try:
        return path.is_file() and now_s - path.stat().st_mtime > LEFT_AFTER_S
    except FileNotFoundError:  # its worker was faster
        return False
