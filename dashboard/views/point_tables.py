"""The rows of a chart as a table, units in the headers; point_files.py makes files."""

import math
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any, Literal, NamedTuple

import pandas as pd
from django.http import QueryDict
from django.urls import reverse

from dashboard.analysis.curves import Curve, SweepFacts, by_sweep
from dashboard.analysis.lineage import Opening
from dashboard.charts.frontier import overlay_key
from dashboard.vocabulary.acceptance import UNKNOWN
from dashboard.vocabulary.metrics import DERIVED, METRICS, Metric

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
OFFICIAL = "official"
_MOMENT = "datetime64[us, UTC]"


class PointRow(NamedTuple):
    """One row of the table: what the point is, and its metrics in column order.

    ``key`` is the line of the chart that the point is on; ``publication`` says whether
    it is official, empty where all are, ``is_asked`` whether a run of the link has it.
    """

    point: Mapping[Any, Any]
    run_path: str
    cells: list[float | None]
    key: str
    publication: str = ""
    is_asked: bool = False


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
    dates = {pk: sweep.official_at for pk, sweep in by_sweep(curves).items()}
    official = [dates[sweep_id] for sweep_id in points["sweep_id"].tolist()]
    placed = _with_acceptance(points, curves).assign(
        place=[order[key] for key in points["config_key"].tolist()],
        official_at=pd.Series(official, index=points.index, dtype=_MOMENT),
    )
    return placed.sort_values(["place", x, "point_id"], kind="stable")


def _with_acceptance(points: pd.DataFrame, curves: Sequence[Curve]) -> pd.DataFrame:
    """Return the rows with source, length and label of those that speculate."""
    sweeps = by_sweep(curves)
    places = list(
        zip(points["sweep_id"].tolist(), points["deployment"].tolist(), strict=True)
    )
    told = {place: _acceptance(sweeps[place[0]], place[1]) for place in set(places)}
    rows = [told[place] for place in places]
    lengths = [length for _, length, _ in rows]
    return points.assign(
        acceptance=[source for source, _, _ in rows],
        acceptance_length=pd.Series(lengths, index=points.index, dtype=float),
        acceptance_label=[label for _, _, label in rows],
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
    keys = points["config_key"].tolist()
    began = [openings[key].at if key in openings else None for key in keys]

    def words(told: Callable[[Opening], str]) -> pd.Series:
        by_key = {key: told(opening) for key, opening in openings.items()}
        return pd.Series([by_key.get(key) for key in keys], points.index, dtype=object)

    return points.assign(
        swapped_from=words(lambda opening: opening.swapped_from),
        segment_began_at=pd.Series(began, index=points.index, dtype=_MOMENT),
        opening=words(lambda opening: opening.sentence),
        opening_badge=words(lambda opening: opening.badge),
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


def asked_first(
    points: pd.DataFrame, measured: AbstractSet[tuple[int, int | None]]
) -> pd.DataFrame:
    """Return official rows with ``is_asked``; those of the link's runs come first.

    ``measured`` holds these runs, each with its attempt, None for all attempts.
    """
    runs, attempts = points["run_id"].tolist(), points["attempt"].tolist()
    found = [
        not measured.isdisjoint({(run, None), (run, attempt)})
        for run, attempt in zip(runs, attempts, strict=True)
    ]
    told = points.assign(is_asked=pd.Series(found, index=points.index, dtype=bool))
    return told.sort_values("is_asked", ascending=False, kind="stable")


def first_rows(blocks: Sequence[Block], most: int) -> list[Block]:
    """Return the blocks cut to so many rows together."""
    cut = []
    for block in blocks:
        cut.append(block._replace(points=block.points.head(most)))
        most -= len(cut[-1].points)
    return cut


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
            point.get("is_asked", False),
        )
        for block in blocks
        for point in _records(block.points, names)
    ]


# What a row writes of its point beside metrics; frames of other pages, and those of
# runs that are in no history, lack some.
_WRITTEN = (
    *("point_id", "config_key", "deployment", "concurrency", "gpus", "standing"),
    *("flags", "eval", "checkpoint", "run_id", "acceptance_label"),
    *("opening", "opening_badge", "segment_began_at", "is_asked"),
)


def _records(points: pd.DataFrame, metrics: Sequence[str]) -> list[dict[str, Any]]:
    names = [name for name in (*_WRITTEN, *metrics) if name in points.columns]
    columns = [points[name].tolist() for name in names]
    return [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]


def _measured(value: float) -> float | None:
    return value if math.isfinite(value) else None
