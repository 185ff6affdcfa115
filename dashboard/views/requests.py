"""Requests for work: their list, one of them, and the parts that pages poll."""

from django import forms
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.utils.cache import patch_vary_headers
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from django_htmx.middleware import HtmxDetails

from dashboard.models import IngestRequest
from dashboard.queries.requests import newest_requests, one_request
from dashboard.views.tables import Ending, Table, refused, table_answer
from dashboard.vocabulary.inputs import LARGEST_ID

SHOWN = 50
COLUMNS = (
    *("id", "kind", "target", "state", "run_id", "requested_at", "requested_by"),
    *("started_at", "finished_at", "error"),
)


class PolledRequest(HttpRequest):
    """A request that may have been sent by htmx."""

    htmx: HtmxDetails


class RequestFilterForm(forms.Form):
    run = forms.IntegerField(min_value=1, max_value=LARGEST_ID, required=False)
    limit = forms.IntegerField(min_value=1, max_value=SHOWN, required=False)


@require_safe
@never_cache
def ingest_requests(request: PolledRequest) -> HttpResponse:
    form = RequestFilterForm(request.GET)
    if not form.is_valid():
        sentences = [f"{name}: {e}" for name, es in form.errors.items() for e in es]
        return render(request, "requests.html", {"refused": sentences}, status=400)
    run_id = form.cleaned_data["run"]
    found = newest_requests(form.cleaned_data["limit"] or SHOWN, run_id)
    context = {"requests": found, "run_id": run_id, "polled": bool(request.htmx)}
    return _page_or_part(request, "requests.html", "_requests.html", context)


@require_safe
@never_cache
def ingest_requests_file(request: HttpRequest, ending: Ending) -> HttpResponseBase:
    """Return the requests that the list shows."""
    form = RequestFilterForm(request.GET)
    if not form.is_valid():
        return refused(f"{name}: {e}" for name, es in form.errors.items() for e in es)
    run_id = form.cleaned_data["run"]
    found = newest_requests(form.cleaned_data["limit"] or SHOWN, run_id)
    table = Table("requests", COLUMNS, list(map(_row, found)), brief=COLUMNS[:7])
    return table_answer(request, table, ending)


def _row(asked: IngestRequest) -> tuple[object, ...]:
    return (
        *(asked.pk, asked.get_kind_display(), asked.target, asked.state),
        *(asked.github_run_id, asked.requested_at, asked.requested_by or None),
        *(asked.started_at, asked.finished_at, asked.error or None),
    )


@require_safe
@never_cache
def ingest_request(request: PolledRequest, pk: int) -> HttpResponse:
    found = one_request(pk) if pk <= LARGEST_ID else None
    if found is None:
        raise Http404(f"There is no request {pk}.")
    context = {"asked": found, "polled": bool(request.htmx)}
    return _page_or_part(request, "request.html", "_request.html", context)


def _page_or_part(
    request: PolledRequest, page: str, part: str, context: dict[str, object]
) -> HttpResponse:
    context["here"] = request.get_full_path()
    answer = render(request, part if request.htmx else page, context)
    patch_vary_headers(answer, ["HX-Request"])
    return answer
