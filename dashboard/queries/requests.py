"""Requests for work: the newest ones, those of a run, and one."""

from dashboard.models import IngestRequest

# More than any page lists at once.
SHOWN = 20


def newest_requests(limit: int, run_id: int | None = None) -> list[IngestRequest]:
    """Return the newest requests, of all work or of one run by its forge id."""
    found = IngestRequest.objects.order_by("-requested_at", "-pk")
    if run_id is not None:
        found = found.filter(github_run_id=run_id)
    return list(found[:limit])


def shown_requests() -> list[tuple[object, ...]]:
    """Return the states of the newest requests: what pages show of them."""
    newest = IngestRequest.objects.order_by("-requested_at", "-pk")
    names = ("pk", "state", "step", "progress_done", "progress_total")
    return list(newest.values_list(*names)[:SHOWN])


def one_request(pk: int) -> IngestRequest | None:
    """Return a request, None where there is none of this number."""
    return IngestRequest.objects.filter(pk=pk).first()
