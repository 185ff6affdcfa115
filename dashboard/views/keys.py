"""The catalogue of config keys, and the same as CSV."""

from collections.abc import Iterable, Iterator

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import condition, require_safe

from dashboard.analysis.catalogue import KeyRow, sorted_rows
from dashboard.caching import data_etag
from dashboard.forms.keys import KeysForm
from dashboard.queries.keys import catalogue
from dashboard.views.key_files import rows_csv
from dashboard.views.paging import page_of
from dashboard.views.run_columns import Column

PAGE_SIZE = 50

_COLUMNS = (
    ("Config key", "key", False),
    ("Scenario", "scenario", False),
    ("Points", "points", True),
    ("Evals", "evals", True),
    ("Open regressions", "regressions", True),
    ("Checkpoint", "checkpoint", False),
    ("Image", "image", False),
    ("Age", "age", False),
    ("Last change", "change", False),
)


@require_safe
def keys(request: HttpRequest) -> HttpResponse:
    rows = catalogue()
    form = KeysForm(request.GET, rows)
    if not form.is_valid():
        return render(request, "keys.html", {"form": form}, status=400)
    found = _listed(form, rows)
    page, note = page_of(found, PAGE_SIZE, form.cleaned_data["page"])
    context = {
        "form": form,
        "page": page,
        "page_note": note,
        "columns": _columns(form.filters.sort),
        "query": request.GET.urlencode(),
        "count": len(found),
        "is_empty": not rows,
    }
    return render(request, "keys.html", context)


@require_safe
@condition(etag_func=data_etag)
def keys_csv(request: HttpRequest) -> HttpResponse:
    rows = catalogue()
    form = KeysForm(request.GET, rows)
    if not form.is_valid():
        said = "\n".join(form.sentences)
        return HttpResponse(said, status=400, content_type="text/plain; charset=utf-8")
    return rows_csv(_csv_rows(_listed(form, rows)), "config-keys.csv")


def _listed(form: KeysForm, rows: Iterable[KeyRow]) -> list[KeyRow]:
    filters = form.filters
    return sorted_rows(filter(filters.take, rows), filters.sort)


def _columns(sort: str) -> list[Column]:
    directions = {sort: "descending" if sort.startswith("-") else "ascending"}
    return [
        Column(
            label,
            name,
            is_number,
            directions.get(f"-{name}") or directions.get(name, ""),
        )
        for label, name, is_number in _COLUMNS
    ]


def _csv_rows(rows: Iterable[KeyRow]) -> Iterator[Iterable[object]]:
    yield (
        *("config_key", "scenario", "model", "precision", "hardware", "framework"),
        *("checkpoint", "image", "run_id", "measured_at", "received", "planned"),
        *("has_swap", "last_change_at", "last_change", "last_change_run_id"),
        *("open_regressions", "evals_passed", "evals"),
    )
    for row in rows:
        sweep, change = row.sweep, row.last_change
        yield (
            *(row.key, row.scenario, row.model, row.precision, row.hardware),
            row.framework,
            *((sweep.checkpoint, sweep.image, sweep.run_id) if sweep else (None,) * 3),
            *(row.newest, row.curve.received if row.curve else None, row.planned),
            row.has_swap,
            *((change.at, change.words, change.run_id) if change else (None,) * 3),
            *(row.regressions, row.evals.passed, row.evals.scored),
        )
