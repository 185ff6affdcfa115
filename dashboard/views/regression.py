"""The page of one regression: numbers, charts, suspects, siblings, triage."""

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from dashboard.forms.regressions import TriageForm
from dashboard.permissions import may_correct, triagers
from dashboard.queries.regression_page import RegressionReport, regression_report
from dashboard.views import regression_charts as charts
from dashboard.views.tables import Ending, Table, table_answer
from dashboard.vocabulary.metrics import METRICS

COLUMNS = (
    *("deployment", "concurrency", "metric", "base", "head", "change", "z"),
    *("flagged", "needs_look"),
)


@require_safe
def regression(request: HttpRequest, pk: int) -> HttpResponse:
    report = regression_report(pk)
    if report is None:
        raise Http404(f"There is no regression {pk}.")
    x, y = (METRICS[name] for name in report.axes)
    can_triage = may_correct(request.user)
    context = {
        "report": report,
        "regression": report.regression,
        "x": x,
        "y": y,
        "triage_form": TriageForm(triagers()) if can_triage else None,
        **_comparison(request, report),
        **_history(request, report),
    }
    return render(request, "regression.html", context)


@require_safe
def regression_points(
    request: HttpRequest, pk: int, ending: Ending
) -> HttpResponseBase:
    """Return the table of the comparison behind a regression."""
    report = regression_report(pk)
    if report is None:
        raise Http404(f"There is no regression {pk}.")
    found = report.regression
    baseline = found.baseline.run.github_run_id if found.baseline else None
    place = (found.config_key.key, found.scenario, found.run.github_run_id, baseline)
    rows = [
        (*(point.get(name) for name in COLUMNS), *place)
        for point in report.verdict.get("points") or ()
    ]
    columns = (*COLUMNS, "config_key", "scenario", "run_id", "baseline_run_id")
    about = {"regression": pk, "summary": found.summary}
    table = Table(f"regression-{pk}", columns, rows, about, brief=COLUMNS)
    return table_answer(request, table.of(reverse("regression", args=[pk])), ending)


def _comparison(request: HttpRequest, report: RegressionReport) -> dict[str, Any]:
    figure = charts.before_and_after(report)
    if isinstance(figure, str):
        return {"comparison_reason": figure}
    return {"comparison": figure, "comparison_alone": charts.alone(request, report)}


def _history(request: HttpRequest, report: RegressionReport) -> dict[str, Any]:
    found = charts.history_of(report)
    if found is None or isinstance(figure := found.shown.history_chart, str):
        return {"history_reason": "This key has no history at that place."}
    alone = charts.history_alone(request, report, found.shown, figure)
    return {
        "shown": found.shown,
        "history": figure,
        "history_query": found.query,
        "history_alone": alone,
    }
