"""The pages of runs: all of them, one, and what one attempt of it contributed."""

from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from dashboard.queries import runs as queries
from dashboard.queries.run_report import run_report
from dashboard.views.run_filters import RunFilterForm, columns

PAGE_SIZE = 50


@require_safe
def run_list(request: HttpRequest) -> HttpResponse:
    form = RunFilterForm(request.GET, queries.offered())
    if not form.is_valid():
        return render(request, "runs.html", {"form": form}, status=400)
    filters = form.filters
    asked_page = form.cleaned_data["page"] or 1
    page = Paginator(queries.listed_runs(filters), PAGE_SIZE).get_page(asked_page)
    context = {
        "form": form,
        "page": page,
        "listed": queries.with_publication(page),
        "columns": columns(filters.sort),
    }
    return render(request, "runs.html", context)


@require_safe
def run(request: HttpRequest, run_id: int) -> HttpResponse:
    report = run_report(run_id)
    if report is None:
        raise Http404(f"Run {run_id} is not stored here.")
    return render(request, "run.html", {"report": report, "run": report.run})
