"""The page of what changed: swaps, changelog, configs of the past, defects."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from django.core.paginator import Page
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.views.decorators.http import require_safe

from dashboard.forms.changes import ChangeFilterForm
from dashboard.queries.change_keys import (
    ChangeFilters,
    NamedKey,
    keys_meant,
    named_keys,
)
from dashboard.queries.change_rows import COLUMNS, change_row, change_rows
from dashboard.queries.changes import Part, faulty_entries, parts
from dashboard.queries.swaps import swap_reports
from dashboard.views.paging import page_of
from dashboard.views.permalinks import until_today
from dashboard.views.tables import Ending, Table, refused, table_answer
from dashboard.vocabulary.changes import bands

PAGE_SIZE = 25
LISTS = frozenset({"dropped", "added"})
BRIEF = ("kinds", "at", "config_keys", "before", "after", "text", "pr", "run_id")


class Shown(NamedTuple):
    """One list of the page: its rows, the page they are on, and what to say of it."""

    page: Page[Any]
    rows: list[Any]
    note: str
    parameter: str

    @property
    def total(self) -> int:
        """Return how many there are on all pages."""
        return self.page.paginator.count

    @property
    def before(self) -> dict[str, int]:
        """Return the query of the page before this one."""
        return {self.parameter: self.page.previous_page_number()}

    @property
    def after(self) -> dict[str, int]:
        """Return the query of the page after this one."""
        return {self.parameter: self.page.next_page_number()}


@require_safe
def changes(request: HttpRequest) -> HttpResponse:
    named = named_keys()
    form = _form(request, named)
    if not form.is_valid():
        return render(request, "changes.html", {"form": form}, status=400)
    filters = ChangeFilters(**form.asked)
    keys = keys_meant(filters, named)
    shown = {part.name: _shown(part, form) for part in parts(filters, keys)}
    context = {
        "form": form,
        "named": named,
        "filters": filters,
        "keys": keys,
        "retired": {key.key for key in named if key.is_retired},
        "shown": shown,
        "faulty": faulty_entries(filters) if "files" in shown else 0,
        "permalink": until_today(request, filters.until),
        "is_empty": not any(part.page.paginator.count for part in shown.values()),
    }
    return render(request, "changes.html", context)


@require_safe
def changes_file(request: HttpRequest, ending: Ending) -> HttpResponseBase:
    """Return every change that the filters leave, one row each."""
    named = named_keys()
    form = _form(request, named)
    if not form.is_valid():
        return refused(form.sentences)
    filters = ChangeFilters(**form.asked)
    rows = _rows(parts(filters, keys_meant(filters, named)))
    return table_answer(request, Table("changes", COLUMNS, rows, brief=BRIEF), ending)


def _rows(found: Iterable[Part]) -> Iterator[tuple[object, ...]]:
    for part in found:
        for row in change_rows(part.found):
            yield tuple(_cell(name, getattr(row, name)) for name in COLUMNS)


def _form(request: HttpRequest, named: Sequence[NamedKey]) -> ChangeFilterForm:
    models = {key.model for key in named}
    return ChangeFilterForm(request.GET, models, {key.hardware for key in named})


def _shown(part: Part, form: ChangeFilterForm) -> Shown:
    page, note = page_of(part.found, PAGE_SIZE, form.page(part.name))
    rows: list[Any] = (
        swap_reports(page)
        if part.name == "swaps"
        else [(found, change_row(found)) for found in page]
    )
    return Shown(page, rows, note, f"{part.name}_page")


def _cell(name: str, value: object) -> object:
    """Write places by bands; other lists stay lists."""
    return bands(value) if name in LISTS else value
