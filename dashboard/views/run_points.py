"""All points of a run as a CSV download: units in the headers, blanks where missing."""

import csv
from collections.abc import Iterable

from django.http import HttpResponse

from dashboard.models import Run
from dashboard.queries import run_points as queries
from dashboard.views.point_tables import FORMULA_STARTS


def points_csv(run: Run) -> HttpResponse:
    """Return every stored point of a run, those that were replaced too."""
    points = queries.run_points(run)
    metrics = queries.measured_metrics(points)
    answer = HttpResponse(content_type="text/csv; charset=utf-8")
    filename = f"run-{run.github_run_id}-points.csv"
    answer["Content-Disposition"] = f'attachment; filename="{filename}"'
    writer = csv.writer(answer)
    columns = [metric.column for metric in metrics]
    writer.writerow([*queries.PLACE, *columns, *queries.REPLAYED, *queries.SOURCE])
    writer.writerows(map(cells, queries.point_rows(run, points, metrics)))
    return answer


def cells(row: Iterable[object]) -> list[object]:
    """Blank what is missing; keep a spreadsheet from running text as a formula."""
    return [_safe(value) for value in row]


def _safe(value: object) -> object:
    if value is None:
        return ""
    if isinstance(value, str) and value.startswith(FORMULA_STARTS):
        return f"'{value}"
    return value
