"""The pages of runs: all of them, one, and what one attempt of it contributed."""

from collections.abc import Sequence
from http import HTTPStatus

from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_safe

from dashboard.analysis.verdict_report import one_line_verdict
from dashboard.models import Notice, Run
from dashboard.permissions import may_correct
from dashboard.queries import runs as queries
from dashboard.queries.notices import Subject, notes_about
from dashboard.queries.regressions import of_run
from dashboard.queries.requests import newest_requests
from dashboard.queries.run_logs import failed_logs
from dashboard.queries.run_report import REQUESTS, RunReport, run_report
from dashboard.queries.told_verdicts import told_verdicts
from dashboard.views.correction_forms import CorrectionForm
from dashboard.views.paging import page_of
from dashboard.views.permalinks import until_today
from dashboard.views.run_columns import columns
from dashboard.views.run_evals import run_evals, within_run
from dashboard.views.run_files import FILES, run_table
from dashboard.views.run_filters import RunFilterForm
from dashboard.views.run_list import runs_table
from dashboard.views.tables import Ending, refused, table_answer
from dashboard.vocabulary.metrics import METRICS

PAGE_SIZE = 50
CHUNK = 500
TABLE_METRICS = (
    *("tput_per_gpu", "output_tput_per_gpu", "median_intvty", "p90_intvty"),
    *("median_ttft", "p90_ttft", "median_tpot", "median_e2el"),
)


@require_safe
def run_list(request: HttpRequest) -> HttpResponse:
    form = RunFilterForm(request.GET, queries.offered())
    if not form.is_valid():
        return render(request, "runs.html", {"form": form}, status=400)
    filters = form.filters
    found = queries.listed_runs(filters)
    page, note = page_of(found, PAGE_SIZE, form.cleaned_data["page"])
    context = {
        "form": form,
        "page": page,
        "page_note": note,
        "listed": queries.with_publication(page),
        "columns": columns(filters.sort),
        "permalink": until_today(request, filters.until),
    }
    return render(request, "runs.html", context)


@require_safe
def run(request: HttpRequest, run_id: int) -> HttpResponse:
    report = run_report(run_id)
    if report is None:
        return _not_stored(request, run_id)
    return run_page(request, report)


@require_safe
def run_attempt(request: HttpRequest, run_id: int, attempt: int) -> HttpResponse:
    report = run_report(run_id, attempt)
    if report is None:
        return _not_stored(request, run_id)
    if not report.has_attempt:
        raise Http404(f"Run {run_id} has no attempt {attempt}.")
    return run_page(request, report)


@require_safe
def runs_file(request: HttpRequest, ending: Ending) -> HttpResponseBase:
    """Return every run that the filters leave, in the order of the list."""
    form = RunFilterForm(request.GET, queries.offered())
    if not form.is_valid():
        return refused(form.sentences)
    found = queries.listed_runs(form.filters).iterator(chunk_size=CHUNK)
    return table_answer(request, runs_table(found), ending)


@require_safe
def run_file(
    request: HttpRequest,
    run_id: int,
    table: str,
    ending: Ending,
    attempt: int | None = None,
) -> HttpResponseBase:
    """Return one of the tables of a run, or of one attempt of it."""
    report = run_report(run_id, attempt) if table in FILES else None
    if report is None or (attempt is not None and not report.has_attempt):
        raise Http404(f"There is no table {table} of a run {run_id} stored here.")
    page = request.path.rpartition("/")[0]
    return table_answer(request, run_table(report, table).of(page), ending)


def run_page(
    request: HttpRequest,
    report: RunReport,
    *,
    tried: CorrectionForm | None = None,
    refusals: Sequence[str] = (),
) -> HttpResponse:
    """Answer with the page of a run; with why a correction was refused, as a 400."""
    context = _context(report)
    if may_correct(request.user):
        context["correction_form"] = tried or CorrectionForm(report)
        context["refusals"] = refusals
    status = HTTPStatus.BAD_REQUEST if refusals else HTTPStatus.OK
    return render(request, "run.html", context, status=status)


def _context(report: RunReport) -> dict[str, object]:
    metrics = [METRICS[name] for name in TABLE_METRICS]
    rows = [
        (sweep, point, [(m, getattr(point, m.name)) for m in metrics])
        for sweep, point in report.point_rows
    ]
    evals = run_evals(report.evals)
    return {
        "evals": evals,
        "within_run": within_run(evals),
        "report": report,
        "run": report.run,
        "metrics": metrics,
        "rows": rows,
        "requests": report.requests,
        "notes": _notes(report),
        **_verdicts(report),
        "regressions": of_run(report.run),
        "logs": failed_logs(report.run, report.artifacts),
        "here": _polled(report.run.github_run_id),
    }


def _verdicts(report: RunReport) -> dict[str, object]:
    """Return the verdicts on what the run measured, or on what it publishes."""
    measured = report.source or report.run
    is_hidden = report.run.publication == Run.Publication.HIDDEN
    asked = (measured, report.attempt)
    told = [] if is_hidden else told_verdicts([asked])[asked]
    return {"verdicts": told, "verdict_line": one_line_verdict(told)}


def _notes(report: RunReport) -> list[Notice]:
    run_id = report.run.github_run_id
    keys = (item.sweep.config_key for item in report.sweeps)
    subjects = (Subject(k.key, k.framework, k.model, run_id) for k in keys)
    return notes_about(subjects, timezone.now(), [run_id])


def _not_stored(request: HttpRequest, run_id: int) -> HttpResponse:
    """Show the work on a run that is not stored yet; 404 where nobody asked for it."""
    requests = newest_requests(REQUESTS, run_id)
    if not requests:
        raise Http404(f"Run {run_id} is not stored here.")
    is_active = any(asked.is_active for asked in requests)
    context = {
        "run_id": run_id,
        "requests": requests,
        "is_active": is_active,
        "here": _polled(run_id),
    }
    status = HTTPStatus.ACCEPTED if is_active else HTTPStatus.NOT_FOUND
    return render(request, "run_pending.html", context, status=status)


def _polled(run_id: int) -> str:
    return f"{reverse('ingest_requests')}?run={run_id}&limit={REQUESTS}"
