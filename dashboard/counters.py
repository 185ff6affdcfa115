"""What each process counts for /metrics: pages, errors of the interface, the cache.

gunicorn.conf.py names the folder in which its processes share these. Every label is
of a small set of ours, whatever strangers send.
"""

from prometheus_client import Counter, Histogram

METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
# Names of answers that are kept, up to their first colon; others count together.
CACHE_KINDS = frozenset(
    {
        "ready",
        "told",
        "verdicts",
        "page",
        "pages",
        "answer",
        "frame",
        "frames",
        "github",
    }
)
OTHER = "other"

PAGES = Histogram(
    "frontierboard_page_seconds",
    "Time until an answer begins, by view.",
    ["view", "method", "status"],
    buckets=(0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30),
)
API_ERRORS = Counter(
    "frontierboard_api_errors",
    "Answers of the interface from 400 on.",
    ["status"],
)
CACHE_READS = Counter(
    "frontierboard_cache_reads",
    "Looks into the cache, by what was looked for and whether it was there.",
    ["kind", "outcome"],
)


def count_page(view: str, method: str, status: int, seconds: float) -> None:
    """Count one answer; ``view`` is the name of an address, never an address."""
    known = method if method in METHODS else OTHER
    PAGES.labels(view, known, f"{status // 100}xx").observe(seconds)


def count_cache_read(key: object, *, is_hit: bool) -> None:
    """Count a look into the cache by what stands before the key's first colon."""
    kind = str(key).partition(":")[0]
    known = kind if kind in CACHE_KINDS else OTHER
    CACHE_READS.labels(known, "hit" if is_hit else "miss").inc()
