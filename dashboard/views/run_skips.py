"""What of a run was not taken: all of it, by the page and as a CSV download."""

import csv

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from dashboard.models import Run
from dashboard.queries import run_skips as queries
from dashboard.queries.runs import stored_run
from dashboard.views.paging import page_of
from dashboard.views.run_points import cells

PAGE_SIZE = 100


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
def run_skips_csv(_request: HttpRequest, run_id: int) -> HttpResponse:
    run = _stored(run_id)
    answer = HttpResponse(content_type="text/csv; charset=utf-8")
    filename = f"run-{run.github_run_id}-skips.csv"
    answer["Content-Disposition"] = f'attachment; filename="{filename}"'
    writer = csv.writer(answer)
    writer.writerow(queries.COLUMNS)
    writer.writerows(map(cells, queries.skip_rows(run)))
    return answer


def _stored(run_id: int) -> Run:
    run = stored_run(run_id)
    if run is None:
        raise Http404(f"Run {run_id} is not stored here.")
    return run
