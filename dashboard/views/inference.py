"""The inference page: one frontier per config key, its rows, and the same as files."""

import re
from typing import Any

import orjson
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import render
from django.utils.cache import patch_vary_headers
from django.views.decorators.http import condition, require_safe
from django_htmx.middleware import HtmxDetails

from dashboard.caching import data_etag
from dashboard.charts.exports import export_layout, html_document, titled
from dashboard.charts.frontier import Figure
from dashboard.forms.inference import InferenceForm
from dashboard.forms.options import (
    axis_options,
    check_groups,
    filter_options,
    offload_options,
)
from dashboard.forms.selection import Selection
from dashboard.queries import inference as queries
from dashboard.views.inference_parts import (
    Shown,
    nothing,
    ranking,
    shown_of,
    words,
)
from dashboard.views.point_tables import (
    csv_answer,
    sorted_rows,
    table_columns,
    table_metrics,
    table_rows,
)
from dashboard.vocabulary.metrics import METRICS
from dashboard.vocabulary.scenarios import scenario_label

# A script asks for the part that changes; anything else gets the page.
PARTS = {
    "view": "_inference_view.html",
    "ranking": "_inference_ranking.html",
    "points": "_inference_table.html",
}


class HtmxRequest(HttpRequest):
    """A request that the middleware has told who asks."""

    htmx: HtmxDetails


@require_safe
def inference(request: HtmxRequest) -> HttpResponse:
    form = _form(request)
    if form.is_valid():
        context = _page(request, form)
        template = PARTS.get(_part(request), "inference.html")
        answer = render(request, template, context)
    else:
        context = {"form": form, "is_part": bool(_part(request))}
        context["remaining"] = _without(request.GET, form.refused)
        answer = render(request, "inference_refused.html", context, status=400)
    patch_vary_headers(answer, ["HX-Request", "HX-Target"])
    return answer


@require_safe
@condition(etag_func=data_etag)
def inference_csv(request: HttpRequest) -> HttpResponse:
    form = _form(request)
    if not form.is_valid():
        return _refused(form)
    shown = shown_of(form)
    chosen = shown.chosen
    rows = sorted_rows(shown.rows, chosen.sort)
    return csv_answer(rows, chosen.x, chosen.y, f"{_filename(chosen)}.csv")


@require_safe
def inference_json(request: HttpRequest) -> HttpResponse:
    form = _form(request)
    if not form.is_valid():
        return _refused(form)
    figure = _alone(request, shown_of(form))
    if isinstance(figure, str):
        return HttpResponse(figure, status=404, content_type="text/plain")
    return HttpResponse(orjson.dumps(figure), content_type="application/json")


@require_safe
def inference_html(request: HttpRequest) -> HttpResponse:
    form = _form(request)
    if not form.is_valid():
        return _refused(form)
    shown = shown_of(form)
    figure = _alone(request, shown)
    if isinstance(figure, str):
        return HttpResponse(figure, status=404, content_type="text/plain")
    answer = HttpResponse(html_document(figure, shown.title))
    filename = f"{_filename(shown.chosen)}.html"
    answer["Content-Disposition"] = f'attachment; filename="{filename}"'
    return answer


def _form(request: HttpRequest) -> InferenceForm:
    return InferenceForm(request.GET, queries)


def _part(request: HtmxRequest) -> str:
    if not request.htmx:
        return ""
    # What Back asks for names no target: it is the whole view.
    return "view" if request.htmx.history_restore_request else request.htmx.target or ""


def _refused(form: InferenceForm) -> HttpResponse:
    reasons = "\n".join(form.sentences)
    return HttpResponse(reasons, status=400, content_type="text/plain; charset=utf-8")


def _without(query: QueryDict, names: set[str]) -> str:
    kept = query.copy()
    for name in names:
        kept.pop(name, None)
    return kept.urlencode()


def _filename(chosen: Selection) -> str:
    name = "-".join(filter(None, ("frontiers", chosen.model, chosen.scenario)))
    return re.sub(r"[^a-zA-Z0-9.-]", "_", name)


def _alone(request: HttpRequest, shown: Shown) -> Figure | str:
    """Return the figure as it stands away from its page, or why there is none."""
    if not shown.curves or isinstance(shown.figure, str):
        reason = shown.figure if shown.curves else ""
        return str(reason or "Nothing passes these filters.")
    visible = [
        trace
        for trace in shown.figure["data"]
        if trace["meta"]["key"] not in shown.chosen.hidden
    ]
    layout = export_layout(words(request, shown), len(shown.curves), shown.chosen.at)
    return titled({**shown.figure, "data": visible}, layout)


def _page(request: HtmxRequest, form: InferenceForm) -> dict[str, Any]:
    shown = shown_of(form)
    chosen = shown.chosen
    context = {
        "chosen": chosen,
        "scenario_label": scenario_label(chosen.scenario),
        "x": METRICS[chosen.x],
        "y": METRICS[chosen.y],
        "query": request.GET.urlencode(),
        "ignored": form.ignored,
        "is_part": bool(_part(request)),
    }
    if not shown.curves:
        return context | _filters(shown, set()) | nothing(form)
    present = queries.measured_metrics(shown.curves)
    return context | _filters(shown, present) | _drawing(request, shown)


def _filters(shown: Shown, present: set[str]) -> dict[str, Any]:
    chosen, offered = shown.chosen, shown.offered
    return {
        "options": filter_options(chosen, offered),
        "groups": check_groups(chosen, offered),
        "offloads": offload_options(chosen),
        "axes": {
            "x": axis_options(chosen.x, present),
            "y": axis_options(chosen.y, present),
        },
    }


def _drawing(request: HtmxRequest, shown: Shown) -> dict[str, Any]:
    chosen, figure = shown.chosen, shown.figure
    is_drawn = not isinstance(figure, str)
    has_disaggregated = bool(shown.points["disagg"].any())
    metrics = table_metrics(chosen.x, chosen.y, has_disaggregated=has_disaggregated)
    layout = export_layout(words(request, shown), len(shown.curves), None)
    return {
        "figure": figure if is_drawn else None,
        "alone": layout,
        "reason": None if is_drawn else figure,
        "legend": shown.legend,
        "columns": table_columns(metrics, chosen.sort, request.GET),
        "rows": table_rows(sorted_rows(shown.rows, chosen.sort), metrics),
        "standings": shown.points["standing"].value_counts().to_dict(),
        "partial": [c.sweep for c in shown.curves if not c.sweep.is_complete],
        "held": [sweep for entry in shown.legend for sweep in entry.lineage.held],
        "has_disaggregated": has_disaggregated,
        **ranking(shown),
    }
