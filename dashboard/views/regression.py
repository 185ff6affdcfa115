"""The page of one regression: numbers, charts, suspects, siblings, triage."""

import csv
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from dashboard.forms.regressions import TriageForm
from dashboard.permissions import may_correct, triagers
from dashboard.queries.regression_page import RegressionReport, regression_report
from dashboard.views import regression_charts as charts
from dashboard.views.run_points import cells
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
    request: HttpRequest,  # noqa: ARG001  # a view's signature
    pk: int,
) -> HttpResponse:
    """Return the table of the comparison behind a regression as CSV."""
    report = regression_report(pk)
    if report is None:
        raise Http404(f"There is no regression {pk}.")
    answer = HttpResponse(content_type="text/csv; charset=utf-8")
    answer["Content-Disposition"] = f'attachment; filename="regression-{pk}.csv"'
    writer = csv.writer(answer)
    writer.writerow(COLUMNS)
    for point in report.verdict.get("points") or ():
        writer.writerow(cells(point.get(name) for name in COLUMNS))
    return answer


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
