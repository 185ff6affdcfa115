"""The calculator: what each config key gives at a target, as bars, table and files."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_safe

from dashboard.forms.calculator import CalculatorForm
from dashboard.forms.options import axis_options, check_groups, filter_options
from dashboard.queries import inference as queries
from dashboard.views.calculator_parts import (
    BRIEF,
    BRIEF_SOURCES,
    COLUMNS,
    Calculated,
    charts,
)
from dashboard.views.permalinks import AS_OF, Permalink, as_of_today, permalink
from dashboard.views.tables import Ending, Table, refused, table_answer
from dashboard.vocabulary.metrics import METRICS
from dashboard.vocabulary.prices import custom_text
from dashboard.vocabulary.scenarios import scenario_label


@require_safe
def calculator(request: HttpRequest) -> HttpResponse:
    form = CalculatorForm(request.GET, queries)
    if not form.is_valid():
        context = {"sentences": form.sentences}
        return render(request, "calculator_refused.html", context, status=400)
    shown = Calculated(form, timezone.now())
    return render(request, "calculator.html", _context(request, shown))


@require_safe
def calculator_file(request: HttpRequest, ending: Ending) -> HttpResponseBase:
    form = CalculatorForm(request.GET, queries)
    if not form.is_valid():
        return refused(form.sentences)
    shown = Calculated(form, timezone.now())
    about = {
        "title": shown.title,
        "as_of": shown.chosen.moment or shown.now.date(),
        "notes": [
            f"{metric.label}: {'; '.join(sentences)}"
            for metric in shown.metrics
            if (sentences := shown.notes(metric).sentences)
        ],
    }
    name = f"calculator-{shown.chosen.model}-{shown.chosen.scenario}"
    table = Table(name, COLUMNS, list(shown.table()), about, "", BRIEF + BRIEF_SOURCES)
    return table_answer(request, table, ending)


def _permalink(request: HttpRequest, shown: Calculated) -> Permalink:
    if shown.chosen.moment is None:
        return as_of_today(request, shown.now.date())
    return permalink(request, {}, AS_OF.format("the day or run that was asked for"))


def _context(request: HttpRequest, shown: Calculated) -> dict[str, Any]:
    form, chosen = shown.form, shown.chosen
    return {
        "form": form,
        "shown": shown,
        "chosen": chosen,
        "x": METRICS[chosen.x],
        "scenario_label": scenario_label(chosen.scenario),
        "permalink": _permalink(request, shown),
        "charts": charts(request, shown) if shown.rows else [],
        "options": filter_options(chosen, form.offered),
        "groups": check_groups(chosen, form.offered),
        "axes": axis_options(chosen.x, queries.measured_metrics(shown.curves)),
        "choices": form.choices(),
        "is_narrowed": bool(form.names_precision or list(chosen.filters.named()))
        or chosen.gate
        or any(chosen.custom),
        "given": {
            "price": custom_text(chosen.custom.price),
            "kw": custom_text(chosen.custom.kw),
        },
    }
