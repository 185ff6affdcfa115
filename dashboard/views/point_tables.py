"""The rows of a chart as a table and as CSV: the same rows, units in the headers."""

import csv
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import pandas as pd
from django.http import HttpResponse
from django.urls import reverse

from dashboard.analysis.curves import Curve
from dashboard.vocabulary.metrics import DERIVED, METRICS, Metric

SHOWN = (
    "tput_per_gpu",
    "output_tput_per_gpu",
    "input_tput_per_gpu",
    "output_tput_per_cluster_gpu",
    "median_intvty",
    "median_ttft",
    "median_tpot",
    "median_e2el",
)
EXPORTED = (
    *SHOWN,
    "p90_intvty",
    "p90_ttft",
    "p90_e2el",
)
PROVENANCE = (
    "config_key",
    "scenario",
    "deployment",
    "concurrency",
    "gpus",
    "prefill_gpus",
    "decode_gpus",
    "standing",
)
SOURCES = ("run_id", "run_url", "attempt", "measured_at", "checkpoint", "image")
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


class PointRow(NamedTuple):
    """One row of the table: what the point is, and its metrics in column order."""

    point: Mapping[Any, Any]
    run_path: str
    cells: list[float | None]


def table_metrics(x: str, y: str, *, has_disaggregated: bool) -> list[Metric]:
    """Return the metrics shown as columns: those of the axes first.

    Output over all GPUs differs from the stored output only on disaggregated points.
    """
    shown = [name for name in SHOWN if has_disaggregated or name not in DERIVED]
    return [METRICS[name] for name in dict.fromkeys((x, y, *shown))]


def in_table_order(
    points: pd.DataFrame, curves: Sequence[Curve], x: str
) -> pd.DataFrame:
    """Return the rows curve by curve as the legend lists them, then by ``x``."""
    order = {curve.config_key: place for place, curve in enumerate(curves)}
    placed = points.assign(place=points["config_key"].map(order))
    return placed.sort_values(["place", x, "point_id"], kind="stable")


def table_rows(points: pd.DataFrame, metrics: Sequence[Metric]) -> list[PointRow]:
    """Return the rows of a table; a value that was not measured is None."""
    names = [metric.name for metric in metrics]
    paths = {run_id: reverse("run", args=[run_id]) for run_id in set(points["run_id"])}
    return [
        PointRow(
            point, paths[point["run_id"]], [_measured(point[name]) for name in names]
        )
        for point in points.to_dict("records")
    ]


def csv_answer(points: pd.DataFrame, x: str, y: str, filename: str) -> HttpResponse:
    """Return the rows as a CSV download. A value that was not measured is blank."""
    metrics = [METRICS[name] for name in dict.fromkeys((x, y, *EXPORTED))]
    answer = HttpResponse(content_type="text/csv; charset=utf-8")
    answer["Content-Disposition"] = f'attachment; filename="{filename}"'
    writer = csv.writer(answer)
    writer.writerow([*PROVENANCE, *(m.column for m in metrics), "flags", *SOURCES])
    writer.writerows(_csv_rows(points, metrics))
    return answer


def _csv_rows(
    points: pd.DataFrame, metrics: Sequence[Metric]
) -> Iterator[list[object]]:
    for point in points.to_dict("records"):
        values = [_measured(point[metric.name]) for metric in metrics]
        flags = "; ".join(text for _, text in point["flags"])
        yield [
            *(_safe(point[name]) for name in PROVENANCE),
            *("" if value is None else value for value in values),
            _safe(flags),
            *(_safe(point[name]) for name in SOURCES),
        ]


def _measured(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _safe(value: object) -> object:
    """Blank what is missing; keep a spreadsheet from running text as a formula."""
    if isinstance(value, pd.Timestamp):
        return value.isoformat()
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(value, str) and value.startswith(FORMULA_STARTS):
        return f"'{value}"
    return value
