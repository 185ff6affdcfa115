"""The page that holds any two runs, or attempts, against each other, and its file."""

from collections.abc import Sequence
from http import HTTPStatus
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from dashboard.analysis.sides import SweepVerdict
from dashboard.forms.compare import SORTS, WORST, CompareForm
from dashboard.forms.unofficial import AskedRun
from dashboard.queries.comparisons import RunsCompared, compared, details
from dashboard.queries.run_verdicts import stored_run
from dashboard.queries.told_verdicts import told_verdicts
from dashboard.views.compare_files import FILES
from dashboard.views.compare_parts import KeyShown
from dashboard.views.compare_states import (
    Obstacle,
    nothing_common,
    places_text,
    same_run,
    side_of,
    unknown_place,
)
from dashboard.views.permalinks import permalink
from dashboard.views.tables import Ending, refused, table_answer

# With more keys in common the page gives the verdicts, and a link for each.
MOST_DETAILS = 4
PINNED = (
    "It names both runs. Where it names no attempt, all attempts of the run count, a "
    "later one too; the noise is that from before the head's day."
)


@require_safe
def compare(request: HttpRequest) -> HttpResponse:
    form = CompareForm(request.GET)
    if not form.is_valid():
        context: dict[str, Any] = {"form": form}
        return render(request, "compare_form.html", context, status=400)
    if not form.is_complete:
        context = {"form": form, "offered": _offered(form.cleaned_data["head"])}
        return render(request, "compare_form.html", context)
    found = _compared(form)
    if isinstance(found, Obstacle):
        context = {"form": form, "obstacle": found}
        return render(request, "compare_state.html", context, status=found.status)
    return render(request, "compare.html", _context(request, form, found))


@require_safe
def compare_file(
    request: HttpRequest, ending: Ending, table: str = "deltas"
) -> HttpResponseBase:
    """Return one of the tables of the comparison, of all keys that it shows."""
    if table not in FILES:
        raise Http404(f"A comparison has no table {table}.")
    form = CompareForm(request.GET)
    if not form.is_valid() or not form.is_complete:
        return refused(form.sentences or ["base and head: a run each is needed."])
    found = _compared(form)
    if isinstance(found, Obstacle):
        is_told = found.status != HTTPStatus.OK
        status = found.status if is_told else HTTPStatus.NOT_FOUND
        return _text("\n".join((f"{found.title}.", *found.sentences)), status)
    sort = form.cleaned_data["sort"] or WORST
    made = FILES[table](found, _chosen(form, found), sort)
    return table_answer(request, made.of(reverse("compare")), ending)


def _text(body: str, status: HTTPStatus) -> HttpResponse:
    return HttpResponse(body, status=status, content_type="text/plain; charset=utf-8")


def _compared(form: CompareForm) -> RunsCompared | Obstacle:
    """Return the two runs side by side, or the first thing that forbids it."""
    base, head = (side_of(form.cleaned_data[name]) for name in ("base", "head"))
    for side in (base, head):
        if isinstance(side, Obstacle):
            return side
    assert not isinstance(base, Obstacle)  # noqa: S101  # for the type checker
    assert not isinstance(head, Obstacle)  # noqa: S101
    same = same_run(base, head)
    if same is not None:
        return same
    found = compared(base, head)
    nothing = nothing_common(found)
    if nothing is not None:
        return nothing
    return found if _chosen(form, found) else unknown_place(found)


def _chosen(form: CompareForm, found: RunsCompared) -> list[SweepVerdict]:
    key, scenario = form.cleaned_data["key"], form.cleaned_data["scenario"]
    return [
        verdict
        for verdict in found.verdicts
        if key in ("", verdict.config_key) and scenario in ("", verdict.scenario)
    ]


def _offered(head: AskedRun | None) -> list[tuple[str, str]]:
    """Return the official baselines of a run as (key, how a link names its run)."""
    run = stored_run(head.run_id) if head else None
    if head is None or run is None:
        return []
    asked = (run, head.attempt)
    told = told_verdicts([asked])[asked]
    return [(v.config_key, v.base_token) for v in told if v.base_token]


def _context(
    request: HttpRequest, form: CompareForm, found: RunsCompared
) -> dict[str, Any]:
    chosen = _chosen(form, found)
    shown = _shown(form, found, chosen)
    return {
        "form": form,
        "found": found,
        "chosen": chosen,
        "shown": [(item, item.alone(request)) for item in shown],
        "most": MOST_DETAILS,
        "sorts": _sorts(request.GET, form.cleaned_data["sort"] or WORST),
        "swapped": _swapped(request.GET, found),
        "query": request.GET.urlencode(),
        "here": reverse("compare"),
        "only_base": places_text(found.only_base),
        "only_head": places_text(found.only_head),
        "extending": places_text(found.extending),
        "is_narrowed": len(chosen) < len(found.verdicts),
        "verdicts": [(v, _narrowed(request.GET, v)) for v in found.verdicts],
        "permalink": permalink(request, _sides(found), PINNED),
        "whole": _with(request.GET, key="", scenario=""),
    }


def _shown(
    form: CompareForm, found: RunsCompared, chosen: Sequence[SweepVerdict]
) -> list[KeyShown]:
    if len(chosen) > MOST_DETAILS:
        return []
    sort = form.cleaned_data["sort"] or WORST
    told = details(found, chosen)
    return [KeyShown(item, number, sort) for number, item in enumerate(told)]


def _sorts(query: QueryDict, chosen: str) -> list[tuple[str, str, bool]]:
    """Return the orders of the delta table: label, query, whether it is this one."""
    return [
        (label, _with(query, sort=name), name == chosen)
        for name, label in SORTS.items()
    ]


def _swapped(query: QueryDict, found: RunsCompared) -> str:
    """Return the query with base and head exchanged."""
    return _with(
        query,
        base=found.head.token,
        head=found.base.token,
        base_attempt="",
        head_attempt="",
    )


def _sides(found: RunsCompared) -> dict[str, str]:
    """Return both sides as a link names them, their attempts in the same word."""
    named = {"base": found.base.token, "head": found.head.token}
    return {**named, "base_attempt": "", "head_attempt": ""}


def _narrowed(query: QueryDict, verdict: SweepVerdict) -> str:
    return _with(query, key=verdict.config_key, scenario=verdict.scenario)


def _with(query: QueryDict, **values: str) -> str:
    """Return the query with some values changed; an empty one is left out."""
    changed = query.copy()
    for name, value in values.items():
        changed.pop(name, None)
        if value:
            changed[name] = value
    return changed.urlencode(safe="/:")
