"""The first page: what changed, what waits, and how the ingestion is."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from dashboard.queries.runs import listed_runs, with_publication
from dashboard.views.run_columns import columns

NEWEST = 10


@require_safe
def home(request: HttpRequest) -> HttpResponse:
    listed = with_publication(listed_runs()[:NEWEST])
    return render(request, "home.html", {"listed": listed, "columns": columns("")})
