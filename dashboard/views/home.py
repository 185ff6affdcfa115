"""The first page, and whether the process answers at all."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from dashboard.queries.runs import listed_runs, publication

NEWEST = 10


@require_safe
def home(request: HttpRequest) -> HttpResponse:
    newest: list[Any] = list(listed_runs()[:NEWEST])
    listed = [
        (run, publication(run, has_held_sweep=run.has_held_sweep)) for run in newest
    ]
    return render(request, "home.html", {"listed": listed})


@require_safe
def healthz(_request: HttpRequest) -> HttpResponse:
    return HttpResponse("ok", content_type="text/plain")
