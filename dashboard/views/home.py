"""The first page, and whether the process answers at all."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from dashboard.queries.runs import listed_runs, with_publication
from dashboard.views.run_filters import columns

NEWEST = 10


@require_safe
def home(request: HttpRequest) -> HttpResponse:
    listed = with_publication(listed_runs()[:NEWEST])
    return render(request, "home.html", {"listed": listed, "columns": columns("")})


@require_safe
def healthz(_request: HttpRequest) -> HttpResponse:
    return HttpResponse("ok", content_type="text/plain")
