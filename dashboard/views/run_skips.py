"""What of a run was not taken: all of it, by the page and as a CSV download."""

from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.views.decorators.http import require_safe

from dashboard.models import Run
from dashboard.queries import run_skips as queries
from dashboard.queries.runs import stored_run
from dashboard.views.paging import page_of
from dashboard.views.tables import Ending, Table, table_answer

PAGE_SIZE = 100
CHUNK = 2000
BRIEF = queries.COLUMNS[:6]


@require_safe
def run_skips(request: HttpRequest, run_id: int) -> HttpResponse:
    run = _stored(run_id)
    reasons = queries.reasons(run)
    asked = request.GET.get("reason", "")
    known = {reason.code for reason in reasons}
    reason = asked if asked in known else ""
    skips = queries.listed_skips(run, reason)
    page, note = page_of(skips, PAGE_SIZE, request.GET.get("page"))
    context = {
        "run": run,
        "reasons": reasons,
        "reason": reason,
        "unknown": asked[:60] if asked and not reason else "",
        "page": page,
        "note": note,
        "total": sum(found.total for found in reasons),
    }
    return render(request, "run_skips.html", context)


@require_safe
def run_skips_file(
    request: HttpRequest, run_id: int, ending: Ending
) -> HttpResponseBase:
    """Return what the list shows, all pages of it."""
    run = _stored(run_id)
    asked = request.GET.get("reason", "")
    reason = asked if asked in {found.code for found in queries.reasons(run)} else ""
    rows = queries.skip_rows(run, reason).iterator(chunk_size=CHUNK)
    table = Table(f"run-{run_id}-skips", queries.COLUMNS, rows, brief=BRIEF)
    return table_answer(request, table, ending)


def _stored(run_id: int) -> Run:
    run = stored_run(run_id)
    if run is None:
        raise Http404(f"Run {run_id} is not stored here.")
    return run
