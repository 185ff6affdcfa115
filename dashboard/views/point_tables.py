"""The rows of a chart as a table and as CSV: the same rows, units in the headers."""

import csv
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple

import pandas as pd
from django.http import HttpResponse, QueryDict
from django.urls import reverse

from dashboard.analysis.curves import Curve, SweepFacts, by_sweep
from dashboard.analysis.lineage import Opening
from dashboard.charts.frontier import overlay_key
from dashboard.vocabulary.acceptance import UNKNOWN
from dashboard.vocabulary.metrics import DERIVED, METRICS, Metric
from dashboard.vocabulary.texts import one_line

AriaSort = Literal["", "ascending", "descending"]

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
SOURCES = (
    *("run_id", "run_url", "attempt", "measured_at", "checkpoint", "image"),
    *("acceptance", "acceptance_length"),
)
# With what the segment of a point's line began; blank where no break is known.
SEGMENT = ("swapped_from", "segment_began_at")
OFFICIAL = "official"
LONGEST_CELL = 4000
FORMULA_STARTS = (*"=+-@\t\r\n", *"\uff1d\uff0b\uff0d\uff20")  # and full-width


class PointRow(NamedTuple):
    """One row of the table: what the point is, and its metrics in column order.

    ``key`` is the line of the chart that the point is on; ``publication`` says whether
    it is official, empty where all are.
    """

    point: Mapping[Any, Any]
    run_path: str
    cells: list[float | None]
    key: str
    publication: str = ""


class Block(NamedTuple):
    """Rows of one frame: those of the official lines, or of one run over them."""

    points: pd.DataFrame
    publication: str = OFFICIAL
    run_id: int | None = None

    def key(self, config_key: str) -> str:
        """Return the line of the chart that a point of this key is on."""
        if self.run_id is None:
            return config_key
        return overlay_key(config_key, self.run_id)


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
    placed = _with_acceptance(points, curves)
    placed = placed.assign(place=points["config_key"].map(order))
    return placed.sort_values(["place", x, "point_id"], kind="stable")


def _with_acceptance(points: pd.DataFrame, curves: Sequence[Curve]) -> pd.DataFrame:
    """Return the rows with source, length and label of those that speculate."""
    sweeps = by_sweep(curves)
    told = [
        _acceptance(sweeps[sweep_id], deployment)
        for sweep_id, deployment in zip(
            points["sweep_id"], points["deployment"], strict=True
        )
    ]
    columns = ["acceptance", "acceptance_length", "acceptance_label"]
    return points.assign(
        **pd.DataFrame(told, columns=columns, index=points.index).astype(
            {"acceptance_length": float}
        )
    )


def _acceptance(sweep: SweepFacts, deployment: str) -> tuple[str, float | None, str]:
    if not sweep.speculates(deployment):
        return "", None, ""
    is_doubtful = sweep.is_synthetic or sweep.acceptance_source == UNKNOWN
    label = sweep.acceptance_label if is_doubtful else ""
    return sweep.acceptance_source, sweep.acceptance_length, label


def with_openings(
    points: pd.DataFrame, openings: Mapping[str, Opening]
) -> pd.DataFrame:
    """Return the rows with the break, by config key, that began their segment."""
    keys = points["config_key"]
    began = {key: opening.at for key, opening in openings.items()}
    return points.assign(
        swapped_from=keys.map({k: o.swapped_from for k, o in openings.items()}),
        segment_began_at=pd.to_datetime(keys.map(began), utc=True),
        opening=keys.map({k: o.sentence for k, o in openings.items()}),
        opening_badge=keys.map({k: o.badge for k, o in openings.items()}),
    )


class Column(NamedTuple):
    """One column: its header, and the query that sorts by it.

    ``order`` is the value of aria-sort, empty where the table is sorted by another.
    ``help_anchor`` is where the help page explains it, empty where it does not.
    """

    label: str
    unit: str
    query: str
    order: AriaSort
    is_number: bool
    help_anchor: str = ""
    formula: str = ""
    name: str = ""


# Columns beside the metrics, as (name, label, unit, word of the help page).
_BEFORE = (
    ("config_key", "Config key", "", "word-config-key"),
    ("deployment", "Deployment", "", "word-deployment"),
    ("concurrency", "Concurrency", "requests", "word-concurrency"),
    ("gpus", "GPUs", "", ""),
)
_AFTER = (
    ("standing", "Standing", "", "word-frontier"),
    ("eval", "Eval", "", "word-floor"),
    ("checkpoint", "Checkpoint", "", "word-checkpoint"),
    ("segment_began_at", "Segment began", "", "word-segment"),
    ("run_id", "Run", "", "word-run"),
)
# Official rows and those of a run are never sorted among each other.
PUBLICATION = Column("Publication", "", "", "", is_number=False)
_NUMBERS = frozenset({"concurrency", "gpus", *METRICS})


def table_columns(
    metrics: Sequence[Metric], sort: str, query: QueryDict, *, has_overlays: bool
) -> list[Column]:
    """Return the header of the table; each links to the table sorted by it."""
    measured = [(m.name, m.label, m.unit, f"metric-{m.name}") for m in metrics]
    first, *rest = (
        _column(words, sort, query.copy()) for words in (*_BEFORE, *measured, *_AFTER)
    )
    return [first, *([PUBLICATION] if has_overlays else []), *rest]


def _column(words: tuple[str, str, str, str], sort: str, query: QueryDict) -> Column:
    name, label, unit, anchor = words
    order, query["sort"] = _next_sort(name, sort)
    formula = METRICS[name].formula if name in METRICS else ""
    is_number = name in _NUMBERS
    address = query.urlencode()
    return Column(label, unit, address, order, is_number, anchor, formula, name)


def _next_sort(name: str, sort: str) -> tuple[AriaSort, str]:
    if sort == name:
        return "ascending", f"-{name}"
    return ("descending" if sort == f"-{name}" else "", name)


def sorted_rows(points: pd.DataFrame, sort: str) -> pd.DataFrame:
    """Return the rows by one column, ``-name`` from the top down; blanks last."""
    name = sort.removeprefix("-")
    if name not in points.columns:
        return points
    return points.sort_values(
        name, ascending=sort == name, kind="stable", na_position="last"
    )


def table_rows(blocks: Sequence[Block], metrics: Sequence[Metric]) -> list[PointRow]:
    """Return the rows of a table; a value that was not measured is None."""
    names = [metric.name for metric in metrics]
    run_ids = {run_id for block in blocks for run_id in block.points["run_id"]}
    paths = {run_id: reverse("run", args=[run_id]) for run_id in run_ids}
    is_told = len(blocks) > 1
    return [
        PointRow(
            point,
            paths[point["run_id"]],
            [_measured(point[name]) for name in names],
            block.key(point["config_key"]),
            block.publication if is_told else "",
        )
        for block in blocks
        for point in block.points.to_dict("records")
    ]


def csv_answer(blocks: Sequence[Block], x: str, y: str, filename: str) -> HttpResponse:
    """Return the rows as a CSV download. A value that was not measured is blank."""
    metrics = [METRICS[name] for name in dict.fromkeys((x, y, *EXPORTED))]
    answer = HttpResponse(content_type="text/csv; charset=utf-8")
    answer["Content-Disposition"] = f'attachment; filename="{filename}"'
    writer = csv.writer(answer)
    ends = ("flags", "eval", "publication", *SOURCES, *SEGMENT)
    writer.writerow([*PROVENANCE, *(m.column for m in metrics), *ends])
    for block in blocks:
        writer.writerows(_csv_rows(block, metrics))
    return answer


def _csv_rows(block: Block, metrics: Sequence[Metric]) -> Iterator[list[object]]:
    for point in block.points.to_dict("records"):
        values = [_measured(point[metric.name]) for metric in metrics]
        flags = "; ".join(text for _, text in point["flags"])
        yield [
            *(_safe(point[name]) for name in PROVENANCE),
            *("" if value is None else value for value in values),
            _safe(flags),
            point["eval"],
            block.publication,
            *(_safe(point[name]) for name in SOURCES),
            # Those of an unofficial run are in no history.
            *(_safe(point.get(name)) for name in SEGMENT),
        ]


def _measured(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _safe(value: object) -> object:
    """Blank what is missing; keep a spreadsheet from running text as a formula."""
    if isinstance(value, pd.Timestamp):
        return value.isoformat()
    if value is None or value is pd.NaT:
        return ""
    if isinstance(value, float) and math.isnan(value):
        return ""
    if isinstance(value, str):
        text = one_line(value, LONGEST_CELL)
        return f"'{text}" if text.startswith(FORMULA_STARTS) else text
    return value
