"""The page of one stored point, its files, and the reading of its requests."""

from typing import Any

from django import forms
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.utils.cache import patch_vary_headers
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe
from django_htmx.middleware import HtmxDetails

from dashboard.ingest_requests import RequestRefusedError, request_trace
from dashboard.queries.point_detail import PointReport, point_of_place, point_report
from dashboard.queries.point_requests import COLUMNS, requests_of
from dashboard.views.fetch_limits import LimitReachedError, count_fetch
from dashboard.views.point_parts import families, metric_rows, pictures
from dashboard.views.point_requests import shown_requests
from dashboard.views.tables import Table, refused, table_answer
from dashboard.vocabulary.inputs import LARGEST_ID
from dashboard.vocabulary.statistics import STATISTICS

LARGEST_CONCURRENCY = 2**31 - 1
METRIC_COLUMNS = (
    *("family", "metric", "label", "unit", "value", "is_derived"),
    *("formula", "made_with"),
)
HISTORY_COLUMNS = (
    *("point_id", "run_id", "official_at", "state", "segment", "is_swap"),
    *("checkpoint", "image", "attempt", "tput_per_gpu_tok_s"),
    *("median_intvty_tok_s_user", "p90_intvty_tok_s_user", "is_flagged_out"),
)


class HtmxRequest(HttpRequest):
    """A request that the middleware has told who asks."""

    htmx: HtmxDetails


@require_safe
def point(request: HttpRequest, pk: int) -> HttpResponse:
    report = _report(pk)
    context = {
        "families": families(report),
        "statistics": STATISTICS.values(),
        "pictures": pictures(report),
        **_requests(report),
    }
    return render(request, "point.html", context)


class PlaceForm(forms.Form):
    """Where a point stands, as tables that know no number of it name it."""

    run = forms.IntegerField(min_value=1, max_value=LARGEST_ID)
    key = forms.CharField(strip=False)
    scenario = forms.CharField()
    deployment = forms.CharField()
    concurrency = forms.IntegerField(min_value=1, max_value=LARGEST_CONCURRENCY)


@require_safe
def point_at(request: HttpRequest) -> HttpResponse:
    """Lead to the point that counts at a place of a run."""
    form = PlaceForm(request.GET)
    if not form.is_valid():
        return refused(f"{n}: {e}" for n, es in form.errors.items() for e in es)
    found = point_of_place(**form.cleaned_data)
    if found is None:
        raise Http404("The run has no point at this place.")
    return HttpResponseRedirect(reverse("point", args=[found]))


@require_safe
def point_record(_request: HttpRequest, pk: int) -> HttpResponse:
    """Return the record that the point was made of, as it is stored."""
    record = _report(pk).point.raw_record
    if record is None:
        raise Http404(f"No record of point {pk} is stored.")
    answer = HttpResponse(record.body, content_type="application/json")
    answer["Content-Disposition"] = f'attachment; filename="point-{pk}-record.json"'
    return answer


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
def point_requests(request: HtmxRequest, pk: int) -> HttpResponse:
    """Show the part of the page that tells of requests; a POST asks for them."""
    report = _report(pk)
    refusal = _ask(request, report) if request.method == "POST" else ""
    if not request.htmx and not refusal:
        return HttpResponseRedirect(f"{reverse('point', args=[pk])}#requests")
    context = {**_requests(report), "polled": True, "refusal": refusal}
    status = 429 if refusal and not request.htmx else 200
    template = "_point_requests.html" if request.htmx else "point_refused.html"
    answer = render(request, template, context, status=status)
    patch_vary_headers(answer, ["HX-Request"])
    return answer


def _ask(request: HttpRequest, report: PointReport) -> str:
    """Ask for the requests to be read; return why not, empty where it was asked."""
    if not report.requests.can_be_asked:
        return ""
    try:
        count_fetch(request, report.run.github_run_id)
        request_trace(
            point=report.point, requested_by=request.user.get_username() or "a reader"
        )
    except (LimitReachedError, RequestRefusedError) as error:
        return str(error)
    # What was read before asking is read again.
    report.__dict__.pop("requests", None)
    return ""


@require_safe
def point_metrics_file(request: HttpRequest, pk: int, ending: str) -> HttpResponseBase:
    report = _report(pk)
    return _file(
        request, report, "metrics", METRIC_COLUMNS, metric_rows(report), ending
    )


@require_safe
def point_history_file(request: HttpRequest, pk: int, ending: str) -> HttpResponseBase:
    report = _report(pk)
    rows = [tuple(row) for row in report.neighbours]
    return _file(request, report, "history", HISTORY_COLUMNS, rows, ending)


@require_safe
def point_requests_file(request: HttpRequest, pk: int, ending: str) -> HttpResponseBase:
    report = _report(pk)
    trace = report.requests.trace
    if trace is None:
        raise Http404(f"No requests of point {pk} are stored.")
    rows = [tuple(row) for row in requests_of(trace)]
    return _file(request, report, "requests", COLUMNS, rows, ending)


def _file(  # a file has a name, columns, rows and an ending
    request: HttpRequest,
    report: PointReport,
    what: str,
    columns: tuple[str, ...],
    rows: list[tuple[Any, ...]],
    ending: str,
) -> HttpResponseBase:
    pk = report.point.pk
    about = {"point_id": pk, "run_id": report.run.github_run_id}
    page = reverse("point", args=[pk])
    table = Table(f"point-{pk}-{what}", columns, rows, about, page)
    return table_answer(request, table, ending)


def _report(pk: int) -> PointReport:
    report = point_report(pk) if pk <= LARGEST_ID else None
    if report is None:
        raise Http404(f"There is no point {pk}.")
    return report


def _requests(report: PointReport) -> dict[str, Any]:
    """Return what the part on single requests shows, which only traces have."""
    context: dict[str, Any] = {"report": report, "point": report.point}
    if not report.is_agentic:
        return context
    asked = report.requests
    shown = shown_requests(report, asked.trace) if asked.trace else None
    return {**context, "asked": asked, "shown": shown}
