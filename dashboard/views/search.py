"""The search of the top bar: to the one thing that was meant, else what was found."""

from django import forms
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_safe

from dashboard.forms.unofficial import AskedRun, read_run
from dashboard.models import ConfigKey, Run
from dashboard.queries.search import Found, find

LONGEST = 200
# GitHub's ids of runs have ten digits and more; pull requests have few.
SMALLEST_RUN_ID = 10**8


class SearchForm(forms.Form):
    q = forms.CharField(max_length=LONGEST, required=False)


@require_safe
def search(request: HttpRequest) -> HttpResponse:
    form = SearchForm(request.GET)
    if not form.is_valid():
        context = {"refused": form.errors["q"]}
        return render(request, "search.html", context, status=400)
    text = form.cleaned_data["q"]
    found = find(text)
    meant = _only_meant(found, text)
    if meant is not None:
        return redirect(meant)
    results = {"found": found, "searched": text, "unknown_run": _unknown(found, text)}
    return render(request, "search.html", results)


def _unknown(found: Found, text: str) -> AskedRun | None:
    """Return the run whose id or address was typed, if it is one to be fetched."""
    run = None if found.by_id else read_run(text.strip())
    if run is None or (not run.repository and run.run_id < SMALLEST_RUN_ID):
        return None
    return run


def _only_meant(found: Found, text: str) -> Run | ConfigKey | None:
    """Return the one run or key whose id was typed, None where there are several."""
    key = next((key for key in found.keys if key.key == text), None)
    named: list[Run | ConfigKey] = [*found.by_id, *found.by_pull]
    if key is not None:
        named.append(key)
    return named[0] if len(named) == 1 else None
