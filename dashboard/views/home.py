"""The first page: what changed, what waits, and how the ingestion is."""

from datetime import timedelta

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_safe

from dashboard.queries import home as queries
from dashboard.queries import regressions as regression_queries
from dashboard.queries.regressions import RegressionFilters
from dashboard.queries.requests import newest_requests
from dashboard.queries.runs import listed_runs, with_publication
from dashboard.views.run_columns import columns

RUNS = 10
SWEEPS = 8
REGRESSIONS = 6
IMPROVEMENTS = 4
REQUESTS = 6
TROUBLES = 5
LATELY = timedelta(days=30)


@require_safe
def home(request: HttpRequest) -> HttpResponse:
    since = timezone.now() - LATELY
    context = {
        "listed": with_publication(listed_runs()[:RUNS]),
        "columns": columns(""),
        "open": queries.open_sweeps(SWEEPS),
        "newest": queries.newest_sweeps(SWEEPS),
        "regression_counts": regression_queries.counts(),
        "regressions": regression_queries.newest(REGRESSIONS),
        "improvements": regression_queries.improvements(RegressionFilters())[
            :IMPROVEMENTS
        ],
        "changes": queries.checkpoint_changes(SWEEPS),
        "requests": newest_requests(REQUESTS),
        "troubled": queries.troubled_requests(since, TROUBLES),
        "rejected": queries.rejected_artifacts(since, TROUBLES),
        "last_stored": queries.last_stored(),
        "here": f"{reverse('ingest_requests')}?limit={REQUESTS}",
    }
    return render(request, "home.html", context)
