"""The inference page: one frontier per config key, its rows, and the same as files."""

import re
from collections.abc import Iterator, Sequence
from typing import Any

import orjson
from django.http import HttpRequest, HttpResponse, QueryDict
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.utils.cache import add_never_cache_headers, patch_vary_headers
from django.utils.safestring import SafeString
from django.views.decorators.http import condition, require_safe
from django_htmx.middleware import HtmxDetails

from dashboard.analysis.curves import SweepFacts
from dashboard.analysis.eval_gate import RULE
from dashboard.caching import data_etag
from dashboard.charts.exports import export_layout, html_document, titled
from dashboard.charts.frontier import Figure
from dashboard.charts.still import still
from dashboard.forms.inference import InferenceForm
from dashboard.forms.options import (
    axis_options,
    check_groups,
    filter_options,
    offload_options,
)
from dashboard.forms.selection import ALL_ROWS
from dashboard.forms.unofficial import rewritten
from dashboard.queries import inference as queries
from dashboard.queries.notices import Subject, notes_about
from dashboard.views.asked_runs import (
    asked_states,
    next_look,
    waiting_for,
)
from dashboard.views.inference_parts import (
    Shown,
    noted,
    nothing,
    ranking,
    shown_of,
    words,
)
from dashboard.views.model_change import forget_former_model
from dashboard.views.permalinks import AS_OF, Permalink, as_of_today, permalink
from dashboard.views.point_files import points_table
from dashboard.views.point_tables import (
    Block,
    asked_first,
    first_rows,
    sorted_rows,
    table_columns,
    table_metrics,
    table_rows,
)
from dashboard.views.tables import Ending, table_answer
from dashboard.vocabulary.metrics import METRICS
from dashboard.vocabulary.prices import custom_text
from dashboard.vocabulary.scenarios import scenario_label

# A longer table takes longer than its chart; the rest is one link away.
MOST_ROWS = 200

# A script asks for the part that changes; anything else gets the page.
PARTS = {
    "view": "_inference_view.html",
    "asked": "_asked_runs.html",
    "ranking": "_inference_ranking.html",
    "points": "_inference_table.html",
}


class HtmxRequest(HttpRequest):
    """A request that the middleware has told who asks."""

    htmx: HtmxDetails


@require_safe
def inference(request: HtmxRequest) -> HttpResponse:
    is_new_model = request.headers.get("X-Changed") == "model"
    dropped = forget_former_model(request) if is_new_model else []
    form = _form(request)
    if form.is_valid():
        answer = _answer(request, form, dropped)
    else:
        context = {"form": form, "is_part": bool(_part(request))}
        context["remaining"] = _without(request.GET, form.refused)
        answer = render(request, "inference_refused.html", context, status=400)
    if is_new_model:
        answer["HX-Push-Url"] = request.get_full_path()
    patch_vary_headers(answer, ["HX-Request", "HX-Target", "X-Changed"])
    return answer


def _answer(
    request: HtmxRequest, form: InferenceForm, dropped: Sequence[str]
) -> HttpResponse:
    """Return the page or its part; what is being fetched turns into the whole view."""
    states = asked_states(request, form.unofficial.runs, may_ask=True)
    part = _part(request)
    is_news = request.headers.get("X-Waiting", "") != waiting_for(states)
    if part == "asked" and is_news:
        part = "view"
    shown = shown_of(form, states)
    if part == "asked":
        # Asked for every moment by everybody who waits: no chart, no table.
        context = {"chosen": shown.chosen, **_asked(request, form, shown)}
    else:
        context = {**_page(request, form, shown), "dropped": dropped}
    answer = render(request, PARTS[part] if part else "inference.html", context)
    if part == "view" and _part(request) == "asked":
        answer["HX-Retarget"], answer["HX-Reswap"] = "#view", "innerHTML"
    if states:
        add_never_cache_headers(answer)
    return answer


@require_safe
@condition(etag_func=lambda request, **_asked: data_etag(request))
def inference_points(request: HttpRequest, ending: Ending) -> HttpResponseBase:
    """Return the rows of the table as a file."""
    form = _form(request)
    if not form.is_valid():
        return _refused(form)
    shown = _shown(request, form)
    chosen = shown.chosen
    about = {"title": shown.title, "as_of": chosen.moment, "scenario": chosen.scenario}
    table = points_table(_blocks(shown), chosen.x, chosen.y, _filename(shown), about)
    return table_answer(request, table.of(reverse("inference")), ending)


@require_safe
def inference_json(request: HttpRequest) -> HttpResponse:
    form = _form(request)
    if not form.is_valid():
        return _refused(form)
    figure = _alone(request, _shown(request, form))
    if isinstance(figure, str):
        return HttpResponse(figure, status=404, content_type="text/plain")
    return HttpResponse(orjson.dumps(figure), content_type="application/json")


@require_safe
def inference_html(request: HttpRequest) -> HttpResponse:
    form = _form(request)
    if not form.is_valid():
        return _refused(form)
    shown = _shown(request, form)
    figure = _alone(request, shown)
    if isinstance(figure, str):
        return HttpResponse(figure, status=404, content_type="text/plain")
    answer = HttpResponse(html_document(figure, shown.title))
    filename = f"{_filename(shown)}.html"
    answer["Content-Disposition"] = f'attachment; filename="{filename}"'
    return answer


def _shown(request: HttpRequest, form: InferenceForm) -> Shown:
    """Return what a file shows; asking for a file fetches no run."""
    states = asked_states(request, form.unofficial.runs, may_ask=False)
    return shown_of(form, states)


def _blocks(shown: Shown) -> list[Block]:
    """Return the rows of the table: those of the runs asked for, then official ones."""
    sort = shown.chosen.sort
    above = [
        Block(
            sorted_rows(o.rows, sort).assign(is_asked=True),
            o.publication,
            o.state.asked.run_id,
        )
        for o in shown.overlays
        if o.curves
    ]
    official = sorted_rows(shown.rows, sort)
    return [*above, Block(asked_first(official, shown.asked_runs))]


def _form(request: HttpRequest) -> InferenceForm:
    return InferenceForm(request.GET, queries)


def _part(request: HtmxRequest) -> str:
    """Return the part that is asked for; empty where it is the whole page."""
    if not request.htmx:
        return ""
    if request.htmx.history_restore_request:
        return "view"  # what Back asks for names no target
    target = request.htmx.target or ""
    return target if target in PARTS else ""


def _refused(form: InferenceForm) -> HttpResponse:
    reasons = "\n".join(form.sentences)
    return HttpResponse(reasons, status=400, content_type="text/plain; charset=utf-8")


def _without(query: QueryDict, names: set[str]) -> str:
    kept = query.copy()
    for name in names:
        kept.pop(name, None)
    return kept.urlencode()


def _with(query: QueryDict, **values: str) -> str:
    changed = query.copy()
    for name, value in values.items():
        changed[name] = value
    return changed.urlencode()


def _filename(shown: Shown) -> str:
    chosen = shown.chosen
    above = [f"run-{o.state.asked.run_id}" for o in shown.overlays if o.curves]
    parts = ("frontiers", chosen.model, chosen.scenario, *above)
    name = "-".join(filter(None, parts))
    return re.sub(r"[^a-zA-Z0-9.-]", "_", name)


def _alone(request: HttpRequest, shown: Shown) -> Figure | str:
    """Return the figure as it stands away from its page, or why there is none."""
    if shown.is_empty or isinstance(shown.figure, str):
        reason = "" if shown.is_empty else shown.figure
        return str(reason or "Nothing passes these filters.")
    visible = [
        trace
        for trace in shown.figure["data"]
        if trace["meta"]["key"] not in shown.chosen.hidden
    ]
    layout = export_layout(
        words(request, shown), len(shown.all_curves), shown.chosen.at
    )
    return titled({**shown.figure, "data": visible}, layout)


def _page(request: HtmxRequest, form: InferenceForm, shown: Shown) -> dict[str, Any]:
    chosen = shown.chosen
    context = {
        "chosen": chosen,
        "scenario_label": scenario_label(chosen.scenario),
        "gate_rule": RULE,
        "without_gate": _without(request.GET, {"gate"}),
        "x": METRICS[chosen.x],
        "y": METRICS[chosen.y],
        "query": request.GET.urlencode(),
        "ignored": form.ignored,
        "is_part": bool(_part(request)),
        "notes": notes_about(_subjects(shown), shown.now),
        **_asked(request, form, shown),
    }
    if shown.is_empty:
        return context | _filters(shown, form.known, set()) | nothing(form)
    present = queries.measured_metrics(shown.all_curves)
    context |= _filters(shown, form.known, present) | _drawing(request, shown)
    if not shown.curves:
        context["unofficial_only"] = nothing(form).get("reason", "")
    return context


def _permalink(request: HttpRequest, shown: Shown) -> Permalink:
    """Return a link as of the newest official run that is drawn.

    Prices follow the day: where they count, today is pinned with them.
    """
    sweeps = [sweep for curve in shown.curves for sweep in curve.sweeps]
    newest = max(sweeps, key=lambda sweep: sweep.official_at, default=None)
    chosen = shown.chosen.moment
    if chosen is not None or newest is None:
        return permalink(request, {}, AS_OF.format("the day or run that was asked for"))
    if shown.chosen.is_priced:
        return as_of_today(request, shown.now.date())
    pins = {"asof_run": newest.run_id, "date": ""}
    return permalink(request, pins, AS_OF.format(f"run {newest.run_id}"))


def _subjects(shown: Shown) -> Iterator[Subject]:
    for curve in shown.all_curves:
        for sweep in curve.sweeps:
            yield Subject(sweep.config_key, sweep.framework, sweep.model, sweep.run_id)


def _asked(request: HtmxRequest, form: InferenceForm, shown: Shown) -> dict[str, Any]:
    """Return what the page says of the runs that its link asks for."""
    if not form.unofficial.runs and not form.unofficial.refused:
        return {}
    narrowed = request.GET.copy()
    narrowed["precision"] = "all"
    is_narrowed = not form.names_precision and bool(shown.chosen.filters.precision)
    return {
        "overlays": shown.overlays,
        "path": reverse("inference"),
        "here": request.get_full_path(),
        "page_name": "inference",
        "refused_runs": form.unofficial.refused,
        "asked_tokens": ",".join(run.token for run in form.unofficial.runs),
        "without_all": rewritten(request.GET, ()),
        "waiting": waiting_for(shown.asked),
        "next_look": next_look(shown.asked),
        "all_precisions": narrowed.urlencode() if is_narrowed else "",
        "is_every_precision": form.names_precision
        and not shown.chosen.filters.precision,
    }


def _filters(
    shown: Shown, offered: Sequence[SweepFacts], present: set[str]
) -> dict[str, Any]:
    chosen = shown.chosen
    return {
        "options": filter_options(chosen, offered),
        "groups": check_groups(chosen, offered),
        "told": list(chosen.told()),
        "offloads": offload_options(chosen),
        "given": {
            "price": custom_text(chosen.custom.price),
            "kw": custom_text(chosen.custom.kw),
        },
        "axes": {
            "x": axis_options(chosen.x, present),
            "y": axis_options(chosen.y, present),
        },
    }


def _drawing(request: HtmxRequest, shown: Shown) -> dict[str, Any]:
    chosen, figure = shown.chosen, shown.figure
    is_drawn = not isinstance(figure, str)
    blocks = _blocks(shown)
    has_disaggregated = any(bool(b.points["disagg"].any()) for b in blocks)
    metrics = table_metrics(chosen.x, chosen.y, has_disaggregated=has_disaggregated)
    layout = export_layout(words(request, shown), len(shown.all_curves), None)
    listed = blocks if chosen.all_rows else first_rows(blocks, MOST_ROWS)
    ghosts = [] if shown.former is None else shown.former[1]
    return {
        "figure": figure if is_drawn else None,
        "still": ""
        if isinstance(figure, str)
        else SafeString(still(figure, chosen.hidden, has_markers=not _part(request))),
        "alone": layout,
        "filename": _filename(shown),
        "reason": None if is_drawn else figure,
        "legend": shown.legend,
        "columns": table_columns(
            metrics, chosen.sort, request.GET, has_overlays=len(blocks) > 1
        ),
        "rows": table_rows(listed, metrics),
        "points_count": sum(len(block.points) for block in blocks),
        "asked_count": sum(int(block.points["is_asked"].sum()) for block in blocks),
        "with_all_rows": _with(request.GET, rows=ALL_ROWS),
        "official_rows": len(shown.rows),
        "standings": shown.points["standing"].value_counts().to_dict(),
        "noted": noted(shown),
        "is_priced": chosen.is_priced,
        "partial": [c.sweep for c in shown.curves if not c.sweep.is_complete],
        "held": [sweep for entry in shown.legend for sweep in entry.lineage.held],
        "has_disaggregated": has_disaggregated,
        "has_overlaid": any(overlay.curves for overlay in shown.overlays),
        "ghosts": ghosts,
        "without_ghosts": _with(request.GET, ghost="0"),
        "with_ghosts": _without(request.GET, {"ghost"}),
        "swaps": shown.swaps,
        "permalink": _permalink(request, shown),
        **ranking(shown),
    }
