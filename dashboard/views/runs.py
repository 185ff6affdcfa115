"""The pages of runs: all of them, and one."""

from typing import Any

from django import forms
from django.core.paginator import Page, Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from dashboard.models import Run
from dashboard.queries.run_report import run_report
from dashboard.queries.runs import HELD, listed_runs, publication

PAGE_SIZE = 50
LONGEST_TEXT = 200
PUBLICATIONS = [("", "all"), *Run.Publication.choices, (HELD, "held")]


class RunFilterForm(forms.Form):
    publication = forms.ChoiceField(
        choices=PUBLICATIONS, required=False, label="Publication"
    )
    q = forms.CharField(
        max_length=LONGEST_TEXT,
        required=False,
        label="Run id, title, branch or PR",
        widget=forms.TextInput(attrs={"type": "search"}),
    )
    page = forms.IntegerField(min_value=1, required=False, widget=forms.HiddenInput)


@require_safe
def run_list(request: HttpRequest) -> HttpResponse:
    form = RunFilterForm(request.GET, label_suffix="")
    if not form.is_valid():
        return render(request, "runs.html", {"form": form}, status=400)
    asked = form.cleaned_data
    page = _page(asked)
    listed = [
        (run, publication(run, has_held_sweep=run.has_held_sweep)) for run in page
    ]
    filters = {"publication": asked["publication"], "q": asked["q"]}
    context = {"form": form, "page": page, "listed": listed, "filters": filters}
    return render(request, "runs.html", context)


def _page(asked: dict[str, Any]) -> Page[Any]:
    runs = listed_runs(asked["publication"], asked["q"])
    return Paginator(runs, PAGE_SIZE).get_page(asked["page"] or 1)


@require_safe
def run(request: HttpRequest, run_id: int) -> HttpResponse:
    report = run_report(run_id)
    if report is None:
        raise Http404(f"Run {run_id} is not stored here.")
    return render(request, "run.html", {"report": report, "run": report.run})
