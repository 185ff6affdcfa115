"""The evaluation page: eval scores of official runs, and of the runs of a link."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.cache import add_never_cache_headers, patch_vary_headers
from django.views.decorators.http import require_safe
from django_htmx.middleware import HtmxDetails

from dashboard.forms.evaluation import EvaluationForm
from dashboard.forms.unofficial import asked_runs, rewritten
from dashboard.queries import evaluation as queries
from dashboard.queries.evaluation import EvalFilters
from dashboard.queries.run_parts import JudgedEval
from dashboard.views.asked_runs import (
    AskedState,
    asked_states,
    next_look,
    waiting_for,
)


class HtmxRequest(HttpRequest):
    """A request that the middleware has told who asks."""

    htmx: HtmxDetails


@require_safe
def evaluation(request: HtmxRequest) -> HttpResponse:
    asked = asked_runs(request.GET).runs
    offered = queries.offered(run.run_id for run in asked)
    form = EvaluationForm(request.GET, *offered)
    if not form.is_valid():
        context = {"sentences": form.sentences}
        return render(request, "evaluation_refused.html", context, status=400)
    states = asked_states(request, form.unofficial.runs, may_ask=True)
    waiting = waiting_for(states)
    is_news = request.headers.get("X-Waiting", "") != waiting
    part = request.htmx.target if request.htmx else ""
    template = "evaluation.html"
    if part == "asked":
        template = "_evaluation_view.html" if is_news else "_asked_runs.html"
    answer = render(request, template, _context(request, form, states))
    if part == "asked" and is_news:
        answer["HX-Retarget"], answer["HX-Reswap"] = "#view", "innerHTML"
    if states:
        add_never_cache_headers(answer)
    patch_vary_headers(answer, ["HX-Request", "HX-Target"])
    return answer


def _context(
    request: HtmxRequest, form: EvaluationForm, states: list[AskedState]
) -> dict[str, Any]:
    asked = form.cleaned_data
    filters = EvalFilters(asked["model"], asked["task"], asked["date"])
    rows, measured = _rows(states, filters)
    return {
        "form": form,
        "filters": filters,
        "rows": rows,
        "counts": {"asked": len(measured), "official": len(rows) - len(measured)},
        "overlays": [{"state": state} for state in states],
        "without_scores": _without_scores(states, measured),
        "refused_runs": form.unofficial.refused,
        "asked_tokens": ",".join(run.token for run in form.unofficial.runs),
        "without_all": rewritten(request.GET, ()),
        "waiting": waiting_for(states),
        "next_look": next_look(states),
        "path": reverse("evaluation"),
        "here": request.get_full_path(),
        "page_name": "evaluation",
        "query": request.GET.urlencode(),
    }


Row = tuple[JudgedEval, AskedState | None]


def _rows(
    states: list[AskedState], filters: EvalFilters
) -> tuple[list[Row], list[Row]]:
    """Return all rows, those of the link's runs first and no score twice, and these."""
    wanted = [(s.asked.run_id, s.asked.attempt) for s in states]
    found = queries.evals_of(wanted, filters) if wanted else {}
    measured: list[Row] = [
        (row, state)
        for state, place in zip(states, wanted, strict=True)
        for row in found[place]
    ]
    shown = {row.result.pk for row, _ in measured}
    official = queries.official_evals(filters)
    rest: list[Row] = [(row, None) for row in official if row.result.pk not in shown]
    return [*measured, *rest], measured


def _without_scores(states: list[AskedState], measured: list[Row]) -> list[AskedState]:
    """Return the stored runs that have no score among those shown."""
    have = {state.asked for _, state in measured if state is not None}
    return [s for s in states if s.stored is not None and s.asked not in have]
