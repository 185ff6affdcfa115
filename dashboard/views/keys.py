"""The catalogue of config keys, and the same as CSV."""

from collections.abc import Iterable

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.views.decorators.http import condition, require_safe

from dashboard.analysis.catalogue import KeyRow, sorted_rows
from dashboard.caching import data_etag
from dashboard.forms.keys import KeysForm
from dashboard.queries.keys import catalogue
from dashboard.views.paging import page_of
from dashboard.views.run_columns import Column
from dashboard.views.tables import Ending, Table, refused, table_answer
from dashboard.vocabulary.links import repository_of

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

FILE_COLUMNS = (
    *("config_key", "scenario", "model", "precision", "hardware", "framework"),
    *("checkpoint", "image", "run_id", "measured_at", "received", "planned"),
    *("has_swap", "last_change_at", "last_change", "last_change_run_id"),
    *("open_regressions", "evals_passed", "evals", "official_at", "repository"),
)
BRIEF = (
    *("config_key", "scenario", "received", "planned", "evals_passed", "evals"),
    *("open_regressions", "checkpoint", "image", "measured_at", "run_id"),
    "last_change",
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
@condition(etag_func=lambda request, **_asked: data_etag(request))
def keys_file(request: HttpRequest, ending: Ending) -> HttpResponseBase:
    """Return every row that the filters leave as a file."""
    rows = catalogue()
    form = KeysForm(request.GET, rows)
    if not form.is_valid():
        return refused(form.sentences)
    found = list(map(_file_row, _listed(form, rows)))
    table = Table("config-keys", FILE_COLUMNS, found, brief=BRIEF)
    return table_answer(request, table, ending)


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


def _file_row(row: KeyRow) -> tuple[object, ...]:
    sweep, change = row.sweep, row.last_change
    return (
        *(row.key, row.scenario or None, row.model, row.precision, row.hardware),
        row.framework,
        *((sweep.checkpoint, sweep.image, sweep.run_id) if sweep else (None,) * 3),
        *(row.newest, row.curve.received if row.curve else None, row.planned),
        row.has_swap,
        *((change.at, change.words, change.run_id) if change else (None,) * 3),
        *(row.regressions, row.evals.passed, row.evals.scored),
        *((sweep.official_at, repository_of(sweep.run_url)) if sweep else (None,) * 2),
    )
