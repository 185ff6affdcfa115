"""The inference page: one frontier per config key, its rows, and the same as CSV."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import pandas as pd
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import condition, require_safe

from dashboard.analysis.curves import Curve, SweepFacts, curves
from dashboard.analysis.pareto import standings
from dashboard.caching import data_etag
from dashboard.charts.frontier import curve_look, frontier_figure
from dashboard.forms import InferenceForm, Selection, axis_options, filter_options
from dashboard.queries import inference as queries
from dashboard.views.point_tables import (
    csv_answer,
    in_table_order,
    table_metrics,
    table_rows,
)
from dashboard.vocabulary.hardware import hardware_order
from dashboard.vocabulary.metrics import METRICS
from dashboard.vocabulary.scenarios import scenario_label


class Shown(NamedTuple):
    """The curves of a selection and their points, in the order of the page."""

    curves: list[Curve]
    points: pd.DataFrame


@require_safe
def inference(request: HttpRequest) -> HttpResponse:
    form = _form(request)
    if not form.is_valid():
        return render(request, "inference_refused.html", {"form": form}, status=400)
    chosen = form.selection
    context = {
        "chosen": chosen,
        "scenario_label": scenario_label(chosen.scenario),
        "x": METRICS[chosen.x],
        "y": METRICS[chosen.y],
        "options": filter_options(chosen, form.offered),
        "axes": {"x": axis_options(chosen.x), "y": axis_options(chosen.y)},
        "query": request.GET.urlencode(),
        "ignored": form.ignored,
    }
    shown = _shown(form)
    context |= _drawing(shown, chosen) if shown.curves else _nothing(form)
    return render(request, "inference.html", context)


@require_safe
@condition(etag_func=data_etag)
def inference_csv(request: HttpRequest) -> HttpResponse:
    form = _form(request)
    if not form.is_valid():
        reasons = "\n".join(form.sentences)
        return HttpResponse(reasons, status=400, content_type="text/plain")
    chosen = form.selection
    shown = _shown(form)
    name = "-".join(filter(None, ("frontiers", chosen.model, chosen.scenario)))
    filename = "".join(c if c.isalnum() or c in "-." else "_" for c in name)
    return csv_answer(shown.points, chosen.x, chosen.y, f"{filename}.csv")


def _form(request: HttpRequest) -> InferenceForm:
    return InferenceForm(request.GET, queries.current_sweeps(), queries.known_keys)


def _shown(form: InferenceForm) -> Shown:
    chosen = form.selection
    drawn = curves(sweep for sweep in form.offered if chosen.takes(sweep))
    drawn.sort(key=_legend_order)
    points = queries.points(drawn, (chosen.x, chosen.y))
    standing = standings(points, "config_key", chosen.x, chosen.y)
    placed = points.assign(standing=standing)
    return Shown(drawn, in_table_order(placed, drawn, chosen.x))


def _legend_order(curve: Curve) -> tuple[tuple[int, str], str]:
    return hardware_order(curve.sweep.hardware), curve.config_key


def _drawing(shown: Shown, chosen: Selection) -> dict[str, Any]:
    figure = frontier_figure(shown.points, shown.curves, chosen.x, chosen.y)
    is_drawn = not isinstance(figure, str)
    has_disaggregated = bool(shown.points["disagg"].any())
    metrics = table_metrics(chosen.x, chosen.y, has_disaggregated=has_disaggregated)
    return {
        "figure": figure if is_drawn else None,
        "reason": None if is_drawn else figure,
        "legend": [(curve, curve_look(curve)) for curve in shown.curves],
        "metrics": metrics,
        "rows": table_rows(shown.points, metrics),
        "standings": shown.points["standing"].value_counts().to_dict(),
        "partial": [c.sweep for c in shown.curves if not c.sweep.is_complete],
        "held": queries.held_sweeps(shown.curves),
        "has_disaggregated": has_disaggregated,
    }


def _nothing(form: InferenceForm) -> dict[str, Any]:
    """Say why nothing is drawn, and which filter does it."""
    if not queries.runs_stored():
        return {"is_empty": True}
    if not form.offered:
        return {"reason": "No official sweep is stored yet, only unofficial runs."}
    return {"reason": _mismatch(form.selection, form.offered)}


def _mismatch(chosen: Selection, offered: Sequence[SweepFacts]) -> str:
    current = {sweep.config_key for sweep in offered}
    if chosen.keys and current.isdisjoint(chosen.keys):
        return f"No current official sweep of {', '.join(chosen.keys)} is stored."
    here = [sweep for sweep in offered if chosen.offers(sweep)]
    if not here:
        of = f" of {scenario_label(chosen.scenario)}" if chosen.scenario else ""
        return f"{chosen.model} has no current official sweep{of}."
    filters = {"precision": chosen.precisions, "key": chosen.keys}
    asked = "; ".join(f"{n} {', '.join(v)}" for n, v in filters.items() if v)
    return f"None of the {len(here)} current sweeps passes the filter: {asked}."
