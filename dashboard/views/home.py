"""The first page: what changed, what waits, and how the ingestion is."""

from datetime import timedelta

from django.db.models.query import QuerySet
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_safe

from dashboard.models import Sweep
from dashboard.queries import home as queries
from dashboard.queries import regressions as regression_queries
from dashboard.queries.regressions import RegressionFilters
from dashboard.queries.requests import newest_requests
from dashboard.queries.runs import listed_runs, with_publication
from dashboard.views.run_columns import columns
from dashboard.views.tables import Ending, Table, table_answer

RUNS = 10
SWEEPS = 8
REGRESSIONS = 6
IMPROVEMENTS = 4
REQUESTS = 6
TROUBLES = 5
CHUNK = 500
COLUMNS = (
    *("config_key", "scenario", "state", "received", "planned", "checkpoint"),
    *("run_id", "official_at", "image", "state_reason", "measured_at", "repository"),
    *("attempt", "publication", "run_url"),
)
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


@require_safe
def sweeps_file(request: HttpRequest, ending: Ending) -> HttpResponseBase:
    """Return every official sweep, of which the page shows the newest."""
    return _sweeps(request, "sweeps", queries.every_sweep(), ending)


@require_safe
def open_sweeps_file(request: HttpRequest, ending: Ending) -> HttpResponseBase:
    """Return every sweep that is held or incomplete."""
    return _sweeps(request, "open-sweeps", queries.every_open_sweep(), ending)


def _sweeps(
    request: HttpRequest, name: str, sweeps: QuerySet[Sweep], ending: Ending
) -> HttpResponseBase:
    rows = map(_row, sweeps.defer("planned", "grid").iterator(chunk_size=CHUNK))
    table = Table(name, COLUMNS, rows, brief=COLUMNS[:8])
    return table_answer(request, table.of(reverse("home")), ending)


def _row(sweep: Sweep) -> tuple[object, ...]:
    run = sweep.run
    return (
        *(sweep.config_key.key, sweep.scenario, sweep.state, sweep.received_count),
        *(sweep.planned_count, sweep.checkpoint and sweep.checkpoint.name),
        *(run.github_run_id, sweep.official_at, sweep.image or None),
        *(sweep.state_reason or None, sweep.measured_at, run.repository.full_name),
        *(run.attempt, run.publication, run.url or None),
    )
