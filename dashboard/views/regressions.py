"""The list of regressions to work through, and of improvements beside it."""

from collections.abc import Iterator
from itertools import islice
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse, QueryDict
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.views.decorators.http import require_safe

from dashboard.forms.regressions import RegressionFilterForm, TriageForm
from dashboard.models import Judgement, Regression
from dashboard.permissions import may_correct, triagers
from dashboard.queries import regressions as queries
from dashboard.queries.regressions import RegressionFilters
from dashboard.queries.suspects import Suspect, suspects
from dashboard.views.paging import page_of
from dashboard.views.tables import Ending, Table, refused, table_answer

PAGE_SIZE = 50
CHUNK = 200

# Keys of the keyboard for the states, as the help line and the script name them.
STATE_KEYS = {
    "u": "untriaged",
    "a": "acknowledged",
    "i": "investigating",
    "e": "expected",
    "n": "noise",
    "f": "infra",
    "d": "fixed",
    "w": "won't fix",
}

COLUMNS = (
    *("id", "state", "kind", "config_key", "scenario", "run_id", "baseline_run_id"),
    *("change", "is_strong", "since", "first_bad_run_id", "recovered_by"),
    *("recovered_at", "is_active", "owner", "pr", "pr_url", "summary", "url"),
    *("checkpoint", "image", "repository", "publication"),
)
BRIEF = (
    *("id", "config_key", "scenario", "kind", "summary", "change", "since"),
    *("run_id", "state", "owner", "pr"),
)
IMPROVEMENT_COLUMNS = (
    *("config_key", "scenario", "run_id", "baseline_run_id", "change", "since"),
    "sentence",
)


@require_safe
def regressions(request: HttpRequest) -> HttpResponse:
    form = filter_form(request.GET)
    if not form.is_valid():
        return render(request, "regressions.html", {"form": form}, status=400)
    filters = RegressionFilters(**form.asked)
    context = {
        "form": form,
        "counts": queries.counts(),
        **(
            _improvements(form, filters)
            if form.shows_improvements
            else _regressions(request, form, filters)
        ),
    }
    return render(request, "regressions.html", context)


def filter_form(query: QueryDict) -> RegressionFilterForm:
    """Return the form of a query, over what is stored."""
    return RegressionFilterForm(query, **queries.offered()._asdict())


def _regressions(
    request: HttpRequest,
    form: RegressionFilterForm,
    filters: RegressionFilters,
) -> dict[str, Any]:
    found = queries.listed(filters)
    page, note = page_of(found, PAGE_SIZE, form.cleaned_data["page"])
    rows = list(page)
    named = suspects(rows)
    for row in rows:
        row.suspects = named[row.pk]
    can_triage = may_correct(request.user)
    return {
        "page": page,
        "page_note": note,
        "groups": queries.grouped(rows),
        "triage_form": TriageForm(triagers()) if can_triage else None,
        "query": request.GET.urlencode(),
        "state_keys": STATE_KEYS,
    }


def _improvements(
    form: RegressionFilterForm, filters: RegressionFilters
) -> dict[str, Any]:
    found = queries.improvements(filters)
    page, note = page_of(found, PAGE_SIZE, form.cleaned_data["page"])
    return {"page": page, "page_note": note, "improvements": list(page)}


@require_safe
def regressions_file(request: HttpRequest, ending: Ending) -> HttpResponseBase:
    """Return every row that the filters leave, of the list that is shown."""
    form = filter_form(request.GET)
    if not form.is_valid():
        return refused(form.sentences)
    filters = RegressionFilters(**form.asked)
    if form.shows_improvements:
        rows = _improvement_rows(filters)
        table = Table("improvements", IMPROVEMENT_COLUMNS, rows)
    else:
        table = Table("regressions", COLUMNS, _regression_rows(filters), brief=BRIEF)
    return table_answer(request, table, ending)


def _regression_rows(filters: RegressionFilters) -> Iterator[tuple[object, ...]]:
    found = iter(queries.listed(filters).select_related("sweep__checkpoint"))
    while chunk := list(islice(found, CHUNK)):
        named = suspects(chunk)
        for row in chunk:
            yield _row(row, next(iter(named[row.pk]), None))


def _row(row: Regression, suspect: Suspect | None) -> tuple[object, ...]:
    since = row.since  # type: ignore[attr-defined]  # annotated
    recovered = row.recovered_by
    return (
        *(row.pk, row.state, row.kind, row.config_key.key, row.scenario),
        row.run.github_run_id,
        row.baseline.run.github_run_id if row.baseline else None,
        *(row.change, row.is_strong, since),
        row.first_bad.github_run_id if row.first_bad else None,
        recovered.github_run_id if recovered else None,
        row.recovered_at,
        row.is_active,
        row.owner.get_username() if row.owner else None,
        suspect.number if suspect else None,
        suspect.address if suspect else None,
        row.summary,
        f"{settings.FRONTIERBOARD_URL}{row.get_absolute_url()}",
        *_served(row),
    )


def _served(row: Regression) -> tuple[object, ...]:
    """Return checkpoint, image, repository and publication of the candidate."""
    sweep = row.sweep
    return (
        sweep.checkpoint.name if sweep and sweep.checkpoint else None,
        sweep.image or None if sweep else None,
        *(row.run.repository.full_name, row.run.publication),
    )


def _improvement_rows(filters: RegressionFilters) -> Iterator[tuple[object, ...]]:
    for row in queries.improvements(filters):
        yield _improvement(row)


def _improvement(row: Judgement) -> tuple[object, ...]:
    sweep = row.sweep
    return (
        *(sweep.config_key.key, sweep.scenario, sweep.run.github_run_id),
        row.baseline.run.github_run_id if row.baseline else None,
        row.change,
        sweep.official_at,
        row.sentence,
    )
